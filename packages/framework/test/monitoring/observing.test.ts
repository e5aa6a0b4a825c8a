import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Host, Logger, RuntimeSnapshot } from '@zlink/framework';
import { loopTurns } from '@zlink/testing';
import { ask, makeHost, makeServer, startClient, startPair, startServer } from '../hosts.ts';
import { CHANNEL } from '../packets.ts';
import { beginSnapshots, nextOf, Witness } from './observing.ts';

const CHANGES = 10_000;

/** So many changes of the weight of its server, ten in each turn. */
async function change(host: Host, count: number): Promise<void> {
  const channel = host.clientServerChannel(CHANNEL);
  for (let done = 1; done <= count; done++) {
    channel.setWeight(done);
    if (done % 10 === 0) await loopTurns(1);
  }
}

/** Bytes in use once the garbage is gone. */
function liveBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void; // the flag has brought it
  collect();
  return process.memoryUsage().heapUsed;
}

test('[MON-010] who observes gets the current snapshot, then newer ones, and last that of the stopped host', async () => {
  const host = makeServer();
  const states: string[] = [];
  const sequences: bigint[] = [];
  const reading = (async () => {
    for await (const { snapshot } of host.query.observe()) {
      states.push(snapshot.host.state);
      sequences.push(snapshot.sequence);
    }
  })();
  await loopTurns(2);
  await host.start();
  await loopTurns(2);
  await host.shutdown();
  await reading;
  expect(states[0]).toBe('configuring');
  expect(states).toContain('serving');
  expect(states.at(-1)).toBe('stopped');
  expect(sequences).toEqual([...sequences].sort((a, b) => (a < b ? -1 : 1)));
  expect(new Set(sequences).size).toBe(sequences.length);
});

test('[MON-010] [MON-012] an observer that reads nothing for 10,000 changes costs no memory, gets the newest state and the count', async () => {
  const server = await startServer();
  const idle = beginSnapshots(server);
  expect((await nextOf(idle)).loss).toEqual({ coalesced: 0n });
  await change(server, 1_000); // warm
  const before = liveBytes();
  await change(server, CHANGES);
  expect(liveBytes() - before).toBeLessThan(1_000_000);
  const { snapshot, loss } = await nextOf(idle);
  expect(snapshot.clientServerChannels[0]?.servers[0]?.weight).toBe(CHANGES);
  expect(loss.coalesced).toBeGreaterThan(100n);
});

test('[MON-010] the result of the shutdown reaches an observer that has not read since', async () => {
  const server = await startServer();
  const idle = beginSnapshots(server);
  await nextOf(idle);
  const result = await server.shutdown();
  const { snapshot } = await nextOf(idle);
  expect([snapshot.host.state, snapshot.host.shutdownResult]).toEqual(['stopped', result]);
  expect((await idle.next()).done).toBe(true);
});

test('[MON-010] a host that never started ends its observers, too', async () => {
  const host = makeHost();
  const [witness, snapshots] = [new Witness(host), beginSnapshots(host)];
  await host.shutdown();
  expect((await nextOf(snapshots)).snapshot.host.state).toBe('stopped');
  expect((await snapshots.next()).done).toBe(true);
  await witness.ended;
});

test('[MON-011] of more events than an observer may leave the oldest are dropped and counted', async () => {
  const server = await startServer();
  const idle = server.query.events()[Symbol.asyncIterator]();
  await change(server, CHANGES);
  const { event, loss } = (await idle.next()).value as Awaited<
    ReturnType<typeof nextOf<{ event: object; loss: object }>>
  >;
  expect(loss).toEqual({ discarded: BigInt(CHANGES - 1_024) });
  expect(event).toMatchObject({ server: { weight: CHANGES - 1_023 } });
});

test('[MON-013] a slow, an aborted and a throwing observer change nothing for the others', async () => {
  const { server, client } = await startPair();
  const abort = new AbortController();
  const slow = beginSnapshots(client);
  const aborted = beginSnapshots(client, abort.signal);
  await nextOf(aborted);
  const waiting = aborted.next();
  const throwing = (async () => {
    for await (const item of client.query.events()) throw new Error(item.event.type);
  })();
  const witness = new Witness(client);
  abort.abort();
  await change(server, 20);
  await expect(throwing).rejects.toThrow('zlink.runtime.client_server.server_changed');
  expect((await waiting).done).toBe(true);
  await witness.sees('zlink.runtime.client_server.server_changed', ({ server: { weight } }) => weight === 20);
  expect(await ask(client, 1)).toBe(1);
  expect((await nextOf(slow)).snapshot.host.state).toBe('serving');
});

test('[MON-023] [MON-013] a logger that throws changes nothing', async () => {
  const broken = (): never => {
    throw new Error('disk full');
  };
  const logger: Logger = { debug: broken, info: broken, warn: broken, error: broken };
  const written: string[] = [];
  const write = process.stderr.write.bind(process.stderr);
  process.stderr.write = (text: unknown) => written.push(String(text)) > 0;
  const server = await startServer({ options: { logger } });
  const witness = new Witness(server);
  const client = await startClient([server], { options: { logger } });
  await change(server, 3);
  expect(await ask(client, 1)).toBe(1);
  await server.shutdown();
  await witness.ended;
  process.stderr.write = write;
  const reports = written.filter((text) => text.includes('disk full'));
  expect(witness.of('zlink.runtime.client_server.server_changed').length).toBeGreaterThanOrEqual(3);
  expect(reports.length).toBeGreaterThan(0);
  expect(reports.length).toBeLessThanOrEqual(2); // one per host: each guards its own logger
});

test('[MON-001] [MON-010] [MON-022] messages that move make neither a snapshot nor an event; who asks sees what has moved', async () => {
  const { client } = await startPair();
  const [snapshots, witness] = [beginSnapshots(client), new Witness(client)];
  const { snapshot: first } = await nextOf(snapshots);
  const next = nextOf(snapshots);
  const { sequence } = client.query.snapshot();
  for (let asked = 0; asked < 50; asked++) await ask(client, asked);
  await loopTurns(10);
  expect(witness.events).toEqual([]);
  const now = client.query.snapshot();
  expect(now.sequence).toBe(sequence + 1n); // none was made in between
  const trafficIn = (shown: RuntimeSnapshot) => shown.clientServerChannels[0]?.servers[0]?.traffic;
  expect(trafficIn(first)).toMatchObject({ sentMessages: 0, receivedMessages: 0, outstandingBytes: 0 });
  expect(trafficIn(now)).toMatchObject({ sentMessages: 50, receivedMessages: 50 });
  expect(first.host.links).toMatchObject({ open: 1, sentMessages: 0, receivedMessages: 0 });
  expect(now.host.links).toMatchObject({ open: 1, sentMessages: 50, receivedMessages: 50 });
  await client.shutdown();
  const { snapshot, loss } = await next;
  expect(snapshot.host.state).not.toBe('serving');
  expect(loss.coalesced).toBe(0n);
});
