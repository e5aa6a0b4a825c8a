import { loopTurns, until } from '@zlink/testing';
import { Board, Gate, watch } from '@zlink/testing/internal';
import {
  ask,
  CHANNEL,
  configureServer,
  endpointOf,
  findingClient,
  publishingServer,
  serversOf,
  type ServerSetup,
} from './arrange.ts';
import { factsOf } from './facts.ts';
import { arrangeCluster, type Cluster } from './cluster.ts';
import { Ask } from './packets.ts';
import type { TestHost } from './test-host.ts';

const rid = 'billing-1';

/** One run of the same server. */
function run(cluster: Cluster, board: Board<'clientServer'>, name: string, setup: ServerSetup = {}): Promise<TestHost> {
  return publishingServer(cluster, board, name, { rid, ...setup });
}

test('[CS-009] [CS-013] a restarted server is the target once it serves; the old run only ends its requests', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'clientServer'>()];
  const gate = new Gate();
  const old = await run(cluster, board, 'old', {
    answer: async (asked) => {
      if (asked === 'long') await gate.opened;
      return 'old';
    },
  });
  const client = await findingClient(cluster, board);
  await client.channel(CHANNEL).whenReady(1);
  const waiting = watch(client.request(CHANNEL, Ask('long')).submit());
  await until(() => old.counters(CHANNEL, 'request').accepted === 1, 'it runs');

  const discovery = board.discovery(cluster.clock);
  const fresh = await configureServer(cluster, 'fresh', { rid, host: { discovery } }).open();
  await fresh.announce(); // its descriptor takes the place of the old one
  await cluster.clock.advanceAsync(1_000);
  expect(board.facts(rid).endpoint).toBe(endpointOf(fresh));
  expect(await ask(client, 2)).toEqual(['old', 'old']); // verified and ready first
  expect(serversOf(client)).toMatchObject([
    { endpoint: endpointOf(old), state: 'ready', reason: 'another generation follows' },
    { endpoint: endpointOf(fresh), state: 'rejected', reason: expect.stringContaining('does not serve') as string },
  ]);

  fresh.serve();
  await cluster.clock.advanceAsync(6_000);
  expect(await ask(client, 2)).toEqual(['fresh', 'fresh']);
  expect(waiting.state).toBe('pending');
  expect(old.counters(CHANNEL, 'request').accepted).toBe(3);
  gate.open();
  await loopTurns(12);
  expect(waiting).toEqual({ state: 'resolved', value: 'old' });
  await cluster.clock.advanceAsync(10_000);
  expect(serversOf(client)).toMatchObject([{ endpoint: endpointOf(fresh), routingId: rid, state: 'ready' }]);
  expect(cluster.network.openConnections).toBe(1);
});

test('[CS-009] a restart at the same address is found as another generation, and the old one is never dialled there', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'clientServer'>()];
  const port = 7_600;
  const old = await run(cluster, board, 'old', { port });
  const client = await findingClient(cluster, board);
  await client.channel(CHANNEL).whenReady(1);
  const former = board.facts(rid);
  await old.kill();
  await run(cluster, board, 'fresh', { port });
  await cluster.clock.advanceAsync(1_000);
  expect(await ask(client, 2)).toEqual(['fresh', 'fresh']);
  expect(serversOf(client)).toMatchObject([{ routingId: rid, state: 'ready' }]);
  board.post(former); // a store that went back in time
  await cluster.clock.advanceAsync(10_000);
  expect(serversOf(client)).toMatchObject([
    { state: 'ready', reason: 'another generation follows' },
    { state: 'rejected', reason: expect.stringContaining('expected') as string },
  ]);
  expect(await ask(client, 2)).toEqual(['fresh', 'fresh']);
});

test('[CS-009] a new generation that cannot be reached leaves the old one chosen, and both are shown', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'clientServer'>()];
  await run(cluster, board, 'old');
  const client = await findingClient(cluster, board);
  await client.channel(CHANNEL).whenReady(1);
  board.post(factsOf({ rid, generation: 5n }, 'tcp://10.0.0.1:7200'));
  await cluster.clock.advanceAsync(10_000);
  expect(await ask(client, 2)).toEqual(['old', 'old']);
  expect(serversOf(client)).toMatchObject([
    { state: 'ready', reason: 'another generation follows' },
    { endpoint: 'tcp://10.0.0.1:7200', state: 'connecting', reason: 'connection refused' },
  ]);
});

test('[CS-009] [LOC-063] a run that was left out is not chosen again as another one follows it', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'clientServer'>()];
  await run(cluster, board, 'old');
  const client = await findingClient(cluster, board);
  await client.channel(CHANNEL).whenReady(1);
  board.setOwnerPresent(rid, false);
  await loopTurns(1);
  board.post(factsOf({ rid, generation: 5n }, 'tcp://10.0.0.1:7200'));
  const outcome = watch(client.request(CHANNEL, Ask(1)).timeoutMs(500).submit());
  await cluster.clock.advanceAsync(600);
  expect(outcome.value).toMatchObject({ kind: 'NotFound' });
});

test('[CS-013] of two live servers with one RID the one that was verified last is the target', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'clientServer'>()];
  const first = await run(cluster, board, 'first');
  const client = await findingClient(cluster, board);
  await client.channel(CHANNEL).whenReady(1);
  await run(cluster, board, 'second');
  await cluster.clock.advanceAsync(1_000);
  expect(await ask(client, 3)).toEqual(['second', 'second', 'second']);
  await cluster.clock.advanceAsync(30_000);
  expect(await ask(client, 3)).toEqual(['second', 'second', 'second']); // and the first does not come back
  expect(first.counters(CHANNEL, 'request').accepted).toBe(0);
  expect(cluster.network.openConnections).toBe(1);
});

test('[CS-013] [CS-002] another run of the local server, published elsewhere, is dialled like any other', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'clientServer'>()];
  const host = configureServer(cluster, 'local', { rid, host: { discovery: board.discovery(cluster.clock) } });
  host.channel(CHANNEL).client();
  await host.start();
  await host.channel(CHANNEL).whenReady(1);
  expect(await ask(host, 1)).toEqual(['local']);
  await run(cluster, board, 'elsewhere');
  await cluster.clock.advanceAsync(1_000);
  expect(await ask(host, 2)).toEqual(['elsewhere', 'elsewhere']);
});
