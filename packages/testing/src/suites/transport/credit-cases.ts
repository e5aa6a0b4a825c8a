/** The byte window: who waits, in which order, and what passes it (CORE-004 to CORE-008, CORE-015). */
import assert from 'node:assert/strict';
import { MIN_WINDOW_BYTES, RECORD_COST_BYTES } from '@zlink/kernel/internal/wire';
import { type RigCase, onEachShape } from './case.ts';
import { fillUntilWaiting, KIB } from './filling.ts';
import { textOf } from './kept-record.ts';
import { MIB, type RigPair, type TransportRig } from './rig.ts';
import type { RigRecord } from './rig-record.ts';
import type { HostOptions, RigHost } from './rig-host.ts';
import { clientServer, routeMesh } from './shapes.ts';

/** The smallest window, and one permit: while it is held the flow is PAUSED and the next record waits for its turn. */
const narrow: HostOptions = { maxWindowBytes: MIN_WINDOW_BYTES, permits: { max: 1 } };

/** Takes permits until the flow of this host is PAUSED; returns how to give them back. */
function pause(host: RigHost): () => void {
  let taken = 0;
  while (host.permits.flow === 'RUNNING' && host.permits.tryAcquire()) taken++;
  assert.equal(host.permits.flow, 'PAUSED');
  return () => {
    while (taken-- > 0) host.permits.release();
  };
}

const pausing: HostOptions = {
  maxWindowBytes: MIN_WINDOW_BYTES,
  permits: { max: 10, pauseThresholdPercent: 80, resumeThresholdPercent: 60 },
};

export const creditCases: readonly RigCase[] = [
  ...onEachShape(
    '[CORE-004] [C05] a receiver without permits stops the sender at its window; nothing is lost or overtaken',
    async (rig, shape) => {
      const options = { maxWindowBytes: MIN_WINDOW_BYTES, permits: { max: 4 } };
      const { near, nearLink, farGroup } = await rig.pair(shape, {}, options);
      farGroup.holding = true;
      const admitted: RigRecord[] = [];
      const records = Array.from({ length: 2_000 }, (_, at) => near.send({ payload: `${at}`.padEnd(KIB, '.') }));
      for (const record of records) {
        const onAdmitted = record.onAdmitted.bind(record);
        record.onAdmitted = () => {
          onAdmitted();
          admitted.push(record);
        };
        record.submit(nearLink);
      }
      await rig.until(() => farGroup.received.length === 4, 'as many records arrive as there are permits');
      await rig.advance(2_000);
      assert.equal(farGroup.received.length, 4, 'records at the receiver are bounded by its permits');
      assert.ok(nearLink.waitingRecords > 1_900);
      let largest = 0;
      for (let round = 0; round < 10 * records.length && farGroup.received.length < records.length; round++) {
        largest = Math.max(largest, nearLink.outstandingBytes);
        if (farGroup.held > 0) farGroup.letGoOne();
        else await rig.advance(20);
      }
      assert.ok(largest <= MIN_WINDOW_BYTES, `${largest} bytes were under way`);
      assert.deepEqual(
        farGroup.texts,
        records.map((record) => record.payload),
      );
      assert.deepEqual(
        admitted,
        records.filter((record) => record.journal.includes('admitted')),
        'waiting records are admitted in the order of their submission',
      );
      farGroup.letGo();
      await rig.until(() => nearLink.outstandingBytes === 0, 'all credit comes back');
      assert.equal(nearLink.waitingRecords, 0);
    },
  ),

  {
    title: '[CORE-004] empty records cost too: a stopped receiver gets a bounded number of them',
    async act(rig) {
      const { near, nearLink, farGroup } = await rig.pair(clientServer, {}, narrow);
      farGroup.holding = true;
      near.send().submit(nearLink);
      await rig.advance(100);
      const written = fillUntilWaiting(near, nearLink, 1, () => near.send()).length - 1;
      assert.ok(written >= 1 && written <= MIN_WINDOW_BYTES / RECORD_COST_BYTES, `${written} were written`);
      farGroup.letGo();
      await rig.until(() => farGroup.received.length === written + 2, 'they all arrive in the end');
    },
  },

  {
    title: '[CORE-004] a record larger than the window goes alone, in its turn, when nothing else is under way',
    async act(rig) {
      const { near, nearLink, farGroup } = await rig.pair(clientServer, {}, narrow);
      farGroup.holding = true;
      near.send({ payload: 'first' }).submit(nearLink);
      near.send({ payload: 'second' }).submit(nearLink);
      const big = near.send({ payload: new Uint8Array(200_000).fill(7) });
      assert.equal(big.submit(nearLink), false, 'something is under way');
      const small = near.send({ payload: 'small' });
      assert.equal(small.submit(nearLink), false, 'a small record does not overtake');
      await rig.until(() => farGroup.held === 1, 'the first one arrives');
      await rig.advance(100);
      assert.equal(nearLink.waitingRecords, 2);
      farGroup.letGoOne();
      await rig.advance(100);
      assert.equal(big.isWritten, false, 'the second one is still under way');
      farGroup.letGoOne();
      await rig.until(() => farGroup.received.length === 3, 'the large record goes once the window is empty');
      await rig.advance(100);
      assert.equal(nearLink.outstandingBytes, 200_000 + RECORD_COST_BYTES);
      assert.equal(small.isWritten, false, 'nothing goes beside it');
      farGroup.letGo();
      await rig.until(() => farGroup.received.length === 4, 'everything arrives');
      const [, , arrived, last] = farGroup.received;
      assert.ok(arrived !== undefined && arrived.payload.length === 200_000 && arrived.payload.every((b) => b === 7));
      assert.equal(textOf(last), 'small');
    },
  },

  ...onEachShape(
    '[JOBQ-008] [CORE-004] credit comes back when a record is handed over, however long its handler holds on to it',
    async (rig, shape) => {
      const { near, nearLink, farGroup } = await rig.pair(shape, {}, { maxWindowBytes: MIN_WINDOW_BYTES });
      farGroup.holding = true;
      for (let at = 0; at < 500; at++) near.send({ payload: `${at}`.padEnd(KIB, '.') }).submit(nearLink);
      await rig.until(() => farGroup.held === 500, 'far more than a window is handed over');
      await rig.until(() => nearLink.outstandingBytes === 0, 'all credit comes back');
    },
  ),

  {
    title: '[JOBQ-010] [CORE-004] a message within the size limit arrives, however far above window and budget it is',
    async act(rig) {
      const near = rig.host(clientServer);
      const far = rig.host(clientServer, { maxWindowBytes: MIN_WINDOW_BYTES, budgetBytes: MIN_WINDOW_BYTES });
      const { nearLink, farGroup } = await rig.connect(near, far, await far.listen({ maxMessageBytes: 16 * MIB }));
      near.send({ payload: new Uint8Array(16 * MIB) }).submit(nearLink);
      await rig.until(() => farGroup.received.length === 1, 'the message arrives');
      assert.equal(farGroup.received[0]?.payload.length, 16 * MIB);
    },
  },

  ...onEachShape(
    '[CALL-003] [CORE-004] a waiting record can be taken back, a written one cannot; what stood behind it moves up',
    async (rig, shape) => {
      const { near, nearLink, farGroup } = await rig.pair(shape, {}, narrow);
      farGroup.holding = true;
      const written = near.send({ payload: 'written' });
      written.submit(nearLink);
      near.send({ payload: 'under way' }).submit(nearLink);
      const big = near.send({ payload: new Uint8Array(100_000) });
      const request = near.request({ payload: 'asked behind it' });
      const behind = near.send({ payload: 'behind' });
      for (const record of [big, request, behind]) assert.equal(record.submit(nearLink), false);
      assert.equal(written.withdraw(nearLink), false);
      assert.equal(request.withdraw(nearLink), true);
      assert.equal(request.withdraw(nearLink), false);
      assert.equal(big.withdraw(nearLink), true);
      await rig.until(() => behind.isWritten, 'there is room for it now, without any credit');
      farGroup.letGo();
      await rig.until(() => farGroup.received.length === 3, 'the rest arrives');
      await rig.advance(100);
      assert.deepEqual(farGroup.texts, ['written', 'under way', 'behind']);
      assert.equal(nearLink.pendingRequests, 0);
    },
  ),

  {
    title: '[CORE-008] the full window of one peer delays no other',
    async act(rig) {
      const near = rig.host(clientServer);
      const slow = rig.host(clientServer, narrow);
      const fast = rig.host(clientServer, { maxWindowBytes: MIN_WINDOW_BYTES });
      const toSlow = await rig.connect(near, slow, await slow.listen());
      const toFast = await rig.connect(near, fast, await fast.listen());
      slow.listenGroup.holding = true;
      fillUntilWaiting(near, toSlow.nearLink, 100);
      for (let at = 0; at < 1_000; at++) near.send({ payload: `${at}`.padEnd(KIB) }).submit(toFast.nearLink);
      await rig.until(() => fast.listenGroup.received.length === 1_000, 'the other peer gets everything');
      assert.equal(toSlow.nearLink.waitingRecords, 100);
      assert.equal(slow.listenGroup.received.length, 1);
    },
  },

  {
    title:
      '[CORE-005] [JOBQ-009] on a RouteMesh link started requests end while both hosts have no permit and no window',
    async act(rig) {
      const { near, far, nearLink, farLink, nearGroup, farGroup } = await rig.pair(routeMesh, narrow, narrow);
      nearGroup.holding = true;
      farGroup.holding = true;
      const there = near.request({ payload: 'there' });
      const back = far.request({ payload: 'back' });
      there.submit(nearLink);
      back.submit(farLink);
      await rig.until(() => nearGroup.held === 1 && farGroup.held === 1, 'both hosts are out of permits');
      fillUntilWaiting(near, nearLink, 50);
      fillUntilWaiting(far, farLink, 50);
      await rig.advance(200);
      const [asked] = farGroup.received;
      const [askedBack] = nearGroup.received;
      assert.ok(asked !== undefined && askedBack !== undefined);
      assert.equal(far.reply(asked, { payload: 'yes' }).submit(farLink), true, 'a reply needs no credit');
      assert.equal(near.error(askedBack, 4, 'no').submit(nearLink), true, 'nor does an error');
      await rig.until(() => there.isOver && back.isOver, 'both requests end');
      assert.deepEqual([textOf(there.reply), textOf(back.reply)], ['yes', 'no']);
      assert.deepEqual([nearGroup.received.length, farGroup.received.length], [1, 1], 'no ordinary record moved');
      assert.ok(nearLink.waitingRecords >= 50 && farLink.waitingRecords >= 50);
    },
  },

  {
    title:
      '[CORE-005] [CORE-015] a RouteMesh reply leaves before ordinary records of its turn, a ClientServer reply does not',
    async act(rig) {
      for (const shape of [routeMesh, clientServer]) {
        const { near, far, nearLink, nearGroup, farGroup } = await rig.pair(shape);
        farGroup.answer = (record, link) => {
          for (let at = 0; at < 100; at++) far.send().submit(link);
          far.reply(record).submit(link);
        };
        const request = near.request();
        let earlier = -1;
        const onReply = request.onReply.bind(request);
        request.onReply = (record) => {
          earlier = nearGroup.received.length;
          onReply(record);
        };
        request.submit(nearLink);
        await rig.until(() => request.isOver && nearGroup.received.length === 100, 'everything arrives');
        assert.equal(earlier, shape === routeMesh ? 0 : 100);
      }
    },
  },

  {
    title: '[JOBQ-005] a freed permit goes to the link that has waited longest; a link that ends gives its place up',
    async act(rig) {
      const far = rig.host(clientServer, { permits: { max: 1 } });
      const listener = await far.listen();
      const pairs = [];
      for (let at = 0; at < 3; at++) pairs.push(await rig.connect(rig.host(clientServer), far, listener));
      const group = far.listenGroup;
      group.holding = true;
      for (const { near, nearLink } of pairs) {
        for (let at = 0; at < 5; at++) near.send({ payload: near.identity.rid }).submit(nearLink);
        await rig.advance(40);
      }
      const [a, b, c] = pairs.map(({ near }) => near.identity.rid);
      assert.deepEqual(group.texts, [a]);
      for (let at = 0; at < 5; at++) group.letGoOne();
      assert.deepEqual(group.texts, [a, a, b, c, a, b], 'in turns, in the order in which their records came to wait');
      pairs[0]?.farLink.fail('ended by the case');
      for (let at = 0; at < 7; at++) group.letGoOne();
      assert.deepEqual(group.texts.slice(6), [c, b, c, b, c, b, c]);
    },
  },

  {
    title: '[CORE-015] on a ClientServer link a reply stays behind earlier records that wait for a permit',
    async act(rig) {
      const { near, far, nearLink, farLink, nearGroup, farGroup } = await rig.pair(clientServer, narrow);
      nearGroup.holding = true;
      const request = near.request();
      request.submit(nearLink);
      await rig.until(() => farGroup.received.length === 1, 'the request arrives');
      const [asked] = farGroup.received;
      assert.ok(asked !== undefined);
      far.send({ payload: 'one' }).submit(farLink);
      far.send({ payload: 'two' }).submit(farLink);
      far.reply(asked, { payload: 'reply' }).submit(farLink);
      await rig.until(() => nearGroup.held === 1, 'the first record arrives');
      await rig.advance(500);
      assert.deepEqual(nearGroup.texts, ['one']);
      assert.equal(request.isOver, false, 'the reply overtakes nothing');
      let repliedAfter = 0;
      const onReply = request.onReply.bind(request);
      request.onReply = (record) => {
        repliedAfter = nearGroup.received.length;
        onReply(record);
      };
      nearGroup.letGo();
      await rig.until(() => request.isOver, 'the reply arrives in its turn');
      assert.equal(repliedAfter, 2);
      assert.equal(near.permits.inUse, 0, 'the reply took no permit');
    },
  },

  {
    title: '[CORE-015] [CORE-006] a ClientServer reply waits while the client is PAUSED, and so does what is behind it',
    async act(rig) {
      for (const shape of [clientServer, routeMesh]) {
        const { near, far, nearLink, nearGroup, farGroup } = await rig.pair(shape, pausing);
        farGroup.answer = (record, link) => {
          far.reply(record, { payload: record.payload }).submit(link);
          far.send({ payload: 'behind' }).submit(link);
        };
        const resume = pause(near);
        const request = near.request({ payload: shape.title });
        request.submit(nearLink);
        await rig.until(() => farGroup.received.length === 1, 'the request is answered');
        await rig.advance(500);
        const expected = shape === routeMesh ? [true, 1] : [false, 0];
        assert.deepEqual([request.isOver, nearGroup.received.length], expected, `${shape.title} link of a paused host`);
        const onReply = request.onReply.bind(request);
        request.onReply = (record) => {
          assert.equal(nearGroup.received.length, 0, 'nothing has overtaken the reply');
          onReply(record);
        };
        resume();
        await rig.until(() => nearGroup.received.length === 1, 'what was behind it is delivered');
        await rig.until(() => request.isOver, 'the reply is delivered');
        assert.equal(textOf(request.reply), shape.title);
      }
    },
  },

  {
    title: '[CORE-015] a ClientServer reply waits for the client’s window like any record, and its request stays open',
    async act(rig) {
      const { near, far, nearLink, farLink, nearGroup, farGroup } = await rig.pair(clientServer, narrow);
      nearGroup.holding = true;
      const request = near.request();
      request.submit(nearLink);
      await rig.until(() => farGroup.received.length === 1, 'the request arrives');
      const sent = fillUntilWaiting(far, farLink, 1);
      const [asked] = farGroup.received;
      assert.ok(asked !== undefined);
      const reply = far.reply(asked, { payload: 'late but in order' });
      assert.equal(reply.submit(farLink), false);
      assert.equal(farLink.unansweredRequests, 1, 'a reply that waits has not answered');
      await rig.advance(200);
      assert.equal(request.isOver, false);
      nearGroup.letGo();
      await rig.until(() => request.isOver, 'the reply arrives');
      assert.equal(textOf(request.reply), 'late but in order');
      assert.equal(nearGroup.received.length, sent.length);
      assert.deepEqual(reply.journal, ['admitted']);
      assert.equal(farLink.unansweredRequests, 0, 'now it is answered');
    },
  },

  ...onEachShape(
    '[CORE-006] PAUSED returns no credit although records are still read; RUNNING returns all of it',
    async (rig, shape) => {
      const { near, far, nearLink, farGroup } = await rig.pair(shape, {}, pausing);
      const resume = pause(far);
      const records = fillUntilWaiting(near, nearLink, 20);
      await rig.until(() => farGroup.received.length === records.length - 20, 'what the window allows is delivered');
      const outstanding = nearLink.outstandingBytes;
      await rig.advance(2_000);
      assert.equal(nearLink.outstandingBytes, outstanding, 'no credit came back');
      assert.equal(nearLink.waitingRecords, 20);
      resume();
      await rig.until(() => farGroup.received.length === records.length, 'the rest arrives');
      await rig.until(() => nearLink.outstandingBytes === 0, 'all credit is back');
    },
  ),

  {
    title: '[CORE-007] the budget is divided among links: windows shrink as credit returns and grow when links end',
    async act(rig) {
      const budgetBytes = 4 * MIN_WINDOW_BYTES;
      const far = rig.host(clientServer, { budgetBytes, maxWindowBytes: budgetBytes, permits: { max: 1 } });
      const listener = await far.listen();
      const pairs: RigPair[] = [];
      for (let at = 0; at < 8; at++) pairs.push(await rig.connect(rig.host(clientServer), far, listener));
      const granted = () => far.transport.status.grantedBytes;
      const bound = budgetBytes + 8 * MIN_WINDOW_BYTES;
      assert.ok(granted() >= 8 * MIN_WINDOW_BYTES && granted() <= bound, `${granted()} bytes are granted`);
      const [first] = pairs;
      assert.ok(first !== undefined);
      await drive(rig, first, budgetBytes);
      far.listenGroup.holding = true;
      assert.ok((await reach(rig, first)) <= MIN_WINDOW_BYTES, 'the first window has shrunk to the smallest');
      for (const pair of pairs) {
        const bytes = await reach(rig, pair);
        assert.ok(bytes > MIN_WINDOW_BYTES - 2 * KIB, `${bytes} bytes are less than the smallest window`);
      }
      const underWay = pairs.reduce((sum, { nearLink }) => sum + nearLink.outstandingBytes, 0);
      assert.ok(underWay <= bound, `${underWay} bytes are under way`);
      far.listenGroup.letGo();
      await rig.until(() => pairs.every(({ nearLink }) => nearLink.waitingRecords === 0), 'everything arrives');
      for (const pair of pairs.slice(1)) await closeIntent(rig, pair);
      await rig.until(() => granted() === budgetBytes, 'the one link that is left is granted the budget');
      await rig.until(() => first.nearLink.outstandingBytes === 0, 'its window is empty');
      far.listenGroup.holding = true;
      const grown = await reach(rig, first);
      assert.ok(grown > budgetBytes - 2 * KIB && grown <= budgetBytes, `${grown} bytes fit into the grown window`);
    },
  },
];

/** Sends `bytes` through a link whose receiver takes everything. */
async function drive(rig: TransportRig, { near, nearLink }: RigPair, bytes: number): Promise<void> {
  for (let sent = 0; sent < bytes; sent += KIB) near.send({ payload: new Uint8Array(KIB) }).submit(nearLink);
  await rig.until(() => nearLink.waitingRecords === 0 && nearLink.outstandingBytes === 0, 'everything was taken');
}

/** How many bytes get under way to a receiver that takes nothing. */
async function reach(rig: TransportRig, { near, nearLink }: RigPair): Promise<number> {
  for (let round = 0; round < 50; round++) {
    if (nearLink.waitingRecords > 0) return nearLink.outstandingBytes;
    fillUntilWaiting(near, nearLink, 1);
    await rig.advance(200);
  }
  assert.fail('credit comes back although nothing is taken');
}

async function closeIntent(rig: TransportRig, { intent }: RigPair): Promise<void> {
  let closed = false;
  void intent.close(1_000).then(() => (closed = true));
  await rig.until(() => closed, 'the intent is withdrawn');
}
