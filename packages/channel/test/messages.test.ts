import type { DispatchKind } from '@zlink/kernel/dispatch';
import { RecordKind } from '@zlink/kernel/internal/wire';
import { loopTurns, until } from '@zlink/testing';
import { Gate, isSettled, rejection, watch } from '@zlink/testing/internal';
import { arrangeCluster, type Cluster } from './cluster.ts';
import { askNode, CHANNEL, endpointOf, joinNode, MESH, startNode } from './arrange.ts';
import { Ask, Notice } from './packets.ts';
import { RawNode } from './raw-node.ts';
import type { TestHost } from './test-host.ts';

async function rawNodeAt(cluster: Cluster, host: TestHost): Promise<RawNode> {
  const raw = cluster.add(new RawNode(cluster, MESH, { rid: 'raw' }));
  raw.dial(endpointOf(host));
  await until(() => raw.links.length === 1, 'the raw node is admitted');
  return raw;
}

test('[DISP-004] a request for a channel that is not served is answered NotFound, a send is recorded and dropped', async () => {
  const cluster = arrangeCluster();
  const node = await startNode(cluster, 'node'); // a client of the channel
  const raw = await rawNodeAt(cluster, node);
  const asked = [raw.submit(RecordKind.request, CHANNEL), raw.submit(RecordKind.request, 'unknown')];
  raw.submit(RecordKind.send, 'unknown', '{"text":"x"}');
  await loopTurns(8);
  expect(asked.map(({ reply }) => reply?.errorKind)).toEqual(['NotFound', 'NotFound']);
  expect(asked[1]?.reply?.payload).toContain('does not serve channel "unknown"');
  expect(node.counters(MESH, 'request').dropped).toEqual({ no_handler: 2 });
  expect(node.counters(MESH, 'send').dropped).toEqual({ no_handler: 1 });
  expect(node.log).toContainEqual(expect.objectContaining({ reason: 'no_handler' }));
});

test('[WIRE-005] a reply that nobody waits for any more is dropped and counted', async () => {
  const cluster = arrangeCluster();
  const gate = new Gate();
  const target = await startNode(cluster, 'target');
  const raw = await rawNodeAt(cluster, target);
  raw.answer = (asked) =>
    void gate.opened.then(() => {
      raw.reply(asked, '"late"');
    });
  const lost = rejection(target.requestToNode(MESH, 'raw', Ask(1)).timeoutMs(100).submit());
  await cluster.clock.advanceAsync(150);
  await expect(lost).resolves.toMatchObject({ kind: 'DeadlineExceeded', submitted: true });
  gate.open();
  await loopTurns(8);
  expect(target.counters(MESH, 'stray')).toMatchObject({ accepted: 1, dropped: { reply: 1 } });
});

test('[DISP-007] filters see the kind of a mesh message, and the mesh', async () => {
  const cluster = arrangeCluster();
  const seen: [DispatchKind, string | undefined][] = [];
  const target = await startNode(cluster, 'target', {
    weight: 100,
    server: (s) => void s.addSendHandler(Notice, () => undefined),
    with: (mesh) => void mesh.addRouteSendHandler(Notice, () => undefined),
    host: {
      filters: [
        (context, next) => {
          seen.push([context.dispatchKind, context.meshName]);
          return next();
        },
      ],
    },
  });
  const caller = await joinNode(cluster, 'caller', { connect: [target] });
  await askNode(caller, 'target');
  await caller.requestToChannel(MESH, CHANNEL, Ask(1)).submit();
  await caller.sendToNode(MESH, 'target', Notice({ text: 'x' })).submit();
  await caller.sendToChannel(MESH, CHANNEL, Notice({ text: 'x' })).submit();
  await until(() => seen.length === 4, 'all are handled');
  expect(seen).toEqual([
    ['nodeRequest', MESH],
    ['channelRequest', MESH],
    ['nodeSend', MESH],
    ['channelSend', MESH],
  ]);
});

test('[DISP-003] a channel handler on a mesh sees no mesh and no node', async () => {
  const cluster = arrangeCluster();
  const contexts: object[] = [];
  const target = await startNode(cluster, 'target', {
    weight: 100,
    answer: (_, context) => (contexts.push(context), 1),
  });
  const caller = await joinNode(cluster, 'caller', { connect: [target] });
  await caller.requestToChannel(MESH, CHANNEL, Ask(1)).submit();
  expect(contexts[0]).toMatchObject({ channelName: CHANNEL });
  for (const name of ['meshName', 'sourceNodeRid', 'targetNodeRid']) expect(name in (contexts[0] ?? {})).toBe(false);
});

test('[DISP-005] concurrency of the node queue and of a channel queue are each their own', async () => {
  const cluster = arrangeCluster();
  const gate = new Gate();
  const answer = (): Promise<void> => gate.opened;
  const target = await startNode(cluster, 'target', {
    weight: 100,
    answer,
    answerDirect: answer,
    server: (s) => void s.concurrency(2),
    with: (mesh) => void mesh.concurrency(1),
  });
  const caller = await joinNode(cluster, 'caller', { connect: [target] });
  const calls = [1, 2, 3].flatMap(() => [
    askNode(caller, 'target'),
    caller.requestToChannel(MESH, CHANNEL, Ask(1)).submit(),
  ]);
  await until(
    () => target.counters(MESH, 'request').accepted + target.counters(CHANNEL, 'request').accepted === 6,
    'all arrive',
  );
  expect(target.counters(MESH, 'request')).toMatchObject({ running: 1, queued: 2 });
  expect(target.counters(CHANNEL, 'request')).toMatchObject({ running: 2, queued: 1 });
  gate.open();
  await Promise.all(calls);
});

test('[JOBQ-006] mailbox limits hold for the node queue and for each channel queue', async () => {
  const cluster = arrangeCluster();
  const gate = new Gate();
  const answer = (): Promise<void> => gate.opened;
  const target = await startNode(cluster, 'target', {
    weight: 100,
    answer,
    answerDirect: answer,
    with: (mesh) => void mesh.setMailboxLimits({ messages: 1 }),
  });
  const caller = await joinNode(cluster, 'caller', { connect: [target] });
  const first = [askNode(caller, 'target'), caller.requestToChannel(MESH, CHANNEL, Ask(1)).submit()];
  const second = [askNode(caller, 'target'), caller.requestToChannel(MESH, CHANNEL, Ask(1)).submit()];
  for (const call of second) await expect(rejection(call)).resolves.toMatchObject({ kind: 'Unavailable' });
  gate.open();
  await Promise.all(first);
});

test('[JOBQ-009] requests that cross end although both hosts are out of permits', async () => {
  const cluster = arrangeCluster();
  const gate = new Gate();
  const host = { permits: { max: 1 } };
  // One job runs, one waits with the only permit: nothing ordinary gets in any more.
  const busy = async (name: string, connect: TestHost[] = []): Promise<TestHost> =>
    startNode(cluster, name, {
      connect,
      host,
      answerDirect: async (given) => (given === 'hold' ? gate.opened : `${name} has ${String(given)}`),
      with: (mesh) => void mesh.concurrency(1),
    });
  const a = await busy('a');
  const b = await busy('b', [a]);
  await cluster.passing(Promise.all([a, b].map((node) => node.runtime(MESH).whenReady(1))));
  const raw = await rawNodeAt(cluster, a);
  raw.answer = (asked) => raw.reply(asked, '"raw"');
  const holds = [a, b].flatMap((node) => {
    const other = node === a ? 'b' : 'a';
    return [askNode(node, other, 'hold'), askNode(node, other, 'hold')];
  });
  await until(() => [a, b].every((node) => node.parts.permits.inUse === 1), 'no permit is left');
  const crossing = [watch(askNode(a, 'b', 'one')), watch(askNode(b, 'a', 'two'))];
  await loopTurns(16);
  expect(crossing.some(isSettled)).toBe(false); // they wait for permits over there
  const toIdle = watch(askNode(a, 'raw', 'three'));
  await until(() => isSettled(toIdle), 'the reply comes in without a permit');
  expect(toIdle).toEqual({ state: 'resolved', value: 'raw' });
  expect([a, b].map((node) => node.parts.permits.inUse)).toEqual([1, 1]);
  gate.open();
  await Promise.all(holds);
  await loopTurns(16);
  expect(crossing.map(({ value }) => value)).toEqual(['b has one', 'a has two']);
  expect(raw.links).toHaveLength(1);
});

test('[JOBQ-009] handlers that call each other end while no permit is free on either side', async () => {
  const cluster = arrangeCluster();
  const host = { permits: { max: 2 }, maxWindowBytes: 65_536 };
  const a: TestHost = await startNode(cluster, 'a', {
    host,
    answerDirect: async (depth) => (depth === 0 ? 'end' : askNode(a, 'b', (depth as number) - 1)),
  });
  const b: TestHost = await startNode(cluster, 'b', {
    host,
    connect: [a],
    answerDirect: async (depth) => (depth === 0 ? 'end' : askNode(b, 'a', (depth as number) - 1)),
  });
  await cluster.passing(Promise.all([a, b].map((node) => node.runtime(MESH).whenReady(1))));
  const calls = Array.from({ length: 20 }, () => [askNode(a, 'b', 9), askNode(b, 'a', 9)]).flat();
  await expect(Promise.all(calls)).resolves.toEqual(calls.map(() => 'end'));
});

test('[JOBQ-010] a mesh has no limit for one message, in neither direction', async () => {
  const cluster = arrangeCluster();
  const target = await startNode(cluster, 'target');
  const caller = await joinNode(cluster, 'caller', { connect: [target] });
  await cluster.passing(target.runtime(MESH).whenReady(1));
  const large = 'x'.repeat(20_000_000);
  await expect(askNode(caller, 'target', large)).resolves.toBe('target');
  await expect(askNode(target, 'caller', large)).resolves.toBe('caller');
});
