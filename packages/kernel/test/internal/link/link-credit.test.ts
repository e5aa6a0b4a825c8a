/** The window of a link, with peers that keep it and peers that do not. */
import { loopTurns } from '@zlink/testing';
import { MIN_WINDOW_BYTES, RECORD_COST_BYTES } from '../../../src/internal/wire/index.ts';
import { RecordKind } from '../../../src/internal/wire/record.ts';
import { thrownBy } from '../../thrown.ts';
import { pass, settle } from './link-side.ts';
import { expectViolation, finish, introduction, join, type RawRecord, say, shapes } from './raw-peer.ts';
import { NAME, TestRecord } from './test-record.ts';

test.each(shapes)('[CORE-004] a record beyond the window closes the link ($title)', async (shape) => {
  const pair = join({ ...shape, far: { permits: { max: 1 } } });
  pair.far.holding = true;
  const send: RawRecord = { kind: RecordKind.send, nameId: 1, payload: new Uint8Array(30_000) };
  say(pair, introduction, send, send);
  await settle(pair);
  expect(pair.far.link.phase).toBe('open');
  say(pair, send);
  await expectViolation(pair, /^protocol error: 90192 bytes under way, granted were 65536$/);
});

test('[CORE-004] credit that was returned counts: the same bytes sent after it do not close the link', async () => {
  const pair = join();
  pair.near.pipe.sink = undefined; // what it has not sent itself it would not take credit for
  const send: RawRecord = { kind: RecordKind.send, nameId: 1, payload: new Uint8Array(30_000) };
  say(pair, introduction, send, send);
  await settle(pair);
  say(pair, send, send);
  await settle(pair);
  expect([pair.far.link.phase, pair.far.received.length]).toEqual(['open', 4]);
});

test('[CORE-004] a record larger than the window is let in alone, and nothing beside it', async () => {
  const pair = join({ far: { permits: { max: 1, pauseThresholdPercent: 100, resumeThresholdPercent: 0 } } });
  const heard = pair.near.pipe.sink;
  pair.near.pipe.sink = undefined;
  pair.far.holding = true;
  const large: RawRecord = { kind: RecordKind.send, nameId: 1, payload: new Uint8Array(200_000) };
  say(pair, introduction, large);
  await settle(pair);
  expect(pair.far.received).toHaveLength(1);
  pair.far.letGoOne();
  await pass(pair, 40); // its credit goes back
  say(pair, large);
  await settle(pair);
  expect(pair.far.link.phase).toBe('open');
  pair.near.pipe.sink = heard;
  say(pair, { kind: RecordKind.send, nameId: 1 });
  await expectViolation(pair, 'bytes under way, granted were');
});

test('[CORE-004] credit for more than is under way closes the link', async () => {
  const pair = join();
  TestRecord.send({ payload: new Uint8Array(100) }).submit(pair.far.link);
  say(pair, { kind: RecordKind.credit, aux: 100 + RECORD_COST_BYTES, correlation: MIN_WINDOW_BYTES });
  await settle(pair);
  expect([pair.far.link.phase, pair.far.link.outstandingBytes]).toEqual(['open', 0]);
  say(pair, { kind: RecordKind.credit, aux: 1, correlation: MIN_WINDOW_BYTES });
  await expectViolation(pair, 'credit for nothing');
});

test('[CORE-004] a peer that grants nothing gets one record at a time', async () => {
  const pair = join();
  say(pair, { kind: RecordKind.credit, aux: 0, correlation: 0 });
  await settle(pair);
  const records = [1, 2, 3].map(() => TestRecord.send().submit(pair.far.link));
  expect(records.map((record) => record.isWritten)).toEqual([true, false, false]);
  say(pair, { kind: RecordKind.credit, aux: RECORD_COST_BYTES, correlation: 0 });
  await settle(pair);
  expect(records.map((record) => record.isWritten)).toEqual([true, true, false]);
});

test('[CORE-004] credit for little comes back within a moment, also of records that had to wait for a permit', async () => {
  const pair = join({ far: { permits: { max: 1, pauseThresholdPercent: 100, resumeThresholdPercent: 0 } } });
  pair.far.holding = true;
  for (let at = 0; at < 3; at++) TestRecord.send({ payload: new Uint8Array(100) }).submit(pair.near.link);
  await settle(pair);
  pair.far.letGo();
  const large = TestRecord.send({ payload: new Uint8Array(100_000) }).submit(pair.near.link);
  expect(large.isWritten).toBe(false); // it needs an empty window
  await pass(pair, 60);
  expect(large.isWritten).toBe(true);
  await pass(pair, 60);
  expect(pair.near.link.outstandingBytes).toBe(0);
});

test('[CORE-007] shrinking and growth of the window reach the sender', async () => {
  const pair = join({ far: { budgetBytes: 4 * MIN_WINDOW_BYTES, maxWindowBytes: 4 * MIN_WINDOW_BYTES } });
  const { near, far } = pair;
  const reach = async (): Promise<number> => {
    far.holding = true;
    const permits = far.permits.max - far.permits.inUse;
    for (let taken = 0; taken < permits; taken++) far.permits.tryAcquire();
    const records: TestRecord[] = [];
    while (!(records.at(-1)?.isWaiting ?? false)) {
      records.push(TestRecord.send({ payload: new Uint8Array(1_000) }).submit(near.link));
      await settle(pair);
    }
    const bytes = near.link.outstandingBytes;
    far.held += permits;
    far.letGo();
    await pass(pair, 60);
    expect([near.link.waitingRecords, near.link.outstandingBytes, far.link.phase]).toEqual([0, 0, 'open']);
    return bytes;
  };
  const spare = 1_000 + RECORD_COST_BYTES;
  expect(await reach()).toBeGreaterThan(4 * MIN_WINDOW_BYTES - spare);
  const others = [1, 2, 3].map(() => far.budget.open(() => undefined));
  await reach(); // the credit of these takes the window down
  const shrunk = await reach();
  expect(shrunk).toBeGreaterThan(MIN_WINDOW_BYTES - spare);
  expect(shrunk).toBeLessThanOrEqual(MIN_WINDOW_BYTES);
  for (const share of others) share.close();
  await settle(pair); // growth is announced by itself
  expect(await reach()).toBeGreaterThan(4 * MIN_WINDOW_BYTES - spare);
  await finish(pair);
});

test('[CORE-004] [CORE-008] a waiting record that fills the batch is written once, also if one before it was just taken back', async () => {
  const windowBytes = 4 * MIN_WINDOW_BYTES;
  const pair = join({ far: { maxWindowBytes: windowBytes } });
  const payload = new Uint8Array(70_000);
  for (let at = 0; at < 3; at++) TestRecord.send({ payload }).submit(pair.near.link);
  while (pair.near.pipe.deliver());
  await loopTurns(1); // the far side returns credit, which is under way
  const [withdrawn, request, last] = [TestRecord.send({ payload }), TestRecord.request({ payload }), TestRecord.send()];
  for (const record of [withdrawn, request, last]) expect(record.submit(pair.near.link).isWritten).toBe(false);
  expect(withdrawn.withdraw(pair.near.link)).toBe(true);
  pair.far.pipe.deliver(); // in the turn of the withdrawal
  expect([request.journal, last.journal]).toEqual([['admitted'], ['admitted']]);
  await settle(pair);
  expect(pair.far.received.map((record) => record.payload.length)).toEqual([70_000, 70_000, 70_000, 70_000, 0]);
  expect(pair.near.link.pendingRequests).toBe(1);
});

test('[CORE-004] no more than 65,536 records wait for credit on one link', () => {
  const pair = join({ completionLane: true, far: { permits: { max: 1 } } });
  TestRecord.send({ payload: new Uint8Array(100_000) }).submit(pair.near.link);
  for (let at = 0; at < 65_536; at++) TestRecord.send().submit(pair.near.link);
  const oneMore = TestRecord.send();
  expect(thrownBy(() => oneMore.submit(pair.near.link))).toMatchObject({ kind: 'CapacityExceeded', submitted: false });
  expect(oneMore.journal).toEqual([]);
  expect(pair.near.link.waitingRecords).toBe(65_536);
  const reply = TestRecord.reply(1, { name: NAME });
  expect(reply.submit(pair.near.link).isWritten).toBe(true); // the lane has room
});
