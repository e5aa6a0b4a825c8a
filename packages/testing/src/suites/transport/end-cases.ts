/** How links end: in order, broken, or silently; what becomes of accepted work (CORE-008 to CORE-011, C03, C09). */
import assert from 'node:assert/strict';
import type { Link } from '@zlink/kernel/internal/transport';
import { MIN_WINDOW_BYTES, RecordKind } from '@zlink/kernel/internal/wire';
import { type RigCase, onEachShape } from './case.ts';
import { fillUntilWaiting } from './filling.ts';
import { textOf } from './kept-record.ts';
import type { TransportRig } from './rig.ts';
import type { RigGroup } from './rig-group.ts';
import type { HostOptions } from './rig-host.ts';
import { clientServer, shapes } from './shapes.ts';

const narrow: HostOptions = { maxWindowBytes: MIN_WINDOW_BYTES, permits: { max: 1 } };

const isClosed = (link: Link) => link.phase === 'closed';

export const endCases: readonly RigCase[] = [
  ...shapes.flatMap((shape) =>
    (['the dialling side', 'the listening side', 'both sides'] as const).map((side): RigCase => ({
      title: `[CORE-010] [CORE-011] finish by ${side} loses no accepted record and closes both (${shape.title})`,
      async act(rig) {
        const { near, far, nearLink, farLink, nearGroup, farGroup } = await rig.pair(shape);
        const sends = Array.from({ length: 200 }, (_, at) => near.send({ payload: `${at}` }));
        const requests = Array.from({ length: 20 }, (_, at) => near.request({ payload: `question ${at}` }));
        for (const record of [...sends, ...requests]) record.submit(nearLink);
        if (side === 'the listening side') {
          await rig.until(() => farGroup.received.length > 0, 'records arrive');
        } else {
          nearLink.finish();
          nearLink.finish();
        }
        if (side !== 'the dialling side') farLink.finish();
        await rig.until(() => nearLink.phase === 'finishing', 'the sender knows');
        assert.throws(() => near.send().submit(nearLink), { kind: 'Unavailable', submitted: false });
        await rig.until(() => farGroup.received.length === 220, 'all accepted records arrive');
        await rig.until(() => farGroup.finishing.length === 1, 'the other side knows');
        await rig.advance(200);
        assert.deepEqual([nearLink.phase, farLink.phase], ['finishing', 'finishing'], 'requests are still open');
        assert.throws(() => far.send().submit(farLink), { kind: 'Unavailable', submitted: false });
        for (const record of farGroup.received) {
          if (record.kind === RecordKind.request) far.reply(record, { payload: record.payload }).submit(farLink);
        }
        await rig.until(() => isClosed(nearLink) && isClosed(farLink), 'both sides close');
        for (const request of requests) assert.equal(textOf(request.reply), request.payload);
        assert.deepEqual(
          farGroup.texts.slice(0, 200),
          sends.map((record) => record.payload),
        );
        assert.equal(nearGroup.finishing.length, 1);
      },
    })),
  ),

  ...onEachShape(
    '[CORE-010] finish waits for records that the receiver has not had a permit for',
    async (rig, shape) => {
      const { near, nearLink, farLink, farGroup } = await rig.pair(shape, {}, { permits: { max: 2 } });
      farGroup.holding = true;
      for (let at = 0; at < 50; at++) near.send({ payload: `${at}` }).submit(nearLink);
      nearLink.finish();
      await rig.until(() => farGroup.received.length === 2, 'there are permits for two');
      await rig.advance(1_000);
      assert.equal(farGroup.received.length, 2);
      assert.deepEqual([nearLink.phase, farLink.phase], ['finishing', 'open'], 'the end keeps its place in the order');
      farGroup.letGo();
      await rig.until(() => isClosed(nearLink) && isClosed(farLink), 'both sides close');
      assert.equal(farGroup.received.length, 50);
    },
  ),

  ...onEachShape(
    '[CORE-010] at finish each waiting record gets one result, and what is called admitted arrives',
    async (rig, shape) => {
      const { near, nearLink, farLink, farGroup } = await rig.pair(shape, {}, narrow);
      farGroup.holding = true;
      const records = fillUntilWaiting(near, nearLink, 30);
      nearLink.finish();
      await rig.advance(100);
      farGroup.letGo();
      await rig.until(() => isClosed(nearLink) && isClosed(farLink), 'both sides close');
      assert.ok(records.every((record) => record.isOver));
      assert.deepEqual(
        farGroup.texts,
        records.filter((record) => record.isWritten).map((record) => record.payload),
      );
      for (const record of records) if (!record.isWritten) assert.equal(record.error?.submitted, false);
    },
  ),

  {
    title: '[CORE-010] [CORE-015] a reply that waits for the window when its link finishes is still delivered',
    async act(rig) {
      const { near, far, nearLink, farLink, nearGroup, farGroup } = await rig.pair(clientServer, narrow);
      nearGroup.holding = true;
      const request = near.request();
      request.submit(nearLink);
      await rig.until(() => farGroup.received.length === 1, 'the request arrives');
      fillUntilWaiting(far, farLink, 1);
      const [asked] = farGroup.received;
      assert.ok(asked !== undefined);
      const reply = far.reply(asked, { payload: 'owed' });
      assert.equal(reply.submit(farLink), false);
      farLink.finish();
      await rig.advance(100);
      nearGroup.letGo();
      await rig.until(() => isClosed(nearLink) && isClosed(farLink), 'both sides close');
      assert.equal(textOf(request.reply), 'owed');
    },
  },

  {
    title: '[CS-007] [CORE-010] a request whose time has run out is forgone, and no longer keeps a finishing link open',
    async act(rig) {
      const { near, nearLink, farLink, farGroup } = await rig.pair(clientServer);
      const request = near.request();
      request.submit(nearLink);
      await rig.until(() => farGroup.received.length === 1, 'the request arrives');
      farLink.finish();
      await rig.until(() => nearLink.phase === 'finishing', 'the client knows');
      request.abandon(nearLink, false);
      await rig.advance(200);
      assert.notEqual(farLink.phase, 'closed');
      farLink.forgo();
      await rig.until(() => isClosed(nearLink) && isClosed(farLink), 'both sides close');
    },
  },

  ...onEachShape('[CORE-011] closing a listener ends its links in order and frees its address', async (rig, shape) => {
    const [near, far] = [rig.host(shape), rig.host(shape)];
    const listener = await far.listen({ bindAddress: await rig.addressToKeep() });
    const { nearLink, farLink, farGroup } = await rig.connect(near, far, listener);
    far.echo(farGroup);
    const requests = Array.from({ length: 50 }, (_, at) => near.request({ payload: `${at}` }));
    for (const request of requests) request.submit(nearLink);
    await rig.until(() => farGroup.received.length > 0, 'the first request arrives');
    await done(rig, listener.close(60_000), 'the listener is closed');
    assert.equal(farLink.phase, 'closed');
    assert.equal(listener.links.size, 0);
    await rig.until(() => isClosed(nearLink), 'the other side learns of it');
    assert.ok(requests.every((request) => textOf(request.reply) === request.payload));
    const again = await far.listen({ bindAddress: listener.endpoint });
    assert.equal(again.endpoint, listener.endpoint);
  }),

  {
    title: '[CORE-011] closing a listener ends at its linger deadline when a request is never answered',
    async act(rig) {
      const { near, nearLink, farGroup, listener } = await rig.pair(clientServer);
      const request = near.request();
      request.submit(nearLink);
      await rig.until(() => farGroup.received.length === 1, 'the request arrives');
      let closed = false;
      void listener.close(1_000).then(() => (closed = true));
      await rig.advance(900);
      assert.equal(closed, false);
      await rig.advance(200);
      await rig.until(() => closed, 'the listener is closed');
      await rig.until(() => request.isOver, 'the request fails');
      assert.deepEqual([request.error?.kind, request.error?.submitted], ['Unavailable', true]);
    },
  },

  {
    title: '[CORE-009] a listener that closes lets nobody new in while its links finish',
    async act(rig) {
      const { far, near, nearLink, farLink, farGroup, listener } = await rig.pair(clientServer);
      const request = near.request();
      request.submit(nearLink);
      await rig.until(() => farGroup.received.length === 1, 'the request arrives');
      const closing = listener.close(60_000);
      const late = rig.host(clientServer);
      const intent = late.dial(listener.endpoint);
      await rig.until(() => intent.reason !== undefined, 'the newcomer sees why');
      await rig.advance(1_000);
      assert.equal(intent.link, undefined);
      const [asked] = farGroup.received;
      assert.ok(asked !== undefined);
      far.reply(asked, { payload: 'owed' }).submit(farLink);
      await done(rig, closing, 'the listener is closed');
      assert.equal(textOf(request.reply), 'owed');
    },
  },

  ...onEachShape(
    '[C09] [CORE-008] [ERR-004] when the connection goes, pending requests fail once as submitted, waiting ones as not',
    async (rig, shape) => {
      const { near, nearLink, farLink, nearGroup, farGroup } = await rig.pair(shape, {}, narrow);
      farGroup.holding = true;
      const requests = Array.from({ length: 1_000 }, () => near.request({ payload: new Uint8Array(100) }));
      for (const request of requests) request.submit(nearLink);
      const waiting = requests.filter((request) => !request.isWritten);
      assert.ok(waiting.length > 0 && waiting.length < 1_000);
      assert.equal(nearLink.pendingRequests, 1_000 - waiting.length);
      await rig.until(() => farGroup.received.length === 1, 'a request arrives');
      breakLink(rig, farLink);
      await rig.until(() => isClosed(nearLink), 'the dialling side knows');
      for (const request of requests) {
        const written = !waiting.includes(request);
        assert.equal(request.error?.kind, 'Unavailable');
        assert.equal(request.error?.submitted, written);
        assert.deepEqual(request.journal, [written ? 'failed' : 'refused']);
        assert.doesNotMatch(String(request.error?.message), /\bE[A-Z]{4,}|errno|socket|zmq/);
      }
      assert.deepEqual([nearLink.pendingRequests, nearLink.waitingRecords], [0, 0]);
      assert.throws(() => near.send().submit(nearLink), { kind: 'Unavailable', submitted: false });
      await rig.until(() => isClosed(farLink), 'the listening side knows');
      assert.equal(reasonsOf(nearGroup, nearLink).length, 1);
    },
  ),

  {
    title: '[CORE-011] a link that fails ends both sides at once, and its reason reaches both sinks',
    async act(rig) {
      const { nearLink, farLink, nearGroup, farGroup } = await rig.pair(clientServer);
      nearLink.fail('had enough');
      nearLink.fail('again');
      nearLink.finish();
      assert.deepEqual(reasonsOf(nearGroup, nearLink), ['had enough']);
      await rig.until(() => isClosed(farLink), 'the other side ends');
      const [reason, ...more] = reasonsOf(farGroup, farLink);
      assert.match(reason ?? '', /had enough/);
      assert.deepEqual(more, []);
    },
  },

  ...onEachShape(
    '[CORE-011] [CALL-005] closing a transport ends everything of its host at once, also when closed twice',
    async (rig, shape) => {
      const { near, far, nearLink, farLink, nearGroup, listener, intent } = await rig.pair(shape);
      const second = near.dial(listener.endpoint); // another way to the same peer: rests
      const nobody = near.dial('tcp://127.0.0.1:1'); // waits for its next attempt
      const request = near.request();
      request.submit(nearLink);
      await rig.until(() => nobody.reason !== undefined && second.reason !== undefined, 'the other intents wait');
      await done(rig, Promise.all([near.transport.close(), near.transport.close()]), 'the transport is closed');
      assert.deepEqual([intent.state, second.state, nobody.state], ['closed', 'closed', 'closed']);
      assert.deepEqual([request.error?.kind, request.error?.submitted], ['ShuttingDown', true]);
      assert.equal(reasonsOf(nearGroup, nearLink).length, 1);
      await rig.until(() => isClosed(farLink), 'the other host is told');
      assert.equal(far.transport.status.links, 0);
    },
  ),

  ...onEachShape(
    '[CORE-009] a peer that never answers the hello is given up after 5 s, and found again when it answers',
    async (rig, shape) => {
      const near = rig.host(shape);
      const far = rig.host(shape);
      const listener = await far.listen();
      const { faults } = rig.harness;
      assert.ok(faults !== undefined);
      faults.blackhole();
      const intent = near.dial(listener.endpoint, shape.symmetric ? { through: await near.listen() } : {});
      await rig.advance(4_900, 100);
      assert.equal(intent.reason, undefined, 'the attempt is still on');
      await rig.advance(200, 100);
      assert.ok(intent.reason !== undefined, 'the attempt was given up');
      assert.notEqual(intent.state, 'admitted');
      faults.restore();
      await rig.advance(6_000, 100);
      await rig.until(() => intent.state === 'admitted', 'a later attempt is answered');
    },
  ).map((rigCase): RigCase => ({ ...rigCase, needsFaults: true })),

  ...onEachShape(
    '[LIVE-002] [C16] time in which the own event loop stood still is not taken for the silence of a peer',
    async (rig, shape) => {
      const { near, far, nearLink, farLink, farGroup } = await rig.pair(shape);
      await rig.advance(7_000, 100);
      for (const stalledMs of [4_000, 14_000, 60_000]) {
        rig.clock.stall(stalledMs);
        await rig.advance(1_000, 20);
        assert.deepEqual([nearLink.phase, farLink.phase], ['open', 'open'], `after a stall of ${stalledMs} ms`);
      }
      far.echo(farGroup);
      const request = near.request();
      request.submit(nearLink);
      await rig.until(() => request.isOver, 'it still works');
    },
  ),

  ...onEachShape('[LIVE-001] an idle link lives on for minutes', async (rig, shape) => {
    const { near, far, nearLink, farLink, farGroup } = await rig.pair(shape);
    await rig.advance(120_000, 500);
    assert.deepEqual([nearLink.phase, farLink.phase], ['open', 'open']);
    far.echo(farGroup);
    const request = near.request();
    request.submit(nearLink);
    await rig.until(() => request.isOver, 'it still works');
  }),

  ...onEachShape(
    '[LIVE-001] [C03] a peer that falls silent is given up after 15 s, whatever is sent to it',
    async (rig, shape) => {
      const { near, nearLink, farLink } = await rig.pair(shape);
      await rig.advance(4_000, 100);
      assert.ok(rig.harness.faults !== undefined);
      rig.harness.faults.blackhole();
      const request = near.request();
      request.submit(nearLink);
      await rig.advance(9_000, 100);
      assert.deepEqual([nearLink.phase, farLink.phase], ['open', 'open'], 'not before its time');
      for (let atMs = 0; atMs < 8_000; atMs += 100) {
        if (nearLink.phase === 'open') near.send().submit(nearLink);
        await rig.advance(100, 100);
      }
      assert.deepEqual([nearLink.phase, farLink.phase], ['closed', 'closed']);
      assert.deepEqual([request.error?.kind, request.error?.submitted], ['Unavailable', true]);
      rig.harness.faults.restore();
    },
  ).map((rigCase): RigCase => ({ ...rigCase, needsFaults: true })),
];

function breakLink(rig: TransportRig, link: Link): void {
  if (rig.harness.faults === undefined) link.fail('broken by the case');
  else rig.harness.faults.cut();
}

function reasonsOf(group: RigGroup, link: Link): string[] {
  return group.closed.filter((end) => end.link === link).map((end) => end.reason);
}

async function done(rig: TransportRig, promise: Promise<unknown>, what: string): Promise<void> {
  let isDone = false;
  void promise.then(() => (isDone = true));
  await rig.until(() => isDone, what);
}
