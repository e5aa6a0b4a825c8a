/** What a link says of its traffic, against the bytes on the pipe. */
import { MIN_WINDOW_BYTES, RECORD_COST_BYTES } from '../../../src/internal/wire/index.ts';
import { RecordKind } from '../../../src/internal/wire/record.ts';
import { type LinkSide, pass, settle } from './link-side.ts';
import { join, say, shapes } from './raw-peer.ts';
import { TestRecord } from './test-record.ts';

const bytesSent = ({ pipe }: LinkSide): number => pipe.sent.flat().reduce((sum, { length }) => sum + length, 0);

test.each(shapes)('[CORE-001] a link counts each byte that it says, and each message once ($title)', async (shape) => {
  const pair = join({ ...shape, far: { maxWindowBytes: 4 * MIN_WINDOW_BYTES } });
  const { near, far } = pair;
  far.onDelivered = (record) => {
    if (record.kind === RecordKind.request) far.reply(record);
  };
  for (let turn = 1; turn <= 3; turn++) {
    for (let at = 0; at < 10; at++) TestRecord.send({ payload: new Uint8Array(at * 1_000) }).submit(near.link);
    TestRecord.request({ payload: new Uint8Array(100_000) }).submit(near.link);
    await pass(pair, 60); // until all credit is back
    expect(near.link.traffic).toMatchObject({ sentMessages: turn * 11, receivedMessages: turn });
    expect(far.link.traffic).toMatchObject({ sentMessages: turn, receivedMessages: turn * 11 });
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      expect([from.link.traffic.sentBytes, to.link.traffic.receivedBytes]).toEqual([bytesSent(from), bytesSent(from)]);
    }
  }
});

test('[CORE-001] what a peer says about the link are bytes and no message', async () => {
  const pair = join();
  say(pair, { kind: RecordKind.probe, correlation: 7 }, { kind: RecordKind.cancel, correlation: 7 });
  await settle(pair);
  expect(pair.far.link.traffic).toMatchObject({
    sentMessages: 0,
    receivedMessages: 0,
    receivedBytes: 32,
    sentBytes: 16,
  });
});

test('[CORE-001] a message counts as sent once it has left: one that waits, is taken back or is lost has not', async () => {
  const pair = join();
  const { near } = pair;
  const [large, small] = [new Uint8Array(60_000), new Uint8Array(6_000)];
  TestRecord.send({ payload: large }).submit(near.link);
  const [backed, waiting] = [0, 1].map(() => TestRecord.send({ payload: small }).submit(near.link));
  expect(near.link.traffic).toMatchObject({ sentMessages: 0, sentBytes: 0, waitingMessages: 2 });
  backed?.withdraw(near.link);
  expect(near.link.traffic.waitingMessages).toBe(1);
  await pass(pair, 60);
  expect(waiting?.isWritten).toBe(true);
  expect(near.link.traffic).toMatchObject({ sentMessages: 2, sentBytes: bytesSent(near), waitingMessages: 0 });
  near.pipe.sendFault = new Error('no more');
  TestRecord.send().submit(near.link);
  await settle(pair);
  expect(near.link.phase).toBe('closed');
  expect(near.link.traffic).toMatchObject({ sentMessages: 2, sentBytes: bytesSent(near) });
});

test('[CORE-004] [CORE-007] the window that a link shows is the one that its peer grants at the moment', async () => {
  const pair = join();
  const { link } = pair.far;
  TestRecord.send({ payload: new Uint8Array(100) }).submit(link);
  const before = link.traffic;
  say(pair, { kind: RecordKind.credit, aux: 64, correlation: 3 * MIN_WINDOW_BYTES });
  await settle(pair);
  const outstandingBytes = 100 + RECORD_COST_BYTES;
  expect(before).toMatchObject({ outstandingBytes, windowBytes: MIN_WINDOW_BYTES });
  expect(link.traffic).toMatchObject({ outstandingBytes: outstandingBytes - 64, windowBytes: 3 * MIN_WINDOW_BYTES });
  expect(Object.isFrozen(before)).toBe(true);
});
