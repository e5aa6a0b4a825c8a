import { loopTurns, until } from '@zlink/testing';
import { Board, rejection, watch } from '@zlink/testing/internal';
import {
  ask,
  CHANNEL,
  dialingClient,
  endpointOf,
  findingClient,
  publishingServer,
  serversOf,
  startServer,
} from './arrange.ts';
import { arrangeCluster } from './cluster.ts';
import { Ask } from './packets.ts';

const shortWait = {
  with: (client: { setRequestTimeoutMs(ms: number): unknown }) => void client.setRequestTimeoutMs(500),
};
const PREFIX = `[NotFound] channel "${CHANNEL}" had no ready server for 500 ms: `;

test('[LOC-064] [CS-010] while the store is away candidates, links and calls stay, and a lost link is dialled again', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'clientServer'>()];
  const server = await publishingServer(cluster, board, 'a');
  await publishingServer(cluster, board, 'b');
  const client = await findingClient(cluster, board);
  await client.channel(CHANNEL).whenReady(2);
  board.goAway('timeout');
  await publishingServer(cluster, board, 'c'); // nobody learns of it
  cluster.network.cut(endpointOf(server));
  await loopTurns(4);
  expect(await ask(client, 2)).toEqual(['b', 'b']);
  await cluster.clock.advanceAsync(5_000);
  expect(serversOf(client)).toMatchObject([
    { routingId: 'a', state: 'ready' },
    { routingId: 'b', state: 'ready' },
  ]);
  expect(new Set(await ask(client, 4))).toEqual(new Set(['a', 'b']));
  board.comeBack();
  await client.channel(CHANNEL).whenReady(3);
  expect(new Set(await ask(client, 3))).toEqual(new Set(['a', 'b', 'c']));
});

test('[LOC-064] [CS-010] after the grace links stay, a lost one stays lost, and is dialled once a whole view was read', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'clientServer'>()];
  const server = await publishingServer(cluster, board, 'a');
  await publishingServer(cluster, board, 'b');
  const client = await findingClient(cluster, board);
  await client.channel(CHANNEL).whenReady(2);
  board.goAway('timeout');
  board.outlast();
  await cluster.clock.advanceAsync(60_000);
  expect(new Set(await ask(client, 2))).toEqual(new Set(['a', 'b']));
  cluster.network.cut(endpointOf(server));
  await cluster.clock.advanceAsync(60_000);
  expect(serversOf(client)).toMatchObject([
    { routingId: 'a', state: 'closed', reason: 'not dialled while the location store is away', weight: 0 },
    { routingId: 'b', state: 'ready' },
  ]);
  expect(await ask(client, 2)).toEqual(['b', 'b']);
  expect(cluster.network.openConnections).toBe(1);
  board.comeBack();
  await until(() => serversOf(client)[0]?.state === 'ready', 'it is dialled again');
  expect(new Set(await ask(client, 2))).toEqual(new Set(['a', 'b']));
});

test('[CS-010] [LOC-062] after an outage targets are those of the newest revision and generation', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'clientServer'>()];
  const old = await publishingServer(cluster, board, 'old', { rid: 'billing-1' });
  const changed = await publishingServer(cluster, board, 'changed');
  const client = await findingClient(cluster, board);
  await client.channel(CHANNEL).whenReady(2);
  board.goAway('timeout');
  changed.channel(CHANNEL).setWeight(0);
  await old.kill();
  await publishingServer(cluster, board, 'fresh', { rid: 'billing-1' });
  await cluster.clock.advanceAsync(2_000);
  expect(serversOf(client)).toMatchObject([
    { routingId: 'billing-1', state: 'reconnecting' },
    { routingId: 'changed', state: 'ready', weight: 0 }, // its link said so
  ]);
  board.comeBack();
  await until(
    () => serversOf(client).some(({ routingId, state }) => routingId === 'billing-1' && state === 'ready'),
    'ready',
  );
  expect(await ask(client, 2)).toEqual(['fresh', 'fresh']);
  expect(serversOf(client)).toHaveLength(2);
  expect(board.facts('changed')).toMatchObject({ weight: 0, revision: 3n });
});

test('[LOC-064] a call that found no server says that the store cannot be asked, and why', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'clientServer'>()];
  board.goAway('connection lost');
  const client = await findingClient(cluster, board, [], shortWait);
  const error = await cluster.passing(rejection(client.request(CHANNEL, Ask(1)).submit()));
  expect(error.message).toBe(`${PREFIX}location store: connection lost`);
});

test('[LOC-064] the reason of the store stands behind those of the servers, however many there are', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'clientServer'>()];
  for (const name of ['a', 'b', 'c', 'd', 'e']) await publishingServer(cluster, board, name, { weight: 0 });
  const client = await findingClient(cluster, board, [], shortWait);
  await client.channel(CHANNEL).whenReady(5);
  board.goAway('connection lost');
  const error = await cluster.passing(rejection(client.request(CHANNEL, Ask(1)).submit()));
  expect(error.message).toMatch(/ready \(weight 0\); and 2 more; location store: connection lost$/);
});

test('[CS-002] a call of a client that looks for servers, and finds none, says where it looked for which', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'clientServer'>()];
  const client = await findingClient(cluster, board, [], shortWait);
  const error = await cluster.passing(rejection(client.request(CHANNEL, Ask(1)).submit()));
  expect(error.message).toBe(
    `${PREFIX}no server of channel "billing" is published in the location store; ` +
      'servers need the same store, key prefix and channel name',
  );
});

test('[CS-002] without a store nothing is published, and nobody is looked for', async () => {
  const cluster = arrangeCluster();
  const server = await startServer(cluster, 'a');
  const client = await dialingClient(cluster, [server]);
  await client.channel(CHANNEL).whenReady(1);
  const outcome = watch(client.request(CHANNEL, Ask(1)).submit());
  await loopTurns(8);
  expect(outcome).toEqual({ state: 'resolved', value: 'a' });
  expect(serversOf(client)).toHaveLength(1);
});
