import { loopTurns, until } from '@zlink/testing';
import { Board, Gate, rejection, watch } from '@zlink/testing/internal';
import {
  ask,
  CHANNEL,
  endpointOf,
  findingClient,
  publishingServer,
  serversOf,
  startClient,
  startServer,
} from './arrange.ts';
import { arrangeCluster } from './cluster.ts';
import { Ask, Notice } from './packets.ts';

const ABSENT = 'owner lease absent';

test('[LOC-063] a server whose owner has no lease is left out at once, keeps its link and comes back with the lease', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'clientServer'>()];
  await publishingServer(cluster, board, 'a');
  await publishingServer(cluster, board, 'b');
  const client = await findingClient(cluster, board);
  await client.channel(CHANNEL).whenReady(2);
  expect(await ask(client, 2)).toEqual(['a', 'b']);
  board.setOwnerPresent('a', false);
  await loopTurns(1);
  expect(await ask(client, 2)).toEqual(['b', 'b']);
  expect(serversOf(client)).toMatchObject([
    { routingId: 'a', state: 'ready', reason: ABSENT, weight: 100 },
    { routingId: 'b', state: 'ready' },
  ]);
  expect(serversOf(client)[1]).not.toHaveProperty('reason');
  await cluster.clock.advanceAsync(60_000);
  expect(cluster.network.openConnections).toBe(2);
  board.setOwnerPresent('a', true);
  await loopTurns(1);
  expect(new Set(await ask(client, 2))).toEqual(new Set(['a', 'b']));
});

test('[LOC-063] calls that wait as the only server is left out go to it when its lease is back', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'clientServer'>()];
  await publishingServer(cluster, board, 'a');
  const client = await findingClient(cluster, board);
  await client.channel(CHANNEL).whenReady(1);
  board.setOwnerPresent('a', false);
  await loopTurns(1);
  const outcome = watch(client.request(CHANNEL, Ask(1)).submit());
  await cluster.clock.advanceAsync(1_000);
  expect(outcome.state).toBe('pending');
  board.setOwnerPresent('a', true);
  await loopTurns(8);
  expect(outcome).toEqual({ state: 'resolved', value: 'a' });
});

test('[LOC-063] a call that found no server says whose owner has no lease, dialled or not', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'clientServer'>()];
  const a = await publishingServer(cluster, board, 'a');
  const b = await publishingServer(cluster, board, 'b');
  board.setOwnerPresent('b', false);
  const client = await findingClient(cluster, board, [], { with: (c) => c.setRequestTimeoutMs(500) });
  await client.channel(CHANNEL).whenReady(1);
  board.setOwnerPresent('a', false);
  await loopTurns(1);
  const error = await cluster.passing(rejection(client.request(CHANNEL, Ask(1)).submit()));
  expect(error.message).toBe(
    `[NotFound] channel "billing" had no ready server for 500 ms: ${endpointOf(a)} ready (${ABSENT}); ` +
      `${endpointOf(b)} closed (${ABSENT})`,
  );
  expect(cluster.network.openConnections).toBe(1); // b was never dialled
});

test('[LOC-063] a server that was configured as well is not left out', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'clientServer'>()];
  const server = await publishingServer(cluster, board, 'a', {
    with: (s) => s.setBindHost('*').setAdvertiseHost('billing-1'),
  });
  const address = `tcp://localhost:${endpointOf(server).split(':').at(-1)}`;
  cluster.network.refuse(address);
  const client = await findingClient(cluster, board, [address]);
  await client.channel(CHANNEL).whenReady(1); // by discovery alone
  board.setOwnerPresent('a', false);
  await loopTurns(1);
  const outcome = watch(client.request(CHANNEL, Ask(1)).submit());
  await loopTurns(8);
  expect(outcome.state).toBe('pending');
  cluster.network.restore();
  await cluster.clock.advanceAsync(1_000); // the address leads to the same server: its intent rests
  expect(outcome).toEqual({ state: 'resolved', value: 'a' });
  const traffic = expect.any(Object) as unknown;
  expect(serversOf(client)).toEqual([
    { endpoint: address, routingId: 'a', state: 'ready', weight: 100, draining: false, local: false, traffic },
  ]);
  expect(cluster.network.openConnections).toBe(1);
});

test('[LOC-063] a server that was configured is left out once its address leads to another one', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'clientServer'>()];
  const port = 7_600;
  const former = await publishingServer(cluster, board, 'former', { rid: 'a', port });
  const address = endpointOf(former);
  const client = await findingClient(cluster, board, [address]);
  await client.channel(CHANNEL).whenReady(1);
  cluster.network.refuse(address);
  await former.kill();
  await publishingServer(cluster, board, 'moved', { rid: 'a' });
  await cluster.clock.advanceAsync(1_000);
  board.setOwnerPresent('a', false);
  await loopTurns(1);
  expect(await ask(client, 2)).toEqual(['moved', 'moved']); // it answered at the address last
  const other = await startServer(cluster, 'b', { port, weight: 0 });
  cluster.network.restore();
  await cluster.clock.advanceAsync(10_000);
  expect(serversOf(client)).toMatchObject([
    { endpoint: endpointOf(other), routingId: 'b', state: 'ready' },
    { routingId: 'a', state: 'ready', reason: ABSENT },
  ]);
  other.channel(CHANNEL).setWeight(1);
  await loopTurns(8);
  expect(await ask(client, 2)).toEqual(['b', 'b']);
});

test('[LOC-063] a server whose descriptor is gone is left out while its link lives, and forgotten with it', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'clientServer'>()];
  const server = await publishingServer(cluster, board, 'a');
  await publishingServer(cluster, board, 'b');
  const client = await findingClient(cluster, board);
  await client.channel(CHANNEL).whenReady(2);
  board.remove('a');
  await loopTurns(1);
  expect(await ask(client, 2)).toEqual(['b', 'b']);
  expect(serversOf(client)).toMatchObject([
    { routingId: 'a', state: 'ready', reason: 'descriptor gone' },
    { routingId: 'b' },
  ]);
  cluster.network.cut(endpointOf(server));
  await cluster.clock.advanceAsync(10_000);
  expect(serversOf(client)).toMatchObject([{ routingId: 'b', state: 'ready' }]);
  expect(cluster.network.openConnections).toBe(1);
});

test('[LOC-052] [CS-010] past its lease a server ends what it accepted, refuses new messages and takes them again', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'clientServer'>()];
  const discovery = board.discovery(cluster.clock);
  const gate = new Gate();
  const server = await publishingServer(cluster, board, 'a', {
    host: { discovery },
    answer: async (n) => {
      await gate.opened;
      return n;
    },
    with: (s) => s.concurrency(60).addSendHandler(Notice, () => undefined),
  });
  const client = await startClient(cluster, [server]);
  const running = Array.from({ length: 100 }, (_, i) => client.request(CHANNEL, Ask(i)).submit());
  await until(() => server.counters(CHANNEL, 'request').accepted === 100, '60 run, 40 wait');
  discovery.openUntilMs = cluster.clock.nowMs() + 2_000;
  await cluster.clock.advanceAsync(1_999);
  const last = client.request(CHANNEL, Ask('last')).submit();
  await until(() => server.counters(CHANNEL, 'request').accepted === 101, 'it is accepted');

  await cluster.clock.advanceAsync(1);
  await client.send(CHANNEL, Notice({ text: 'x' })).submit();
  await until(() => server.counters(CHANNEL, 'send').accepted === 1, 'it arrives');
  expect(server.counters(CHANNEL, 'send')).toMatchObject({ handled: 0, dropped: { not_serving: 1 } });
  expect(server.log).toContainEqual(expect.objectContaining({ reason: 'stale_target', message_kind: 'send' }));
  const refused = await rejection(client.request(CHANNEL, Ask('late')).submit());
  expect(refused).toMatchObject({ kind: 'Unavailable', submitted: true });
  expect(refused.message).toBe(
    '[Unavailable] channel "billing" (server "a") takes nothing new: its host has not reached the location store in time ' +
      '(owner lease); the handler did not run; it goes on by itself when the store is back',
  );

  gate.open();
  await expect(Promise.all(running)).resolves.toEqual(running.map((_, i) => i));
  await expect(last).resolves.toBe('last');
  expect(cluster.network.openConnections).toBe(1);

  discovery.openUntilMs = Infinity;
  await expect(client.request(CHANNEL, Ask('again')).submit()).resolves.toBe('again');
  expect(server.counters(CHANNEL, 'request')).toMatchObject({ handled: 102, dropped: { not_serving: 1 } });
});

test('[CS-008] a draining server says so, also when its host has given up the lease', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'clientServer'>()];
  const discovery = board.discovery(cluster.clock);
  const server = await publishingServer(cluster, board, 'a', { host: { discovery } });
  const client = await startClient(cluster, [server]);
  cluster.network.pauseReceiver(endpointOf(server), 'toDialer'); // the client does not hear of the drain yet
  server.drain();
  discovery.openUntilMs = 0;
  const crossing = watch(client.request(CHANNEL, Ask(1)).submit());
  await loopTurns(8);
  cluster.network.resumeReceiver(endpointOf(server), 'toDialer');
  await loopTurns(8);
  expect(crossing).toMatchObject({ state: 'rejected', value: { kind: 'Rejected', submitted: true } });
});

test('[LOC-052] a server that drains past its lease ends in order', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'clientServer'>()];
  const discovery = board.discovery(cluster.clock);
  const gate = new Gate();
  const server = await publishingServer(cluster, board, 'a', {
    host: { discovery },
    answer: async () => {
      await gate.opened;
      return 'done';
    },
  });
  const client = await findingClient(cluster, board);
  await client.channel(CHANNEL).whenReady(1);
  const accepted = watch(client.request(CHANNEL, Ask(1)).submit());
  await until(() => server.counters(CHANNEL, 'request').accepted === 1, 'it runs');
  discovery.openUntilMs = 0;
  server.drain();
  const drained = watch(server.drained());
  await loopTurns(8);
  expect([accepted.state, drained.state]).toEqual(['pending', 'pending']);
  gate.open();
  await loopTurns(8);
  expect(accepted).toEqual({ state: 'resolved', value: 'done' });
  expect(drained.state).toBe('resolved');
});
