import type { Link } from '../../../src/internal/transport/index.ts';
import {
  encodeHello,
  encodeRejection,
  EndpointKind,
  ObjectRole,
  ownHello,
  RejectReason,
} from '../../../src/internal/wire/hello.ts';
import { MIN_WINDOW_BYTES } from '../../../src/internal/wire/limits.ts';
import { RecordKind } from '../../../src/internal/wire/record.ts';
import { parseEndpoint } from '../../../src/identity/index.ts';
import { sendRecord } from '../../../src/internal/link/handshake.ts';
import { DESCRIPTOR } from './link-side.ts';
import { type TestHost, TestNetwork } from './test-host.ts';
import { TestRecord } from './test-record.ts';

const NOBODY = 'tcp://nobody:9';
/** With the fixed chance of the test's hosts every delay of the backoff is three quarters of its step. */
const delaysMs = [75, 150, 300, 600, 1_200, 2_400, 3_750, 3_750];

/** Admits whoever comes, gives no link a number and says nothing more; resolves with where. */
async function listenAdmitting(host: TestHost, says: Partial<Parameters<typeof ownHello>[0]> = {}): Promise<string> {
  const admit = ownHello({
    kind: EndpointKind.channelServer,
    generation: 1n,
    windowBytes: MIN_WINDOW_BYTES,
    maxMessageBytes: 0,
    rid: 'far',
    scope: 'billing',
    endpoint: '',
    publicKey: '',
    descriptor: DESCRIPTOR,
    ...says,
  });
  const where = { address: 'tcp://other:0', maxPartBytes: 0, onRefused: () => undefined };
  const { address } = await host.engine.listen(where, (pipe) => {
    sendRecord(pipe, RecordKind.admit, encodeHello(admit));
    return { onPipeOpen: () => undefined, onPipeMessage: () => undefined, onPipeClosed: () => undefined };
  });
  return address;
}

test('[CORE-009] attempts to an address where nobody answers follow the backoff, and start small after a success', async () => {
  const net = new TestNetwork();
  const near = net.host('near');
  const far = net.host('far', { policy: 'every' });
  const listener = await far.listen();
  const { endpoint } = listener;
  net.network.refuse(endpoint);
  const attemptsAtMs: number[] = [];
  near.onState = (intent) => {
    if (['connecting', 'reconnecting'].includes(intent.state) && intent.reason !== undefined)
      attemptsAtMs.push(net.clock.nowMs());
  };
  const intent = near.dial(endpoint);
  const beganAtMs = net.clock.nowMs();
  await net.pass(13_000, 5);
  // Each attempt shows twice: it begins, and it has failed a turn later.
  const begins = [...new Set(attemptsAtMs.map((atMs) => atMs - beganAtMs))];
  const expected = delaysMs.map((_, at) => delaysMs.slice(0, at).reduce((sum, ms) => sum + ms, 0));
  for (const [at, ms] of expected.entries()) expect(Math.abs((begins[at] ?? 0) - ms)).toBeLessThanOrEqual(10 + 5 * at);
  expect([intent.state, intent.reason]).toEqual(['connecting', 'connection refused']);
  net.network.restore();
  await net.pass(4_000);
  expect([intent.state, intent.reason, intent.rid]).toEqual(['admitted', undefined, 'far']);
  attemptsAtMs.length = 0;
  net.network.cut('*');
  const brokenAtMs = net.clock.nowMs();
  await net.pass(200, 5);
  expect([intent.state, near.opened.length]).toEqual(['admitted', 2]);
  expect(Math.abs((attemptsAtMs.at(-1) ?? 0) - brokenAtMs - 75)).toBeLessThanOrEqual(10);
  expect(await net.close()).toEqual([]);
});

test('[CORE-007] attempts that fail keep no window, however many there are', async () => {
  const net = new TestNetwork();
  const near = net.host('near');
  const far = net.host('far', { policy: 'every' });
  far.onRefuse = () => 'never';
  const listener = await far.listen();
  for (let at = 0; at < 20; at++) near.dial(listener.endpoint);
  await net.pass(20_000, 50);
  expect(far.greeted).toBeGreaterThan(100);
  expect([near.transport.status.grantedBytes, far.transport.status.grantedBytes]).toEqual([0, 0]);
  expect(near.states).toContain('rejected');
  expect(await net.close()).toEqual([]);
});

test('[CORE-009] [WIRE-001] a peer that says nothing, or garbage, is left after its time and tried again', async () => {
  const net = new TestNetwork();
  const near = net.host('near');
  const stranger = net.host('stranger');
  let connections = 0;
  const listener = await stranger.engine.listen(
    { address: 'tcp://stranger:0', maxPartBytes: 0, onRefused: () => undefined },
    (pipe) => {
      if (++connections === 2) pipe.send([Uint8Array.of(1, 2, 3)]);
      return { onPipeOpen: () => undefined, onPipeMessage: () => undefined, onPipeClosed: () => undefined };
    },
  );
  const intent = near.dial(listener.address);
  await net.pass(4_900);
  expect([connections, intent.state]).toEqual([1, 'connecting']);
  await net.pass(300);
  expect(connections).toBe(2);
  expect(intent.reason).toMatch(/no answer to the handshake within 5000 ms|handshake is malformed/);
  await net.pass(300);
  expect(connections).toBe(3);
  expect(near.opened).toEqual([]);
  expect(near.transport.status.grantedBytes).toBeLessThanOrEqual(1_048_576);
  expect(await net.close()).toEqual([]);
});

const objectClient = { ...DESCRIPTOR, objectRole: ObjectRole.client, channels: [] };

test('[MESH-003] [CORE-009] a peer that is not required ends the intent for good, on whichever side it shows', async () => {
  const net = new TestNetwork();
  const near = net.host('near', { policy: 'smallerRid' });
  const far = net.host('far', { policy: 'smallerRid' });
  const listener = await far.listen({ descriptor: objectClient });
  const intent = near.dial(listener.endpoint, { descriptor: objectClient });
  await net.settle();
  expect([intent.state, intent.reason]).toEqual([
    'notRequired',
    'both sides are object clients without a channel to serve',
  ]);
  const stranger = { kind: EndpointKind.meshNode, generation: 5n, rid: 'someone', descriptor: objectClient };
  const address = await listenAdmitting(far, stranger);
  const other = near.dial(address, { descriptor: objectClient });
  await net.settle();
  expect(other.state).toBe('notRequired');
  const states = near.states.length;
  await net.pass(60_000, 500);
  expect([intent.state, other.state, near.states.length]).toEqual(['notRequired', 'notRequired', states]);
  expect(near.transport.status.grantedBytes).toBe(0);
  await intent.close(0);
  expect(intent.state).toBe('closed');
  expect(await net.close()).toEqual([]);
});

test('[TRACE-020] links that a peer gives no number to have names of their own here', async () => {
  const net = new TestNetwork();
  const near = net.host('near', { policy: 'every' });
  near.dial(await listenAdmitting(net.host('far')));
  await net.settle();
  near.opened[0]?.fail('cut');
  await net.pass(200);
  expect(new Set(near.opened.map(({ correlationScope: { own } }) => own)).size).toBe(2);
  expect(await net.close()).toEqual([]);
});

test.each([
  [{ expectedRid: 'else' }, 'endpoint is server "far", expected "else"'],
  [{ expectedGeneration: 2n }, 'endpoint is generation 1 of server "far", expected 2'],
])('[WIRE-001] [NET-004] whoever refuses: %o reads "%s"', async (expected, reason) => {
  const net = new TestNetwork();
  const near = net.host('near');
  const far = net.host('far', { policy: 'every' });
  const listener = await far.listen();
  const ofOlderVersion = await listenAdmitting(far); // which does not look at whom a hello expects
  const intents = [listener.endpoint, ofOlderVersion].map((address) => near.dial(address, expected));
  await net.settle();
  for (const intent of intents) expect([intent.state, intent.reason, intent.rid]).toEqual(['rejected', reason, 'far']);
  expect([near.opened, far.opened, far.greeted]).toEqual([[], [], 0]);
  expect(await net.close()).toEqual([]);
});

test.each([
  [RejectReason.wrongRid, 'liar', {}, 'peer: no'],
  [RejectReason.wrongGeneration, 'liar', { expectedRid: 'else' }, 'peer: no'],
  [RejectReason.wrongGeneration, undefined, { expectedGeneration: 2n }, 'peer: no'],
  [RejectReason.duplicate, 'b', { expectedRid: 'someone' }, 'endpoint is "b", expected "someone"'],
])('[WIRE-001] reason %d of "%s" is no answer to %o', async (reason, rid, expected, reads) => {
  const net = new TestNetwork();
  const near = net.host('near');
  const listener = await net
    .host('stranger')
    .engine.listen({ address: 'tcp://stranger:0', maxPartBytes: 0, onRefused: () => undefined }, (pipe) => {
      const rejection = { reason, text: 'no', ...(rid === undefined ? {} : { rid }) };
      sendRecord(pipe, RecordKind.reject, encodeRejection(rejection));
      return { onPipeOpen: () => undefined, onPipeMessage: () => undefined, onPipeClosed: () => undefined };
    });
  const intent = near.dial(listener.address, expected);
  await net.settle();
  expect([intent.state, intent.reason, intent.rid]).toEqual(['rejected', reads, undefined]);
  expect(await net.close()).toEqual([]);
});

test('[CORE-010] two nodes that dial each other: the resting one does not dial while the kept link lives', async () => {
  const net = new TestNetwork();
  const a = net.host('a', { policy: 'smallerRid' });
  const b = net.host('b', { policy: 'smallerRid' });
  const [atA, atB] = [await a.listen(), await b.listen()];
  const toB = a.dial(atB.endpoint, { through: atA });
  await net.settle();
  const toA = b.dial(atA.endpoint, { through: atB });
  await net.settle();
  expect([toB.state, toA.state]).toEqual(['admitted', 'resting']);
  const greetedBefore = a.greeted + b.greeted;
  await net.pass(30_000, 100);
  expect([toB.state, toA.state, a.greeted + b.greeted]).toEqual(['admitted', 'resting', greetedBefore]);
  expect(toA.reason).toBe('"a" is already connected');
  let isWithdrawn = false;
  void toB.close(1_000).then(() => (isWithdrawn = true));
  await net.pass(2_000);
  expect([isWithdrawn, toA.state]).toEqual([true, 'admitted']); // now it takes over
  expect([a.openLinks.length, b.openLinks.length]).toEqual([1, 1]);
  expect(await net.close()).toEqual([]);
});

test("[CORE-010] an intent that rests for a link of its own side has no timer and hears of that link's end", async () => {
  const net = new TestNetwork();
  const near = net.host('near');
  const far = net.host('far', { policy: 'every' });
  const listener = await far.listen();
  const first = near.dial(listener.endpoint);
  await net.settle();
  const timers = net.clock.pendingTimers;
  const second = near.dial(listener.endpoint);
  await net.settle();
  expect([first.state, second.state, net.clock.pendingTimers]).toEqual(['admitted', 'resting', timers]);
  const states = near.states.length;
  await net.pass(60_000, 500);
  expect([second.state, near.states.length, far.opened.length]).toEqual(['resting', states, 2]);
  far.openLinks[0]?.fail('had enough'); // both are dialled after the same delay, and the first one is first again
  await net.settle();
  expect([first.state, second.state, second.reason]).toEqual(['reconnecting', 'connecting', 'peer: had enough']);
  await net.pass(200, 5);
  expect([first.state, second.state].sort()).toEqual(['admitted', 'resting']);
  await second.close(0);
  await first.close(0);
  expect(await net.close()).toEqual([]);
});

test('[CORE-010] an intent that is withdrawn while it rests is not woken by the end of the kept link', async () => {
  const net = new TestNetwork();
  const near = net.host('near');
  const far = net.host('far', { policy: 'every' });
  const listener = await far.listen();
  const first = near.dial(listener.endpoint);
  await net.settle();
  const second = near.dial(listener.endpoint);
  await net.settle();
  await second.close(0);
  const states = near.states.length;
  await first.close(0);
  await net.pass(10_000, 100);
  expect([second.state, near.states.slice(states), near.openLinks]).toEqual(['closed', ['closed'], []]);
  expect(await net.close()).toEqual([]);
});

test('[CORE-009] [CORE-010] a peer that knows a link which is unknown here is asked again after the backoff, each time later', async () => {
  const net = new TestNetwork();
  const near = net.host('near');
  const stranger = net.host('stranger');
  const dialedAtMs: number[] = [];
  const listener = await stranger.engine.listen(
    { address: 'tcp://stranger:0', maxPartBytes: 0, onRefused: () => undefined },
    (pipe) => {
      dialedAtMs.push(net.clock.nowMs());
      const rejection = { reason: RejectReason.duplicate, text: 'already connected', rid: 'stranger' };
      sendRecord(pipe, RecordKind.reject, encodeRejection(rejection));
      return { onPipeOpen: () => undefined, onPipeMessage: () => undefined, onPipeClosed: () => undefined };
    },
  );
  const intent = near.dial(listener.address);
  await net.settle();
  expect([intent.state, intent.reason]).toEqual(['resting', 'peer: already connected']);
  expect(intent.rid).toBeUndefined(); // it only says who it is
  await net.pass(13_000, 5);
  const gapsMs = dialedAtMs.slice(1).map((atMs, at) => atMs - dialedAtMs[at]!); // one fewer than instants
  expect(gapsMs).toHaveLength(delaysMs.length);
  for (const [at, ms] of delaysMs.entries()) expect(Math.abs((gapsMs[at] ?? 0) - ms)).toBeLessThanOrEqual(10);
  expect(await net.close()).toEqual([]);
});

/** A node that is dialled at one address and advertises another one, with the link that `near` has accepted from it. */
async function arrangeMisadvertised(net: TestNetwork) {
  const near = net.host('z', { policy: 'smallerRid' });
  const far = net.host('b', { policy: 'smallerRid' });
  const [atNear, atFar] = [await near.listen(), await far.listen({ advertiseHost: 'elsewhere' })];
  const kept = far.dial(atNear.endpoint, { through: atFar });
  await net.settle();
  expect(kept.state).toBe('admitted');
  return { near, far, atNear, atFar, kept };
}

test('[CORE-010] an intent rests for the peer that refused it, wherever that says it can be dialled', async () => {
  const net = new TestNetwork();
  const { near, far, atNear, atFar, kept } = await arrangeMisadvertised(net);
  const intent = near.dial(atFar.boundAddress, { through: atNear });
  await net.settle();
  expect([intent.state, intent.reason, intent.rid]).toEqual(['resting', '"b" is already connected', 'b']);
  const greetedBefore = far.greeted;
  await net.pass(20_000, 100);
  expect([intent.state, far.greeted]).toEqual(['resting', greetedBefore]); // it has not asked again
  void kept.close(1_000);
  await net.pass(2_000);
  expect(intent.state).toBe('admitted');
  expect(await net.close()).toEqual([]);
});

test('[CORE-010] a peer that advertises the address of another one is not taken for it', async () => {
  const net = new TestNetwork();
  const { near, atNear, atFar } = await arrangeMisadvertised(net);
  const liar = net.host('c', { policy: 'smallerRid' });
  const { host, port } = parseEndpoint(atFar.boundAddress) ?? { host: '', port: 0 };
  const atLiar = await liar.listen({ bindAddress: `tcp://liar:${port}`, advertiseHost: host });
  expect(atLiar.endpoint).toBe(atFar.boundAddress);
  const ofLiar = liar.dial(atNear.endpoint, { through: atLiar });
  await net.settle();
  expect([ofLiar.state, near.openLinks.length]).toEqual(['admitted', 2]);
  const intent = near.dial(atFar.boundAddress, { through: atNear });
  await net.settle();
  expect([intent.state, intent.reason, intent.rid]).toEqual(['resting', '"b" is already connected', 'b']);
  void ofLiar.close(1_000);
  await net.pass(2_000);
  expect([intent.state, near.openLinks.map(({ peer }) => peer.rid)]).toEqual(['resting', ['b']]);
  expect(await net.close()).toEqual([]);
});

test('[CORE-010] an intent that expects another RID than that of the peer which refused it does not rest', async () => {
  const net = new TestNetwork();
  const { near, atNear, atFar } = await arrangeMisadvertised(net);
  const intent = near.dial(atFar.boundAddress, { through: atNear, expectedRid: 'someone' });
  await net.settle();
  expect([intent.state, intent.reason]).toEqual(['rejected', 'endpoint is node "b", expected "someone"']);
  expect(await net.close()).toEqual([]);
});

test('[CORE-010] whatever the delays, dials that cross leave the link of the smaller RID, and nothing that was accepted is lost', async () => {
  for (let seed = 0; seed < 40; seed++) {
    const net = new TestNetwork();
    const a = net.host('a', { policy: 'smallerRid' });
    const b = net.host('b', { policy: 'smallerRid' });
    const accepted = new Map([
      [a, 0],
      [b, 0],
    ]);
    for (const host of [a, b]) {
      host.onOpen = (link: Link) => {
        for (let at = 0; at < 5; at++) TestRecord.send().submit(link);
        accepted.set(host, (accepted.get(host) ?? 0) + 5);
      };
    }
    const [atA, atB] = [await a.listen(), await b.listen()];
    net.network.delay(atA.endpoint, (seed % 5) * 30, 'toListener');
    net.network.delay(atB.endpoint, (seed % 3) * 30, 'toListener');
    net.network.delay(atA.endpoint, (seed % 4) * 30, 'toDialer');
    net.network.delay(atB.endpoint, (seed % 7) * 30, 'toDialer');
    const first = seed % 2 === 0 ? a : b;
    const dial = { a: () => a.dial(atB.endpoint, { through: atA }), b: () => b.dial(atA.endpoint, { through: atB }) };
    const firstIntent = dial[first === a ? 'a' : 'b']();
    await net.pass((seed % 6) * 20, 10);
    const secondIntent = dial[first === a ? 'b' : 'a']();
    await net.pass(3_000, 10);
    const kept = a.openLinks;
    expect([seed, kept.length, b.openLinks.length]).toEqual([seed, 1, 1]);
    expect([seed, (first === a ? firstIntent : secondIntent).link]).toEqual([seed, kept[0]]);
    expect([seed, a.received, b.received]).toEqual([seed, accepted.get(b), accepted.get(a)]);
    expect([seed, await net.close()]).toEqual([seed, []]);
  }
}, 240_000);

test('[CS-009] an old generation that comes back after its successor was admitted is refused for good', async () => {
  const net = new TestNetwork();
  const near = net.host('near');
  const old = net.host('server', { policy: 'every', generation: 9n });
  const fresh = net.host('server', { policy: 'every', generation: 3n });
  const [atOld, atFresh] = [await old.listen(), await fresh.listen()];
  const toOld = near.dial(atOld.endpoint);
  await net.settle();
  net.network.cut(atOld.endpoint);
  net.network.refuse(atOld.endpoint);
  await net.pass(100);
  const toFresh = near.dial(atFresh.endpoint);
  await net.settle();
  expect([toOld.state, toFresh.state]).toEqual(['reconnecting', 'admitted']);
  net.network.restore(); // the old one is reachable again
  await net.pass(20_000, 100);
  expect([toOld.state, toFresh.state]).toEqual(['rejected', 'admitted']);
  expect(toOld.reason).toBe('generation 9 of "server" was replaced by a newer one');
  expect(near.openLinks.map((link) => link.peer.generation)).toEqual([3n]);
  net.network.cut(atFresh.endpoint);
  net.network.refuse(atFresh.endpoint);
  await net.pass(20_000, 100);
  expect([toOld.state, near.openLinks]).toEqual(['rejected', []]); // not even when nobody else is there
  expect(await net.close()).toEqual([]);
});

test('[CORE-009] an intent that its owner withdraws as soon as it hears of a state leaves no connection', async () => {
  for (const state of ['connecting', 'admitted', 'rejected'] as const) {
    const net = new TestNetwork();
    const near = net.host('near');
    const far = net.host('far', { policy: 'every' });
    const listener = await far.listen();
    if (state === 'rejected') far.onRefuse = () => 'no';
    near.onState = (intent) => {
      if (intent.state === state) void intent.close(0);
    };
    // The first state is told before `dial` returns: its owner acts on what the callback gave it.
    const intent = near.dial(listener.endpoint);
    await net.pass(2_000);
    expect([state, intent.state, net.network.openConnections]).toEqual([state, 'closed', 0]);
    expect([near.transport.status.links, far.transport.status.links]).toEqual([0, 0]);
    expect(await net.close()).toEqual([]);
  }
});

test('[CORE-009] an intent that is withdrawn while its link is opened is not linked again', async () => {
  const net = new TestNetwork();
  const near = net.host('near');
  const far = net.host('far', { policy: 'every' });
  const listener = await far.listen();
  const intent = near.dial(listener.endpoint);
  near.onOpen = () => void intent.close(0);
  await net.pass(2_000);
  expect([intent.state, intent.link, near.openLinks, far.openLinks]).toEqual(['closed', undefined, [], []]);
  expect(near.states.at(-1)).toBe('closed');
  expect(await net.close()).toEqual([]);
});

test('[CORE-009] a link that its topic ends at once is dialled again, on both sides', async () => {
  const net = new TestNetwork();
  const near = net.host('near');
  const far = net.host('far', { policy: 'every' });
  const listener = await far.listen();
  near.onOpen = (link) => {
    if (near.opened.length <= 2) link.fail('not yet');
  };
  far.onOpen = (link) => {
    if (far.opened.length === 3) link.fail('not now');
  };
  const intent = near.dial(listener.endpoint);
  await net.pass(3_000);
  expect([intent.state, intent.link?.phase]).toEqual(['admitted', 'open']);
  expect([near.closed, far.closed.length]).toEqual([['not yet', 'not yet', 'peer: not now'], 3]);
  expect(listener.links.size).toBe(1);
  expect(await net.close()).toEqual([]);
});

test('[CORE-009] an owner that throws when it hears of a state disturbs no attempt', async () => {
  const net = new TestNetwork();
  const near = net.host('near');
  const far = net.host('far', { policy: 'every' });
  const listener = await far.listen();
  near.onState = () => {
    throw new Error('the owner is broken');
  };
  const intent = near.dial(listener.endpoint);
  await net.settle();
  expect(intent.state).toBe('admitted');
  TestRecord.send().submit(intent.link as Link); // the state says so
  await net.settle();
  expect(far.received).toBe(1);
  expect(near.logged).toContainEqual(expect.objectContaining({ eventId: 'zlink.transport.callback_failed' }));
  expect(await net.close()).toEqual([]);
});

test('[WIRE-001] a descriptor that changes while a dial is under way reaches the peer', async () => {
  const net = new TestNetwork();
  const a = net.host('a', { policy: 'smallerRid' });
  const b = net.host('b', { policy: 'smallerRid' });
  const [atA, atB] = [await a.listen(), await b.listen()];
  net.network.delay(atB.endpoint, 100);
  const intent = a.dial(atB.endpoint, { through: atA });
  await net.pass(250, 10); // the hello has left, its answer is not here yet
  expect(intent.state).toBe('connecting');
  const next = { ...DESCRIPTOR, revision: 2n, channels: [{ name: 'billing', weight: 7 }] };
  atA.update(next);
  await net.pass(500, 10);
  expect([intent.state, b.openLinks[0]?.descriptor]).toEqual(['admitted', next]);
  expect(await net.close()).toEqual([]);
});

test('[CORE-011] closing an intent waits for its own link, and not for one it had before', async () => {
  const net = new TestNetwork();
  const near = net.host('near');
  const far = net.host('far', { policy: 'every' });
  const listener = await far.listen();
  const intent = near.dial(listener.endpoint);
  await net.settle();
  const request = TestRecord.request().submit(intent.link as Link); // it is admitted
  await net.settle();
  let isClosed = false;
  void intent.close(1_000).then(() => (isClosed = true));
  await net.pass(900);
  expect([isClosed, request.journal]).toEqual([false, []]);
  await net.pass(200);
  expect([isClosed, request.journal, request.error?.kind]).toEqual([true, ['failed'], 'ShuttingDown']);
  expect(await net.close()).toEqual([]);
});

test('[CORE-011] closing a transport does not wait for an intent that is still lingering', async () => {
  const net = new TestNetwork();
  const near = net.host('near');
  const far = net.host('far', { policy: 'every' });
  const listener = await far.listen();
  const intent = near.dial(listener.endpoint);
  await net.settle();
  const request = TestRecord.request().submit(intent.link as Link); // it is admitted
  await net.settle();
  const closing = intent.close(600_000);
  expect(await net.close()).toEqual([]);
  await closing;
  expect(request.error?.kind).toBe('ShuttingDown');
});

test('[CORE-014] nobody is dialled any more once the intent is closed', async () => {
  const net = new TestNetwork();
  const near = net.host('near');
  const intent = near.dial(NOBODY);
  await net.pass(1_000);
  await intent.close(0);
  await intent.close(0);
  const states = near.states.length;
  await net.pass(60_000, 500);
  expect([near.states.length, net.network.openConnections]).toEqual([states, 0]);
  expect(await net.close()).toEqual([]);
});
