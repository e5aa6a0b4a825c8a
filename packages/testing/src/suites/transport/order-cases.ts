/** Order, correlation and content of what travels (CORE-001, CORE-012, WIRE-004 to WIRE-007). */
import assert from 'node:assert/strict';
import { ErrorKind } from '@zlink/kernel/errors';
import type { InboundName } from '@zlink/kernel/internal/transport';
import { NAME_LIMIT, RecordKind } from '@zlink/kernel/internal/wire';
import { randomBytes, seededRandom } from '../../seeded-random.ts';
import { type RigCase, onEachShape } from './case.ts';
import { textOf } from './kept-record.ts';
import type { RigRecord } from './rig-record.ts';
import { MIB } from './rig.ts';
import { clientServer, routeMesh } from './shapes.ts';

export const orderCases: readonly RigCase[] = [
  ...onEachShape(
    '[CORE-001] [C04] 5,000 sends and 500 requests of one turn arrive once each, in order, and are answered',
    async (rig, shape) => {
      const { near, far, nearLink, farGroup } = await rig.pair(shape);
      far.echo(farGroup);
      const expected: string[] = [];
      const requests: RigRecord[] = [];
      for (let at = 0; at < 5_500; at++) {
        const payload = `k${at % 50}:${at}`;
        expected.push(payload);
        const record = at % 11 === 10 ? near.request({ payload }) : near.send({ payload });
        if (record.kind === RecordKind.request) requests.push(record);
        record.submit(nearLink);
      }
      assert.equal(requests.length, 500);
      await rig.until(() => requests.every((request) => request.isOver), 'all requests are answered');
      assert.deepEqual(farGroup.texts, expected);
      for (const request of requests) assert.equal(textOf(request.reply), request.payload);
    },
  ),

  {
    title: '[CORE-003] [CORE-008] small and large payloads, with and without metadata, keep their order in one turn',
    async act(rig) {
      const { near, nearLink, farGroup } = await rig.pair(clientServer);
      const random = seededRandom(5);
      const sizes = [0, 1, 31, 32_767, 32_768, 65_535, 65_536, 200_000];
      const payloads = Array.from({ length: 64 }, (_, at) => randomBytes(random, sizes[at % sizes.length] ?? 0));
      for (const [at, payload] of payloads.entries()) {
        near.send(at % 3 === 0 ? { payload, metadata: Uint8Array.of(at) } : { payload }).submit(nearLink);
      }
      await rig.until(() => farGroup.received.length === payloads.length, 'all records arrive');
      for (const [at, record] of farGroup.received.entries()) {
        assert.ok(Buffer.compare(record.payload, payloads[at] ?? new Uint8Array(1)) === 0, `payload ${at}`);
        assert.deepEqual(record.metadata && [...record.metadata], at % 3 === 0 ? [at] : undefined);
      }
    },
  },

  ...onEachShape(
    '[WIRE-005] replies find their requests by correlation, in whatever order they come',
    async (rig, shape) => {
      const { near, far, nearLink, farLink, nearGroup, farGroup } = await rig.pair(shape);
      const requests = Array.from({ length: 100 }, (_, at) => near.request({ payload: `question ${at}` }));
      for (const request of requests) request.submit(nearLink);
      await rig.until(() => farGroup.received.length === 100, 'all requests arrive');
      assert.deepEqual([nearLink.pendingRequests, farLink.unansweredRequests], [100, 100]);
      for (const record of [...farGroup.received].reverse()) {
        far.reply(record, { payload: `answer to ${textOf(record)}` }).submit(farLink);
      }
      await rig.until(() => requests.every((request) => request.isOver), 'all replies arrive');
      for (const [at, request] of requests.entries()) {
        assert.equal(textOf(request.reply), `answer to question ${at}`);
        assert.equal(request.reply?.kind, RecordKind.reply);
      }
      const correlations = requests.map((request) => request.correlation);
      assert.ok(correlations.every((correlation, at) => at === 0 || correlation > (correlations[at - 1] ?? 0)));
      assert.deepEqual([nearLink.pendingRequests, farLink.unansweredRequests], [0, 0]);
      assert.deepEqual(nearGroup.unmatched, []);
    },
  ),

  {
    title: '[ERR-001] an error reply ends its request with its kind and text',
    async act(rig) {
      const { near, far, nearLink, farGroup } = await rig.pair(clientServer);
      farGroup.answer = (record, link) => {
        far.error(record, ErrorKind.Rejected, 'closed on Sundays').submit(link);
      };
      const request = near.request();
      request.submit(nearLink);
      await rig.until(() => request.isOver, 'the error arrives');
      assert.equal(request.reply?.kind, RecordKind.error);
      assert.equal(request.reply?.errorKind, 'Rejected');
      assert.equal(textOf(request.reply), 'closed on Sundays');
    },
  },

  ...onEachShape(
    '[WIRE-005] [CS-006] a reply that nobody waits for is reported once, and the link goes on',
    async (rig, shape) => {
      const { near, far, nearLink, farLink, nearGroup, farGroup } = await rig.pair(shape);
      const given = near.request({ payload: 'given up' });
      given.submit(nearLink);
      await rig.until(() => farGroup.received.length === 1, 'the request arrives');
      given.abandon(nearLink, false);
      const late = farGroup.received[0];
      assert.ok(late !== undefined);
      far.reply(late, { payload: 'too late' }).submit(farLink);
      await rig.until(() => nearGroup.unmatched.length === 1, 'the late reply is reported');
      assert.equal(nearGroup.unmatched[0]?.correlation, late.correlation);
      far.echo(farGroup);
      const next = near.request({ payload: 'next' });
      next.submit(nearLink);
      await rig.until(() => next.isOver, 'the next request is answered');
      assert.equal(textOf(next.reply), 'next');
      assert.equal(nearGroup.unmatched.length, 1);
      assert.equal(nearLink.phase, 'open');
    },
  ),

  {
    title: '[C12] an abandoned request reaches the other side as a cancel, if and only if asked to',
    async act(rig) {
      const { near, nearLink, farLink, farGroup } = await rig.pair(clientServer);
      const told = near.request({ payload: 'told' });
      const silent = near.request({ payload: 'silent' });
      for (const request of [told, silent]) request.submit(nearLink);
      await rig.until(() => farGroup.received.length === 2, 'both requests arrive');
      silent.abandon(nearLink, false);
      told.abandon(nearLink, true);
      told.abandon(nearLink, true);
      await rig.until(() => farGroup.canceled.length > 0, 'the cancel arrives');
      await rig.settle();
      assert.deepEqual(farGroup.canceled, [told.correlation]);
      assert.equal(nearLink.pendingRequests, 0);
      for (let left = farLink.unansweredRequests; left > 0; left--) farLink.forgo();
      assert.equal(farLink.unansweredRequests, 0);
    },
  },

  {
    title: '[WIRE-006] a request carries the time that is left when it is written, after waiting too',
    async act(rig) {
      const window = { maxWindowBytes: 65_536, permits: { max: 1 } };
      const { near, nearLink, farGroup } = await rig.pair(clientServer, {}, window);
      farGroup.holding = true;
      near.request({ payload: 'no limit' }).submit(nearLink);
      near.request({ payload: 'at once', deadlineAtMs: rig.clock.nowMs() + 5_000 }).submit(nearLink);
      near.send({ payload: new Uint8Array(65_400) }).submit(nearLink);
      const waited = near.request({ payload: 'after waiting', deadlineAtMs: rig.clock.nowMs() + 5_000 });
      assert.equal(waited.submit(nearLink), false);
      await rig.advance(1_000);
      farGroup.letGo();
      await rig.untilArrived(() => farGroup.received.length === 4, 'all records arrive');
      const [unlimited, prompt, , late] = farGroup.received.map((record) => record.remainingMs);
      assert.equal(unlimited, 0);
      // What is left is rounded up, and a sum of fractions may lie a trace above the whole number.
      const mostMs = 4_001;
      // It arrived at once and waited a second for its permit: that time is used up.
      assert.ok(prompt !== undefined && prompt > 3_900 && prompt <= mostMs, `${prompt} ms were left`);
      assert.ok(late !== undefined && late > 3_000 && late <= mostMs, `${late} ms were left after a wait of 1,000 ms`);
    },
  },

  {
    title: '[WIRE-007] [MSG-011] metadata and trace context arrive apart, and only where they were given',
    async act(rig) {
      const { near, nearLink, farGroup } = await rig.pair(routeMesh);
      const metadata = Uint8Array.of(1, 2, 3);
      const trace = Uint8Array.of(9);
      near.send().submit(nearLink);
      near.send({ metadata }).submit(nearLink);
      near.send({ trace }).submit(nearLink);
      near.send({ metadata, trace, payload: new Uint8Array(40_000) }).submit(nearLink);
      await rig.until(() => farGroup.received.length === 4, 'all records arrive');
      assert.deepEqual(
        farGroup.received.map((record) => [record.metadata && [...record.metadata], record.trace && [...record.trace]]),
        [
          [undefined, undefined],
          [[1, 2, 3], undefined],
          [undefined, [9]],
          [[1, 2, 3], [9]],
        ],
      );
    },
  },

  {
    title: '[WIRE-004] more names than the table holds arrive, and interned ones keep what the topic put on them',
    async act(rig) {
      const { near, nearLink, farGroup } = await rig.pair(routeMesh);
      const count = NAME_LIMIT + 904;
      const nameOf = (at: number) => near.name(`packet-${at}`, `channel-${at % 3}`, at % 2 === 0 ? 'a/b' : 'c/d');
      const seen = new Set<InboundName>();
      let kept = 0;
      farGroup.answer = (record) => {
        if (record.name === undefined) return;
        if (seen.has(record.name)) kept++;
        seen.add(record.name);
      };
      for (let round = 0; round < 2; round++) {
        for (let at = 0; at < count; at++) near.send({ name: nameOf(at) }).submit(nearLink);
        await rig.until(() => farGroup.received.length === (round + 1) * count, 'all records arrive');
      }
      for (const [at, { name }] of farGroup.received.entries()) {
        const { scope, contentType, packetName } = nameOf(at % count);
        assert.deepEqual([name?.scope, name?.contentType, name?.packetName], [scope, contentType, packetName]);
      }
      assert.equal(kept, NAME_LIMIT);
    },
  },

  ...onEachShape('[CORE-012] a payload of 1 MiB arrives intact, both ways', async (rig, shape) => {
    const { near, far, nearLink, farGroup } = await rig.pair(shape);
    far.echo(farGroup);
    const payload = randomBytes(seededRandom(12), MIB);
    const request = near.request({ payload });
    request.submit(nearLink);
    await rig.until(() => request.isOver, 'the payload is back');
    const there = farGroup.received[0]?.payload;
    const back = request.reply?.payload;
    assert.ok(there !== undefined && back !== undefined);
    assert.equal(Buffer.compare(there, payload), 0);
    assert.equal(Buffer.compare(back, payload), 0);
    if (rig.harness.sharesMemory) assert.ok(there.buffer === payload.buffer && back.buffer === payload.buffer);
  }),

  {
    title:
      '[CODEC-007] a record whose encoding throws leaves no trace: the error is the sender’s, the next one arrives',
    async act(rig) {
      const { near, nearLink, farGroup } = await rig.pair(clientServer);
      near.send({ payload: 'before' }).submit(nearLink);
      const broken = near.request({ payload: 'partly written' });
      const encode = broken.encode.bind(broken);
      broken.encode = (sink) => {
        encode(sink);
        throw new TypeError('cannot encode');
      };
      assert.throws(() => broken.submit(nearLink), TypeError);
      near.send({ payload: 'after' }).submit(nearLink);
      await rig.until(() => farGroup.received.length === 2, 'its neighbours arrive');
      assert.deepEqual(farGroup.texts, ['before', 'after']);
      assert.deepEqual([nearLink.pendingRequests, nearLink.waitingRecords], [0, 0]);
    },
  },
];
