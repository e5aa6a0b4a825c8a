/** Intents: reconnecting, duplicates, generations, descriptors (CORE-009, CORE-010, CORE-014, CS-005, CS-009). */
import assert from 'node:assert/strict';
import type { Link, Listener } from '@zlink/kernel/internal/transport';
import { type RigCase, onEachShape } from './case.ts';
import { textOf } from './kept-record.ts';
import type { TransportRig } from './rig.ts';
import { type RigHost, descriptorOf, openLinksOf } from './rig-host.ts';
import { clientServer, routeMesh } from './shapes.ts';

/** First and largest step of the backoff, and the tick of the clock's users. */
const FIRST_STEP_MS = 100;
const LARGEST_STEP_MS = 5_000;
const SLACK_MS = 40;

export const intentCases: readonly RigCase[] = [
  ...onEachShape(
    '[CORE-009] [C10] a broken link is dialled again after the backoff, as a new link that carries on',
    async (rig, shape) => {
      const { near, far, nearLink, farLink, farGroup, intent } = await rig.pair(shape);
      far.echo(farGroup);
      farLink.fail('broken by the case');
      await rig.until(() => nearLink.phase === 'closed', 'the dialling side knows');
      assert.equal(intent.state, 'reconnecting');
      assert.ok(intent.reason !== undefined);
      await rig.advance(FIRST_STEP_MS / 2 - 10, 5);
      assert.equal(farGroup.opened.length, 1, 'no attempt before half a step');
      await rig.advance(FIRST_STEP_MS / 2 + SLACK_MS, 5);
      await rig.until(() => intent.state === 'admitted', 'it is admitted again');
      const fresh = intent.link;
      assert.ok(fresh !== undefined && fresh.id !== nearLink.id);
      const request = near.request({ payload: 'once' });
      request.submit(fresh);
      await rig.until(() => request.isOver, 'the new link answers');
      await rig.advance(1_000);
      assert.deepEqual(farGroup.texts, ['once'], 'handled once');
      assert.equal(openLinksOf(far).length, 1);
    },
  ),

  {
    title: '[CORE-009] attempts are spaced by a backoff that doubles from 100 ms to 5 s, each within half a step',
    async act(rig) {
      const near = rig.host(clientServer);
      const far = rig.host(clientServer);
      const group = far.listenGroup;
      group.refusal = 'never';
      const gapsMs: number[] = [];
      let rejectedAtMs: number | undefined;
      near.dial((await far.listen()).endpoint, {
        onState: ({ state }) => {
          if (rejectedAtMs !== undefined) gapsMs.push(rig.clock.nowMs() - rejectedAtMs);
          rejectedAtMs = state === 'rejected' ? rig.clock.nowMs() : undefined;
        },
      });
      for (let attempt = 1; attempt <= 9; attempt++) {
        await rig.untilArrived(() => rejectedAtMs !== undefined, `attempt ${attempt} is refused`);
        for (let waitedMs = 0; waitedMs < 2 * LARGEST_STEP_MS && gapsMs.length < attempt; waitedMs++)
          rig.clock.advance(1);
        assert.deepEqual([gapsMs.length, group.greeted.length], [attempt, attempt], 'attempts go on');
      }
      for (const [at, gapMs] of gapsMs.entries()) {
        const stepMs = Math.min(FIRST_STEP_MS * 2 ** at, LARGEST_STEP_MS);
        assert.ok(gapMs >= stepMs / 2 - 1 && gapMs <= stepMs + 1, `gap ${at}: ${gapMs} ms of ${stepMs}`);
      }
    },
  },

  {
    title: '[CORE-009] a dial to nobody says why, keeps trying, and is admitted when somebody listens there',
    async act(rig) {
      const near = rig.host(clientServer);
      const far = rig.host(clientServer);
      const probe = await far.listen({ bindAddress: await rig.addressToKeep() });
      const { endpoint } = probe;
      await ended(rig, probe);
      const intent = near.dial(endpoint);
      await rig.until(() => intent.reason !== undefined, 'the reason shows');
      assert.ok(['connecting', 'reconnecting'].includes(intent.state), intent.state);
      await far.listen({ bindAddress: endpoint });
      await rig.until(() => intent.state === 'admitted', 'it is admitted');
    },
  },

  ...onEachShape('[CORE-009] a withdrawn intent ends its link and is never dialled again', async (rig, shape) => {
    const { near, nearLink, farLink, farGroup, intent } = await rig.pair(shape);
    for (let at = 0; at < 100; at++) near.send({ payload: `${at}` }).submit(nearLink);
    let closed = false;
    void intent.close(60_000).then(() => (closed = true));
    await rig.until(() => closed && farLink.phase === 'closed', 'both sides are closed');
    assert.equal(farGroup.received.length, 100, 'what was accepted before arrived');
    assert.equal(intent.state, 'closed');
    assert.equal(intent.link, undefined);
    await rig.advance(2_000, 100);
    assert.equal(rig.clock.pendingTimers, 0, 'hosts without links have no timers');
    await rig.advance(20_000, 250);
    assert.equal(farGroup.opened.length, 1);
    await intent.close(0);
    assert.equal(intent.state, 'closed');
  }),

  {
    title: '[CORE-009] withdrawing an intent that has no link yet ends its attempts',
    async act(rig) {
      const near = rig.host(clientServer);
      const far = rig.host(clientServer);
      const listener = await far.listen();
      const fresh = near.dial(listener.endpoint);
      await fresh.close(1_000);
      far.listenGroup.refusal = 'no';
      const refused = near.dial(listener.endpoint);
      await rig.until(() => refused.state === 'rejected', 'an attempt is refused');
      await refused.close(1_000);
      const greeted = far.listenGroup.greeted.length;
      await rig.advance(20_000, 250);
      assert.equal(far.listenGroup.greeted.length, greeted);
      assert.deepEqual([fresh.state, refused.state], ['closed', 'closed']);
      assert.equal(far.listenGroup.opened.length, far.listenGroup.closed.length);
    },
  },

  {
    title: '[CORE-014] what was submitted to one connection is never delivered over a later one',
    async act(rig) {
      const { near, nearLink, farLink, farGroup, intent } = await rig.pair(clientServer);
      for (let round = 0; round < 5; round++) {
        const link = intent.link ?? nearLink;
        for (let at = 0; at < 40; at++) near.send({ payload: `stale ${round}` }).submit(link);
        const current = farGroup.opened.at(-1) ?? farLink;
        current.fail('broken by the case');
        await rig.until(() => intent.link !== undefined && intent.link !== link, 'it is connected again');
        const fresh = intent.link;
        assert.ok(fresh !== undefined);
        near.send({ payload: `fresh ${round}` }).submit(fresh);
        await rig.until(() => farGroup.texts.at(-1) === `fresh ${round}`, 'the fresh record arrives');
        const own = farGroup.received.filter((record) => record.link === farGroup.opened.at(-1));
        assert.deepEqual(own.map(textOf), [`fresh ${round}`]);
      }
    },
  },

  {
    title:
      '[CORE-010] of two dials to one server the first admitted stays, the other rests and takes over when it ends',
    async act(rig) {
      const { near, far, nearLink, farGroup, listener, intent } = await rig.pair(clientServer);
      far.echo(farGroup);
      const request = near.request({ payload: 'in flight' });
      request.submit(nearLink);
      const second = near.dial(listener.endpoint);
      await rig.until(() => second.state === 'resting', 'the second dial rests');
      assert.ok(second.reason !== undefined && second.link === undefined);
      assert.equal(second.rid, far.identity.rid);
      await rig.until(() => request.isOver, 'the first link goes on');
      await rig.advance(10_000, 100);
      assert.deepEqual([intent.state, second.state], ['admitted', 'resting']);
      assert.equal(near.dialGroup.opened.length, 1, 'the topic never saw a second link');
      assert.equal(openLinksOf(far).length, 1);
      await closed(rig, intent.close(1_000));
      await rig.until(() => second.state === 'admitted', 'the second takes over');
      const again = near.request({ payload: 'over the second' });
      assert.ok(second.link !== undefined);
      again.submit(second.link);
      await rig.until(() => again.isOver, 'it answers');
    },
  },

  ...(['a', 'z'] as const).map((rid): RigCase => ({
    title: `[CORE-010] two nodes that dial each other keep the link of the smaller RID and lose nothing (own RID ${rid})`,
    async act(rig) {
      const own = rig.host(routeMesh, { rid });
      const other = rig.host(routeMesh, { rid: 'm' });
      const [smaller, larger] = rid < 'm' ? [own, other] : [other, own];
      const listeners = new Map<RigHost, Listener>([
        [own, await own.listen()],
        [other, await other.listen()],
      ]);
      const accepted = new Map<RigHost, string[]>([
        [own, []],
        [other, []],
      ]);
      for (const host of [own, other]) {
        host.dialGroup.onOpened = (link) => submitNumbered(host, link, 50, accepted.get(host) ?? []);
      }
      for (const [from, to] of [
        [own, other],
        [other, own],
      ] as const) {
        const through = listeners.get(from);
        const address = listeners.get(to)?.endpoint;
        assert.ok(through !== undefined && address !== undefined);
        from.dial(address, { through });
      }
      await rig.until(() => [own, other].every((host) => openLinksOf(host).length === 1), 'each keeps one link');
      await rig.advance(3_000);
      const [kept] = openLinksOf(smaller);
      const [keptThere] = openLinksOf(larger);
      assert.ok(kept !== undefined && keptThere !== undefined);
      assert.equal(smaller.intents[0]?.link, kept, 'the smaller RID has dialled it');
      assert.deepEqual([smaller.intents[0]?.state, larger.intents[0]?.state], ['admitted', 'resting']);
      for (const [from, to] of [
        [own, other],
        [other, own],
      ] as const) {
        assert.deepEqual([...to.dialGroup.texts].sort(), [...(accepted.get(from) ?? [])].sort(), 'nothing was lost');
      }
      const request = larger.request({ payload: 'kept' });
      smaller.echo(smaller.dialGroup);
      request.submit(keptThere);
      await rig.until(() => request.isOver, 'the kept link answers');
    },
  })),

  {
    title: '[CORE-010] who loses its link to a later dial of the smaller RID rests at once and dials no more',
    async act(rig) {
      const larger = rig.host(routeMesh, { rid: 'm' });
      const smaller = rig.host(routeMesh, { rid: 'a' });
      const throughLarger = await larger.listen();
      const throughSmaller = await smaller.listen();
      larger.dial(throughSmaller.endpoint, { through: throughLarger });
      await rig.until(() => openLinksOf(smaller).length === 1, 'the first link is there');
      smaller.dial(throughLarger.endpoint, { through: throughSmaller });
      await rig.until(() => larger.intents[0]?.state === 'resting', 'the larger RID rests');
      await rig.advance(3_000);
      assert.deepEqual(larger.states, ['connecting', 'admitted', 'resting']);
      assert.deepEqual([openLinksOf(larger).length, openLinksOf(smaller).length], [1, 1]);
    },
  },

  {
    title:
      '[CORE-010] who rests for a link dials as soon as that one takes no new work, though it still ends a request',
    async act(rig) {
      const larger = rig.host(routeMesh, { rid: 'm' });
      const smaller = rig.host(routeMesh, { rid: 'a' });
      const throughLarger = await larger.listen();
      const throughSmaller = await smaller.listen();
      const kept = smaller.dial(throughLarger.endpoint, { through: throughSmaller });
      await rig.until(() => kept.link !== undefined, 'the first link is there');
      larger.dial(throughSmaller.endpoint, { through: throughLarger });
      await rig.until(() => larger.intents[0]?.state === 'resting', 'the larger RID rests');
      const request = smaller.request({ payload: 'slow' });
      const { link } = kept;
      assert.ok(link !== undefined);
      request.submit(link);
      await rig.settle();
      const closing = kept.close(60_000);
      await rig.until(() => larger.intents[0]?.link !== undefined, 'the larger RID has dialled');
      assert.equal(request.isOver, false);
      link.fail('enough');
      await rig.until(() => request.isOver, 'the request has ended');
      await closing;
    },
  },

  {
    title:
      '[CORE-010] [CS-009] a new generation replaces the old link, whose requests still end on it; the old never returns',
    async act(rig) {
      const near = rig.host(clientServer);
      const old = rig.host(clientServer, { rid: 'server', generation: 9n });
      const fresh = rig.host(clientServer, { rid: 'server', generation: 3n });
      const oldListener = await old.listen();
      const { nearLink, farLink, farGroup } = await rig.connect(near, old, oldListener);
      const request = near.request({ payload: 'asked the old one' });
      request.submit(nearLink);
      await rig.until(() => farGroup.received.length === 1, 'the request arrives');
      const replacement = await rig.connect(near, fresh, await fresh.listen());
      assert.equal(replacement.nearLink.peer.generation, 3n);
      await rig.until(() => nearLink.phase === 'finishing', 'the old link takes no new work');
      assert.throws(() => near.send().submit(nearLink), { kind: 'Unavailable' });
      const [asked] = farGroup.received;
      assert.ok(asked !== undefined);
      old.reply(asked, { payload: 'answered by the old one' }).submit(farLink);
      await rig.until(() => nearLink.phase === 'closed' && farLink.phase === 'closed', 'the old link ends');
      assert.equal(textOf(request.reply), 'answered by the old one');
      await rig.advance(20_000, 100);
      assert.deepEqual(
        near.dialGroup.opened.filter((link) => link.phase === 'open'),
        [replacement.nearLink],
      );
      assert.equal(replacement.intent.state, 'admitted');
    },
  },

  {
    title: '[WIRE-001] [CS-005] an update with a higher revision arrives; the newest is what a newcomer sees',
    async act(rig) {
      const { far, nearLink, nearGroup, listener } = await rig.pair(clientServer);
      listener.update(descriptorOf(2n, 10));
      listener.update(descriptorOf(5n, 0));
      await rig.until(() => nearLink.descriptor.revision === 5n, 'the update arrives');
      assert.deepEqual(nearLink.descriptor, descriptorOf(5n, 0));
      assert.equal(nearGroup.updated.length, 2);
      const newcomer = await rig.connect(rig.host(clientServer), far, listener);
      assert.deepEqual(newcomer.nearLink.descriptor, descriptorOf(5n, 0));
    },
  },

  ...(['a lower', 'an equal'] as const).map((what): RigCase => ({
    title: `[WIRE-001] [CS-005] ${what} revision never changes what the peer knows`,
    async act(rig) {
      const { nearLink, farLink, nearGroup, listener } = await rig.pair(clientServer);
      listener.update(descriptorOf(5n, 10));
      await rig.until(() => nearLink.descriptor.revision === 5n, 'the update arrives');
      let refusedHere = false;
      try {
        listener.update(descriptorOf(what === 'a lower' ? 4n : 5n, 99));
      } catch {
        refusedHere = true; // as good: it never left
      }
      await rig.advance(200);
      assert.deepEqual(nearLink.descriptor, descriptorOf(5n, 10));
      assert.equal(nearGroup.updated.length, 1);
      if (refusedHere) return;
      await rig.until(() => nearLink.phase === 'closed' && farLink.phase === 'closed', 'the link ends on both sides');
      assert.match(nearGroup.closed[0]?.reason ?? '', /protocol error/);
    },
  })),

  {
    title: '[WIRE-001] a changed set of channels within one generation is a protocol error',
    async act(rig) {
      const { nearLink, farLink, nearGroup, listener } = await rig.pair(routeMesh);
      const changed = { ...descriptorOf(2n), channels: [{ name: 'another', weight: 100 }] };
      let refusedHere = false;
      try {
        listener.update(changed);
      } catch {
        refusedHere = true; // as good: it never left
      }
      await rig.advance(200);
      assert.deepEqual(nearLink.descriptor, descriptorOf(1n));
      if (refusedHere) return;
      await rig.until(() => nearLink.phase === 'closed' && farLink.phase === 'closed', 'the link ends on both sides');
      assert.match(nearGroup.closed[0]?.reason ?? '', /protocol error/);
    },
  },
];

/** Submits records until the link takes no more; what was written is added to `accepted`. */
function submitNumbered(host: RigHost, link: Link, count: number, accepted: string[]): void {
  for (let at = 0; at < count; at++) {
    const payload = `${host.identity.rid} ${link.id} ${at}`;
    if (host.send({ payload }).submit(link)) accepted.push(payload);
  }
}

async function ended(rig: TransportRig, listener: Listener): Promise<void> {
  await closed(rig, listener.close(0));
}

async function closed(rig: TransportRig, promise: Promise<void>): Promise<void> {
  let isClosed = false;
  void promise.then(() => (isClosed = true));
  await rig.until(() => isClosed, 'closed');
}
