import type { NodeContext } from '@zlink/kernel/dispatch';
import { ZLinkError } from '@zlink/kernel/errors';
import { metadata } from '@zlink/kernel/message';
import { loopTurns, until } from '@zlink/testing';
import { Gate, isSettled, rejection, watch } from '@zlink/testing/internal';
import { arrangeCluster } from './cluster.ts';
import { askNode, CHANNEL, describeNode, endpointOf, joinNode, MESH, startNode } from './arrange.ts';
import { Ask, Notice } from './packets.ts';
import { RawNode } from './raw-node.ts';
import type { TestHost } from './test-host.ts';

test('[NODE-001] a direct call reaches exactly the named node, whoever dialled', async () => {
  const cluster = arrangeCluster();
  const a = await startNode(cluster, 'A');
  const caller = await startNode(cluster, 'caller', { connect: [a] });
  await startNode(cluster, 'B', { connect: [caller] });
  await cluster.passing(caller.runtime(MESH).whenReady(2));
  const answers: unknown[] = [];
  for (const rid of ['A', 'B', 'B', 'A']) answers.push(await askNode(caller, rid));
  expect(answers).toEqual(['A', 'B', 'B', 'A']);
});

test('[NODE-001] a send reaches exactly the named node and resolves with nothing', async () => {
  const cluster = arrangeCluster();
  const notices: string[] = [];
  const nodes = [];
  for (const name of ['A', 'B']) {
    const note = (mesh: { addRouteSendHandler: (packet: typeof Notice, handler: () => void) => unknown }): void =>
      void mesh.addRouteSendHandler(Notice, () => void notices.push(name));
    nodes.push(await startNode(cluster, name, { with: note }));
  }
  const caller = await joinNode(cluster, 'caller', { connect: nodes });
  await expect(caller.sendToNode(MESH, 'B', Notice({ text: 'x' })).submit()).resolves.toBeUndefined();
  await until(() => notices.length === 1, 'the notice arrives');
  expect(notices).toEqual(['B']);
});

test('[NODE-001] [C01] a RID that is no member is NotFound at once and leaves nothing behind', async () => {
  const cluster = arrangeCluster();
  const member = await startNode(cluster, 'member');
  const caller = await joinNode(cluster, 'caller', { connect: [member] });
  const before = routesOf(caller);
  for (let i = 0; i < 1_000; i++) {
    const error = await rejection(askNode(caller, `ghost-${i}`));
    expect(error).toMatchObject({ kind: 'NotFound', submitted: false });
  }
  await expect(rejection(caller.sendToNode(MESH, 'ghost', Notice({ text: 'x' })).submit())).resolves.toMatchObject({
    kind: 'NotFound',
    message: '[NotFound] node "ghost" of mesh "game" is no member; known: "member"',
  });
  expect(routesOf(caller)).toBe(before);
  await expect(askNode(caller, 'member')).resolves.toBe('member');
  expect(routesOf(caller)).toBe(before + 1);
});

test('[NODE-001] a RID that is no member is answered with some that are, each once, and never the own one', async () => {
  const cluster = arrangeCluster();
  const alone = await startNode(cluster, 'alone');
  alone.runtime(MESH).peers.connect('alone', 'tcp://127.0.0.1:2'); // expected by mistake
  const noMember = '[NotFound] node "ghost" of mesh "game" is no member';
  await expect(rejection(askNode(alone, 'ghost'))).resolves.toMatchObject({ message: `${noMember}; known: none` });

  const caller = await joinNode(cluster, 'caller', { connect: [await startNode(cluster, 'n0')] });
  const { peers } = caller.runtime(MESH);
  for (let i = 1; i < 8; i++) peers.connect(`n${i}`, `tcp://127.0.0.1:${i}`);
  const eight = '"n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7"';
  await expect(rejection(askNode(caller, 'ghost'))).resolves.toMatchObject({ message: `${noMember}; known: ${eight}` });
  peers.connect('n8', 'tcp://127.0.0.1:8');
  await expect(rejection(askNode(caller, 'ghost'))).resolves.toMatchObject({
    message: `${noMember}; known: ${eight}, and more`,
  });
});

test('[NODE-001] the own RID is no member, also as the expected one of a peer', async () => {
  const cluster = arrangeCluster();
  const caller = await startNode(cluster, 'caller');
  const runtime = caller.runtime(MESH);
  runtime.peers.connect('caller', runtime.endpoint);
  const error = await rejection(askNode(caller, 'caller'));
  expect(error.kind).toBe('NotFound');
  expect(error.message).toContain('has no link to itself');
  await cluster.clock.advanceAsync(50);
  expect(runtime.peers.list()).toMatchObject([{ endpoint: runtime.endpoint, state: 'rejected' }]);
});

test.each([7, '', 'a\0b', 'x'.repeat(256)])('[NODE-001] target RID %p is an argument error', async (rid) => {
  const cluster = arrangeCluster();
  const caller = await startNode(cluster, 'caller');
  await expect(rejection(askNode(caller, rid as string))).resolves.toMatchObject({ kind: 'InvalidOperation' });
});

test('[NODE-001] a member that is not ready is waited for, and served when it is', async () => {
  const cluster = arrangeCluster();
  const target = await describeNode(cluster, 'target').open();
  const caller = await startNode(cluster, 'caller', {
    with: (mesh) => void mesh.connect('target', endpointOf(target)),
  });
  const early = watch(askNode(caller, 'target')); // not even connected
  await cluster.clock.advanceAsync(100);
  expect(caller.peers(MESH)).toMatchObject([{ state: 'admitted' }]);
  const late = watch(askNode(caller, 'target')); // connected, does not serve
  await loopTurns(8);
  expect([early.state, late.state]).toEqual(['pending', 'pending']);
  target.serve();
  await loopTurns(16);
  expect([early, late]).toEqual([
    { state: 'resolved', value: 'target' },
    { state: 'resolved', value: 'target' },
  ]);
});

test('[NODE-001] a member that is not ready within the send timeout is Unavailable, saying where and why', async () => {
  const cluster = arrangeCluster();
  const caller = await startNode(cluster, 'caller', {
    with: (mesh) => void mesh.connect('target', 'tcp://127.0.0.1:1').setSendTimeoutMs(700),
  });
  await cluster.clock.advanceAsync(200);
  const calls = [
    rejection(askNode(caller, 'target')),
    rejection(caller.sendToNode(MESH, 'target', Notice({ text: 'x' })).submit()),
  ];
  const outcomes = calls.map(watch);
  await cluster.clock.advanceAsync(699);
  expect(outcomes.some(isSettled)).toBe(false);
  await cluster.clock.advanceAsync(32); // a tick of the wheel
  for (const call of calls) {
    const error = await call;
    expect(error).toMatchObject({ kind: 'Unavailable', submitted: false });
    for (const part of ['node "target"', 'mesh "game"', '700 ms', 'tcp://127.0.0.1:1', 'connecting', 'refused']) {
      expect(error.message).toContain(part);
    }
  }
});

test('[NODE-001] a request whose own time is shorter than the send timeout is DeadlineExceeded', async () => {
  const cluster = arrangeCluster();
  const caller = await startNode(cluster, 'caller', {
    with: (mesh) => void mesh.connect('target', 'tcp://127.0.0.1:1'),
  });
  const lost = rejection(caller.requestToNode(MESH, 'target', Ask(1)).timeoutMs(300).submit());
  await cluster.clock.advanceAsync(350);
  await expect(lost).resolves.toMatchObject({ kind: 'DeadlineExceeded', submitted: false });
});

test('[NODE-001] [CALL-003] one send timeout bounds the wait for a node and the wait for credit behind it', async () => {
  const cluster = arrangeCluster();
  const gate = new Gate();
  const target = await describeNode(cluster, 'target', {
    host: { maxWindowBytes: 65_536, permits: { max: 1 } },
    with: (mesh) => void mesh.concurrency(1).addRouteSendHandler(Notice, () => gate.opened),
  }).open();
  const caller = await startNode(cluster, 'caller', { connect: [target] });
  await cluster.clock.advanceAsync(100);
  const text = 'x'.repeat(60_000);
  const sends = Array.from({ length: 5 }, () => watch(caller.sendToNode(MESH, 'target', Notice({ text })).submit()));
  await cluster.clock.advanceAsync(600);
  target.serve();
  await cluster.clock.advanceAsync(100);
  expect(sends[0]).toMatchObject({ state: 'resolved' });
  expect(sends[4]).toMatchObject({ state: 'pending' });
  await cluster.clock.advanceAsync(350); // 1,050 ms since the calls, 450 ms since the node is ready
  expect(sends[4]?.value).toMatchObject({ kind: 'DeadlineExceeded' });
  gate.open();
  await loopTurns(8);
});

test('[NODE-001] a draining peer is addressed, and answers ShuttingDown itself', async () => {
  const cluster = arrangeCluster();
  const target = await startNode(cluster, 'target');
  const caller = await joinNode(cluster, 'caller', { connect: [target] });
  target.drain();
  await loopTurns(8);
  expect(caller.peers(MESH)).toMatchObject([{ state: 'ready', draining: true }]);
  await expect(rejection(askNode(caller, 'target'))).resolves.toMatchObject({ kind: 'ShuttingDown', submitted: true });
  expect(target.counters(MESH, 'request').dropped).toEqual({ shutdown: 1 });
});

test('[NODE-001] a RID that once was admitted stays a member while its intent stands', async () => {
  const cluster = arrangeCluster();
  const target = await startNode(cluster, 'target');
  const endpoint = endpointOf(target);
  const caller = await joinNode(cluster, 'caller', { connect: [target] });
  await target.kill();
  await loopTurns(8);
  const waiting = watch(askNode(caller, 'target'));
  await cluster.clock.advanceAsync(100);
  expect(waiting.state).toBe('pending');
  caller.runtime(MESH).peers.disconnect(endpoint);
  await loopTurns(4);
  expect(waiting).toMatchObject({ state: 'rejected', value: { kind: 'NotFound' } });
  await expect(rejection(askNode(caller, 'target'))).resolves.toMatchObject({ kind: 'NotFound' });
  expect(routesOf(caller)).toBe(0);
});

test('[NODE-001] a RID that merely answered and was refused is no member', async () => {
  const cluster = arrangeCluster();
  const other = await startNode(cluster, 'other');
  const caller = await startNode(cluster, 'caller', {
    with: (mesh) => void mesh.connect('expected', endpointOf(other)),
  });
  await cluster.clock.advanceAsync(50);
  expect(caller.peers(MESH)).toMatchObject([{ state: 'rejected', routingId: 'other' }]);
  await expect(rejection(askNode(caller, 'other'))).resolves.toMatchObject({ kind: 'NotFound' });
});

test('[NODE-001] an Object Client is no target of direct messages', async () => {
  const cluster = arrangeCluster();
  const caller = await startNode(cluster, 'caller');
  const client = cluster.add(new RawNode(cluster, MESH, { rid: 'object-client', objectRole: 'client' }));
  client.dial(endpointOf(caller));
  await cluster.passing(caller.runtime(MESH).whenReady(1));
  const error = await rejection(askNode(caller, 'object-client'));
  expect(error).toMatchObject({ kind: 'NotFound', submitted: false });
  expect(error.message).toContain('object client');
  expect(client.received).toEqual([]);
});

test('[NODE-001] an Object Client that serves a channel is chosen there like any other', async () => {
  const cluster = arrangeCluster();
  const caller = await startNode(cluster, 'caller');
  const channels = [{ name: CHANNEL, weight: 100 }];
  const client = cluster.add(new RawNode(cluster, MESH, { rid: 'object-client', objectRole: 'client', channels }));
  client.answer = (request) => client.reply(request, '"from a client"');
  client.dial(endpointOf(caller));
  await cluster.passing(caller.runtime(MESH).whenReady(1));
  await expect(caller.requestToChannel(MESH, CHANNEL, Ask(1)).submit()).resolves.toBe('from a client');
});

test('[NODE-002] one packet has a handler of its own in the node, in each channel and in each mesh', async () => {
  const cluster = arrangeCluster();
  const host = cluster.host('server');
  for (const meshName of ['one', 'two']) {
    const mesh = host.builder(meshName).routingId('server');
    mesh.addRouteRequestHandler(Ask, () => `${meshName} direct`);
    for (const channel of ['a', 'b']) {
      const name = `${meshName}-${channel}`;
      mesh
        .channel(name)
        .server()
        .addRequestHandler(Ask, () => name);
    }
  }
  await host.start();
  const caller = cluster.host('caller');
  for (const meshName of ['one', 'two']) {
    const mesh = caller.builder(meshName).routingId('caller').connect(endpointOf(host, meshName));
    for (const channel of ['a', 'b']) mesh.channel(`${meshName}-${channel}`).client();
  }
  await caller.start();
  const answers: unknown[] = [];
  for (const meshName of ['one', 'two']) {
    await cluster.passing(caller.runtime(meshName).whenReady(1));
    answers.push(await caller.requestToNode(meshName, 'server', Ask(1)).submit());
    for (const channel of ['a', 'b']) {
      answers.push(await caller.requestToChannel(meshName, `${meshName}-${channel}`, Ask(1)).submit());
    }
  }
  expect(answers).toEqual(['one direct', 'one-a', 'one-b', 'two direct', 'two-a', 'two-b']);
});

test('[NODE-002] [DISP-003] the handler of a direct message knows its mesh and both nodes', async () => {
  const cluster = arrangeCluster();
  const contexts: NodeContext[] = [];
  const target = await startNode(cluster, 'target', {
    answerDirect: (_, context) => (contexts.push(context), 1),
    with: (mesh) => void mesh.addRouteSendHandler(Notice, (_, context) => void contexts.push(context)),
  });
  const caller = await joinNode(cluster, 'caller', { connect: [target] });
  await askNode(caller, 'target');
  await caller.sendToNode(MESH, 'target', Notice({ text: 'x' })).submit();
  await until(() => contexts.length === 2, 'both are handled');
  const facts = contexts.map(({ meshName, sourceNodeRid, targetNodeRid, kind, packetName, correlationId }) => {
    return { meshName, sourceNodeRid, targetNodeRid, kind, packetName, correlationId };
  });
  const common = { meshName: MESH, sourceNodeRid: 'caller', targetNodeRid: 'target' };
  expect(facts).toEqual([
    { ...common, kind: 'request', packetName: 'match.ask', correlationId: expect.any(String) as string },
    { ...common, kind: 'send', packetName: 'system.notice', correlationId: undefined },
  ]);
});

test('[NODE-002] a direct message without a handler reaches none of a channel, and the other way round', async () => {
  const cluster = arrangeCluster();
  const target = cluster.host('target');
  const mesh = target.builder(MESH).routingId('target');
  mesh.addRouteRequestHandler(Ask, () => 'direct');
  mesh
    .channel(CHANNEL)
    .server()
    .addSendHandler(Notice, () => {
      throw new Error('it is the node that was addressed');
    });
  await target.start();
  const caller = await joinNode(cluster, 'caller', { connect: [target] });
  await expect(rejection(caller.requestToChannel(MESH, CHANNEL, Ask(1)).submit())).resolves.toMatchObject({
    kind: 'NotFound',
    submitted: true,
  });
  await caller.sendToNode(MESH, 'target', Notice({ text: 'x' })).submit();
  await until(() => target.counters(MESH, 'send').accepted === 1, 'the notice arrives');
  expect(target.counters(MESH, 'send').dropped).toEqual({ no_handler: 1 });
  expect(target.unhandled).toEqual([]);
});

test('[CHAN-005] metadata arrives as set on direct and channel calls, and is not copied to what the handler starts', async () => {
  const cluster = arrangeCluster();
  const seen: string[] = [];
  const target = await startNode(cluster, 'target', {
    weight: 100,
    answer: (_, { metadata: given }) => [...given],
    answerDirect: async (_, context) => {
      seen.push(JSON.stringify([...context.metadata]));
      return askNode(target, 'caller');
    },
  });
  const caller = await joinNode(cluster, 'caller', {
    connect: [target],
    answerDirect: (_, { metadata: given }) => void seen.push(`back: ${given.size}`),
  });
  await caller.requestToNode(MESH, 'target', Ask(1)).metadata('a', '1').metadata('a', '2').submit();
  expect(seen).toEqual(['[["a","2"]]', 'back: 0']);
  const call = caller.requestToChannel(MESH, CHANNEL, Ask(1)).metadata(metadata({ tenant: 't-1' }));
  await expect(call.submit()).resolves.toEqual([['tenant', 't-1']]);
});

test('[CALL-002] an abort ends the wait and reaches the handler of a direct and of a channel request', async () => {
  const cluster = arrangeCluster();
  const ended: string[] = [];
  const untilAborted = (what: string) => async (_: unknown, context: { readonly signal: AbortSignal }) => {
    await new Promise((resolve) => context.signal.addEventListener('abort', resolve));
    ended.push(what);
  };
  const target = await startNode(cluster, 'target', {
    weight: 100,
    answer: untilAborted('channel'),
    answerDirect: untilAborted('direct'),
  });
  const caller = await joinNode(cluster, 'caller', { connect: [target] });
  const controller = new AbortController();
  const calls = [
    watch(caller.requestToNode(MESH, 'target', Ask(1)).submit(controller.signal)),
    watch(caller.requestToChannel(MESH, CHANNEL, Ask(1)).submit(controller.signal)),
  ];
  const running = (): number => target.counters(MESH, 'request').running + target.counters(CHANNEL, 'request').running;
  await until(() => running() === 2, 'both run');
  controller.abort('enough');
  await loopTurns(8);
  expect(calls).toEqual([
    { state: 'rejected', value: 'enough' },
    { state: 'rejected', value: 'enough' },
  ]);
  expect(ended.sort()).toEqual(['channel', 'direct']);
});

test('[CALL-002] an abort ends the wait for a node that is not ready', async () => {
  const cluster = arrangeCluster();
  const caller = await startNode(cluster, 'caller', {
    with: (mesh) => void mesh.connect('target', 'tcp://127.0.0.1:1'),
  });
  const before = routesOf(caller);
  const controller = new AbortController();
  const call = watch(caller.requestToNode(MESH, 'target', Ask(1)).submit(controller.signal));
  await loopTurns(4);
  expect(call.state).toBe('pending');
  controller.abort('enough');
  await loopTurns(2);
  expect(call).toEqual({ state: 'rejected', value: 'enough' });
  expect(routesOf(caller)).toBe(before + 1); // of a member; nobody waits on it
});

test('[WIRE-006] the time a direct request has left reaches the handler and what it starts', async () => {
  const cluster = arrangeCluster();
  const gate = new Gate();
  const end = new Gate();
  const target = await startNode(cluster, 'target', {
    answerDirect: async (_, context) => {
      await gate.opened;
      return target.requestToNode(MESH, 'caller', Ask(1)).submit(context.signal);
    },
  });
  const caller = await joinNode(cluster, 'caller', {
    connect: [target],
    answerDirect: () => end.opened,
  });
  const lost = rejection(caller.requestToNode(MESH, 'target', Ask(1)).timeoutMs(500).submit());
  await cluster.clock.advanceAsync(400);
  gate.open();
  await until(() => caller.counters(MESH, 'request').running === 1, 'the request comes back');
  await cluster.clock.advanceAsync(150);
  await expect(lost).resolves.toMatchObject({ kind: 'DeadlineExceeded' });
  expect(target.counters(MESH, 'request').running).toBe(0);
  end.open();
  await loopTurns(4);
});

test('[ERR-002] an error that a direct handler throws as ZLinkError is the error of the caller', async () => {
  const cluster = arrangeCluster();
  const target = await startNode(cluster, 'target', {
    answerDirect: () => {
      throw new ZLinkError('Rejected', 'not today');
    },
  });
  const caller = await joinNode(cluster, 'caller', { connect: [target] });
  const error = await rejection(askNode(caller, 'target'));
  expect(error).toMatchObject({ kind: 'Rejected', submitted: true });
  expect(error.message).toContain('not today');
});

/** Routes and waiting calls that the node keeps. */
function routesOf(host: TestHost): number {
  return host.mesh(MESH).keptRoutes;
}
