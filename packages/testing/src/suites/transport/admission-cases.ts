/** Who is let in, with which facts, and what both sides learn of a refusal (WIRE-001, NET-004). */
import assert from 'node:assert/strict';
import { EndpointKind } from '@zlink/kernel/internal/wire';
import type { DialOptions, Link } from '@zlink/kernel/internal/transport';
import { type RigCase, onEachShape } from './case.ts';
import { descriptorOf, type RigHost, SCOPE } from './rig-host.ts';
import { clientServer, routeMesh, type Shape } from './shapes.ts';

interface Refusal {
  readonly title: string;
  readonly shape: Shape;
  readonly dial?: Partial<DialOptions>;
  /** Refusal by the listening topic itself. */
  readonly refusal?: string;
  /** What the dialling side reads: always about the endpoint that it has dialled. */
  readonly reads: RegExp;
  /** What the listening side counts, if it refuses by itself, before admission. */
  readonly counts?: 'wrongRid' | 'wrongGeneration';
}

const refusals: readonly Refusal[] = [
  {
    title: 'another channel',
    shape: clientServer,
    dial: { scope: 'shipping' },
    reads: /^peer: this endpoint serves channel "billing", the caller asked for "shipping"$/,
  },
  {
    title: 'another mesh',
    shape: routeMesh,
    dial: { scope: 'shipping' },
    reads: /^peer: this endpoint belongs to mesh "billing", the caller to mesh "shipping"$/,
  },
  {
    title: 'a wrong kind of dialler',
    shape: clientServer,
    dial: { kind: EndpointKind.meshNode },
    reads: /^peer: this endpoint takes channel clients, the caller is a mesh node$/,
  },
  {
    title: 'a wrong kind of listener',
    shape: clientServer,
    dial: { expects: EndpointKind.meshNode },
    reads: /^endpoint is a channel server, expected a mesh node$/,
  },
  {
    title: 'another RID than expected',
    shape: clientServer,
    dial: { expectedRid: 'someone-else' },
    counts: 'wrongRid',
    reads: /^endpoint is server "host-2", expected "someone-else"$/,
  },
  {
    title: 'another RID than expected',
    shape: routeMesh,
    dial: { expectedRid: 'someone-else' },
    counts: 'wrongRid',
    reads: /^endpoint is node "host-2", expected "someone-else"$/,
  },
  {
    title: 'another generation than expected',
    shape: clientServer,
    dial: { expectedGeneration: 77n },
    counts: 'wrongGeneration',
    reads: /^endpoint is generation \d+ of server "host-2", expected 77$/,
  },
  {
    title: 'another generation than expected',
    shape: routeMesh,
    dial: { expectedRid: 'host-2', expectedGeneration: 77n },
    counts: 'wrongGeneration',
    reads: /^endpoint is generation \d+ of node "host-2", expected 77$/,
  },
  {
    title: 'what the topic does not want',
    shape: clientServer,
    refusal: 'not today',
    reads: /^peer: not today$/,
  },
];

export const admissionCases: readonly RigCase[] = [
  ...onEachShape('[CORE-009] [WIRE-001] a dial becomes one link with the facts of both sides', async (rig, shape) => {
    const pair = await rig.pair(shape);
    const { near, far, nearLink, farLink, intent, listener } = pair;
    assert.equal(intent.state, 'admitted');
    assert.equal(intent.reason, undefined);
    assert.equal(intent.rid, far.identity.rid);
    assert.equal(intent.address, listener.endpoint);
    assert.deepEqual(near.states.slice(-1), ['admitted']);
    assert.match(listener.endpoint, /^tcp:\/\/.+:[1-9][0-9]*$/);
    assert.deepEqual(
      { ...nearLink.peer },
      {
        scope: SCOPE,
        rid: far.identity.rid,
        generation: far.identity.generation,
        endpoint: listener.endpoint,
        securityIdentity: undefined,
        maxMessageBytes: 0,
      },
    );
    assert.equal(farLink.peer.rid, near.identity.rid);
    assert.equal(farLink.peer.generation, near.identity.generation);
    assert.deepEqual(nearLink.descriptor, descriptorOf(1n));
    assert.deepEqual([nearLink.phase, farLink.phase], ['open', 'open']);
    assert.ok(listener.links.has(farLink));
    assert.deepEqual([near.transport.status.links, far.transport.status.links], [1, 1]);
  }),

  ...onEachShape(
    '[TRACE-020] both ends call the requests of a link alike, and no other link has its names',
    async (rig, shape) => {
      const { near, far, nearLink, farLink, intent } = await rig.pair(shape);
      nearLink.fail('cut');
      await rig.until(() => intent.state === 'admitted' && intent.link !== nearLink, 'it is admitted again');
      const third = rig.host(shape);
      const other = third.dial(intent.address);
      await rig.until(
        () => other.state === 'admitted' && far.listenGroup.opened.length === 3,
        'another one is admitted',
      );
      const dialing = [nearLink, ...near.dialGroup.opened, ...third.dialGroup.opened].map(scopeOf);
      const accepting = [farLink, ...far.listenGroup.opened].map(scopeOf);
      assert.deepEqual(
        new Set(dialing.map(({ own, peer }) => `${own} ${peer}`)),
        new Set(accepting.map(({ own, peer }) => `${peer} ${own}`)),
      );
      assert.equal(new Set(dialing.flatMap(({ own, peer }) => [own, peer])).size, 6);
    },
  ),

  ...refusals.map((refusal): RigCase => ({
    title: `[WIRE-001] [NET-004] refused with a reason on both sides: ${refusal.title} (${refusal.shape.title})`,
    async act(rig) {
      const near = rig.host(refusal.shape);
      const far = rig.host(refusal.shape);
      far.listenGroup.refusal = refusal.refusal;
      const listener = await far.listen();
      const intent = near.dial(listener.endpoint, refusal.dial);
      await rig.until(() => near.states.includes('rejected'), 'the dialling side is told');
      assert.match(intent.reason ?? '', refusal.reads);
      const hasEnded = () => far.listenGroup.opened.length === far.listenGroup.closed.length;
      await rig.until(() => listenerKnows(far) && hasEnded(), 'the listening side knows as well');
      assert.equal(intent.link, undefined);
      assert.deepEqual(near.dialGroup.opened, [], 'the dialling topic never saw a link');
      assert.ok(!near.states.includes('admitted'));
      if (refusal.counts === undefined) return;
      assert.deepEqual(Object.keys(far.transport.status.refused), [refusal.counts]);
      assert.deepEqual(far.listenGroup.opened, [], 'the listening topic never saw a link, either');
      assert.equal(intent.rid, far.identity.rid, 'who is there instead is known');
    },
  })),

  ...onEachShape('[WIRE-001] [NET-004] an endpoint of the expected RID and generation admits', async (rig, shape) => {
    const near = rig.host(shape);
    const far = rig.host(shape);
    const { rid: expectedRid, generation: expectedGeneration } = far.identity;
    const intent = near.dial((await far.listen()).endpoint, { expectedRid, expectedGeneration });
    await rig.until(() => intent.state === 'admitted', 'the dial is admitted');
    assert.deepEqual(far.transport.status.refused, {});
  }),

  {
    title: '[CORE-009] a refused dial is tried again and admitted once its cause is gone',
    async act(rig) {
      const near = rig.host(clientServer);
      const far = rig.host(clientServer);
      far.listenGroup.refusal = 'not yet';
      const listener = await far.listen();
      const intent = near.dial(listener.endpoint);
      await rig.until(() => near.states.includes('rejected'), 'the first attempt is refused');
      far.listenGroup.refusal = undefined;
      await rig.until(() => intent.state === 'admitted', 'a later attempt is admitted');
      assert.equal(intent.reason, undefined);
    },
  },

  {
    title: '[CS-003] a message above the limit of the peer is refused where it is sent, and harms nothing',
    async act(rig) {
      const near = rig.host(clientServer);
      const far = rig.host(clientServer);
      const { nearLink, farGroup } = await rig.connect(near, far, await far.listen({ maxMessageBytes: 1_000 }));
      assert.equal(nearLink.peer.maxMessageBytes, 1_000);
      const metadata = new Uint8Array(100);
      near.send({ payload: new Uint8Array(900), metadata }).submit(nearLink);
      const tooLarge = near.send({ payload: new Uint8Array(901), metadata });
      assert.throws(() => tooLarge.submit(nearLink), { name: 'ZLinkError', kind: 'InvalidOperation' });
      near.send({ payload: new Uint8Array(1_000) }).submit(nearLink);
      await rig.until(() => farGroup.received.length === 2, 'the messages within the limit arrive');
      assert.deepEqual(
        farGroup.received.map((record) => record.payload.length),
        [900, 1_000],
      );
      assert.equal(nearLink.phase, 'open');
    },
  },

  {
    title: '[CORE-013] transports of one process share nothing: equal names, RIDs and correlations do not meet',
    async act(rig) {
      const pairs = [
        await rig.pair(clientServer, { rid: 'same' }, { rid: 'same-server' }),
        await rig.pair(clientServer, { rid: 'same' }, { rid: 'same-server' }),
      ];
      for (const { far, farGroup } of pairs) far.echo(farGroup);
      const asked = pairs.map(({ near, nearLink }, at) => {
        const request = near.request({ payload: `pair ${at}` });
        request.submit(nearLink);
        return request;
      });
      await rig.until(() => asked.every((request) => request.isOver), 'both are answered');
      assert.deepEqual(
        pairs.map(({ farGroup }) => farGroup.texts),
        [['pair 0'], ['pair 1']],
      );
    },
  },
];

function scopeOf({ correlationScope }: Link): Link['correlationScope'] {
  return correlationScope;
}

function listenerKnows(far: RigHost): boolean {
  const counted = Object.values(far.transport.status.refused).reduce((sum, count) => sum + count, 0);
  return counted > 0 || far.listenGroup.closed.length > 0;
}
