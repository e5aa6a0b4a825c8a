import { loopTurns, until } from '@zlink/testing';
import { Gate, rejection, watch } from '@zlink/testing/internal';
import { arrangeCluster } from './cluster.ts';
import { ask, askNode, CHANNEL, endpointOf, joinNode, MESH, startNode } from './arrange.ts';
import { Ask, Notice } from './packets.ts';
import { RawNode } from './raw-node.ts';
import { RecordKind } from '@zlink/kernel/internal/wire';

test('[MESH-006] a draining node is no candidate, finishes what it accepted, then closes', async () => {
  const cluster = arrangeCluster();
  const gate = new Gate();
  const answer = async (): Promise<string> => {
    await gate.opened;
    return 'late';
  };
  const draining = await startNode(cluster, 'draining', { weight: 100, answer, answerDirect: answer });
  const other = await startNode(cluster, 'other', { weight: 100 });
  const caller = await joinNode(cluster, 'caller', { connect: [draining, other] });
  const accepted = [watch(ask(caller, 1)), watch(askNode(caller, 'draining'))];
  await until(
    () => draining.counters(CHANNEL, 'request').running + draining.counters(MESH, 'request').running === 2,
    'both run',
  );
  draining.drain();
  await loopTurns(8);
  expect(await ask(caller, 3)).toEqual(['other', 'other', 'other']);
  const drained = watch(draining.drained());
  await loopTurns(8);
  expect(drained.state).toBe('pending');
  gate.open();
  await loopTurns(8);
  expect(drained.state).toBe('resolved');
  expect(accepted).toEqual([
    { state: 'resolved', value: ['late'] },
    { state: 'resolved', value: 'late' },
  ]);
  await cluster.passing(draining.close());
  await cluster.clock.advanceAsync(100);
  expect(caller.peers(MESH)).toMatchObject([{ state: 'reconnecting' }, { state: 'ready' }]);
});

test('[MESH-006] what crosses the drain is answered ShuttingDown, and a send is dropped and recorded', async () => {
  const cluster = arrangeCluster();
  const server = await startNode(cluster, 'server', { weight: 100 });
  const raw = cluster.add(new RawNode(cluster, MESH, { rid: 'raw' })); // chooses without looking
  raw.dial(endpointOf(server));
  await until(() => raw.links.length === 1, 'the raw node is admitted');
  server.drain();
  const asked = [raw.submit(RecordKind.request, ''), raw.submit(RecordKind.request, CHANNEL)];
  raw.submit(RecordKind.send, CHANNEL, '{"text":"x"}');
  await loopTurns(8);
  expect(asked.map(({ reply }) => reply?.errorKind)).toEqual(['ShuttingDown', 'ShuttingDown']);
  expect(server.counters(CHANNEL, 'send').dropped).toEqual({ shutdown: 1 });
});

test('[CALL-005] while its host drains a node starts calls of running handlers only', async () => {
  const cluster = arrangeCluster();
  const gate = new Gate();
  const other = await startNode(cluster, 'other', { weight: 100 });
  const relay = await startNode(cluster, 'relay', {
    connect: [other],
    answerDirect: async (_, { signal }) => {
      await gate.opened;
      const direct = await relay.requestToNode(MESH, 'other', Ask(1)).submit(signal);
      return [direct, await relay.requestToChannel(MESH, CHANNEL, Ask(1)).submit(signal)];
    },
  });
  const caller = await joinNode(cluster, 'caller', { connect: [relay] });
  await cluster.passing(relay.runtime(MESH).whenReady(2));
  const accepted = askNode(caller, 'relay');
  await until(() => relay.counters(MESH, 'request').running === 1, 'the request runs');
  relay.drain();
  const own = [
    askNode(relay, 'other'),
    ask(relay, 1),
    relay.sendToNode(MESH, 'other', Notice({ text: 'x' })).submit(),
    relay.sendToChannel(MESH, CHANNEL, Notice({ text: 'x' })).submit(),
  ];
  for (const call of own)
    await expect(rejection(call)).resolves.toMatchObject({ kind: 'ShuttingDown', submitted: false });
  gate.open();
  await expect(accepted).resolves.toEqual(['other', 'other']);
});

test('[CALL-005] calls that wait for a node end with the drain, those of running handlers with the close', async () => {
  const cluster = arrangeCluster();
  const relay = await startNode(cluster, 'relay', {
    with: (mesh) => void mesh.connect('absent', 'tcp://127.0.0.1:1').setSendTimeoutMs(60_000),
    answerDirect: (_, { signal }) => relay.requestToNode(MESH, 'absent', Ask(1)).submit(signal),
  });
  const caller = await joinNode(cluster, 'caller', { connect: [relay] });
  const own = watch(askNode(relay, 'absent'));
  const ofHandler = watch(askNode(caller, 'relay'));
  await until(() => relay.counters(MESH, 'request').running === 1, 'the request runs');
  relay.drain();
  await loopTurns(8);
  expect(own).toMatchObject({ state: 'rejected', value: { kind: 'ShuttingDown' } });
  expect(ofHandler.state).toBe('pending');
  await cluster.passing(relay.close());
  await loopTurns(8);
  expect(ofHandler).toMatchObject({ state: 'rejected', value: { kind: 'ShuttingDown' } });
});

test('[MESH-006] a node that closes without a drain still answers what it accepted, within the linger', async () => {
  const cluster = arrangeCluster();
  const gate = new Gate();
  const server = await startNode(cluster, 'server', {
    weight: 100,
    answer: async () => {
      await gate.opened;
      return 'late';
    },
  });
  const caller = await joinNode(cluster, 'caller', { connect: [server] });
  const accepted = watch(ask(caller, 1));
  await until(() => server.counters(CHANNEL, 'request').running === 1, 'the request runs');
  const closed = server.close(5_000);
  await loopTurns(8);
  await expect(rejection(ask(caller, 1))).resolves.toMatchObject({ kind: 'NotFound' });
  gate.open();
  await cluster.passing(closed);
  expect(accepted).toEqual({ state: 'resolved', value: ['late'] });
});

test('[CALL-005] what is pending when the linger is over ends ShuttingDown here and Unavailable there', async () => {
  const cluster = arrangeCluster();
  const gate = new Gate();
  const answer = (): Promise<void> => gate.opened;
  const one = await startNode(cluster, 'one', { weight: 100, answer });
  const two = await startNode(cluster, 'two', { weight: 100, answer, connect: [one] });
  await cluster.passing(Promise.all([one, two].map((host) => host.runtime(MESH).whenReady(1))));
  const outcomes = [watch(ask(one, 1)), watch(ask(two, 1))];
  const running = (): number => one.counters(CHANNEL, 'request').running + two.counters(CHANNEL, 'request').running;
  await until(() => running() === 2, 'both run');
  await cluster.passing(two.close(300));
  await loopTurns(8);
  expect(outcomes[0]).toMatchObject({ state: 'rejected', value: { kind: 'Unavailable', submitted: true } });
  expect(outcomes[1]).toMatchObject({ state: 'rejected', value: { kind: 'ShuttingDown', submitted: true } });
  gate.open();
  await loopTurns(8);
});

test('[MESH-006] who waits for peers hears of the drain at once, and nobody begins to wait any more', async () => {
  const cluster = arrangeCluster();
  const node = await startNode(cluster, 'node');
  const waiting = watch(node.runtime(MESH).whenReady(1));
  node.drain();
  await loopTurns(1);
  expect(waiting).toMatchObject({ state: 'rejected', value: { kind: 'ShuttingDown' } });
  await expect(node.runtime(MESH).whenReady(0)).rejects.toMatchObject({ kind: 'ShuttingDown' });
});

test('[MESH-005] a weight set while the node ends is refused, like a new peer: nobody would learn of it', async () => {
  const cluster = arrangeCluster();
  const node = await startNode(cluster, 'node', { weight: 100 });
  node.drain();
  const setWeight = (): void => node.runtime(MESH).channel(CHANNEL).setWeight(5);
  expect(setWeight).toThrow('[ShuttingDown]');
  expect(node.runtime(MESH).channel(CHANNEL).weight).toBe(100);
});
