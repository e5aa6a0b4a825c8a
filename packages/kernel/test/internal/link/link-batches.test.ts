/** What leaves together, in which order, and in how large parts. */
import { loopTurns } from '@zlink/testing';
import { NAME_LIMIT, NameIndex } from '../../../src/internal/wire/index.ts';
import { FLUSH_BYTES } from '../../../src/internal/wire/limits.ts';
import { RecordKind } from '../../../src/internal/wire/record.ts';
import { settle } from './link-side.ts';
import { join, recordsIn } from './raw-peer.ts';
import { TestRecord } from './test-record.ts';

test('[WIRE-004] 4,096 names are introduced once each; further ones travel inline, whole', async () => {
  const names = new NameIndex();
  const count = NAME_LIMIT + 300;
  const pair = join({ far: { maxWindowBytes: 4_194_304 } });
  const nameOf = (at: number) => names.get(`scope ${at % 3}`, 'a/b', `packet ${at}`);
  for (let round = 0; round < 2; round++) {
    for (let at = 0; at < count; at++) TestRecord.send({ name: nameOf(at) }).submit(pair.near.link);
    await settle(pair);
  }
  expect(pair.far.link.phase).toBe('open');
  const arrived = pair.far.received.map(({ name }) => `${name?.scope}/${name?.packetName}`);
  const expected = Array.from({ length: count }, (_, at) => `scope ${at % 3}/packet ${at}`);
  expect(arrived).toEqual([...expected, ...expected]);
  const sent = recordsIn(pair.near.pipe.sent);
  expect(sent.filter(({ kind }) => kind === RecordKind.name).map(({ nameId }) => nameId)).toEqual(
    Array.from({ length: NAME_LIMIT }, (_, at) => at + 1),
  );
  expect(sent.filter(({ inlineName }) => inlineName !== undefined)).toHaveLength(2 * 300);
});

test('[CORE-001] [SEC-002] thousands of new names in one turn leave in parts of bounded size', async () => {
  const names = new NameIndex();
  const pair = join({ far: { maxWindowBytes: 4_194_304 } });
  for (let at = 0; at < 4_000; at++) {
    TestRecord.send({ name: names.get('s', 'a/b', `${at}`.padEnd(250, '-')) }).submit(pair.near.link);
  }
  await settle(pair);
  expect(pair.far.received).toHaveLength(4_000);
  const largest = Math.max(...pair.near.pipe.sent.flat().map((part) => part.length));
  expect(largest).toBeLessThan(FLUSH_BYTES + 1_024);
});

test('[CORE-005] thousands of cancels in one turn leave in parts of bounded size', async () => {
  const pair = join({ far: { maxWindowBytes: 4_194_304 } });
  const requests = Array.from({ length: 10_000 }, () => TestRecord.request().submit(pair.near.link));
  await settle(pair);
  pair.near.pipe.sent.length = 0;
  for (const request of requests) request.abandon(pair.near.link, true);
  await settle(pair);
  expect(pair.far.canceled).toHaveLength(10_000);
  expect(pair.near.pipe.sent.length).toBeGreaterThan(1);
  expect(Math.max(...pair.near.pipe.sent.flat().map((part) => part.length))).toBeLessThan(FLUSH_BYTES + 1_024);
});

test('[CORE-001] records of one turn leave in one message, at the end of the turn', async () => {
  const pair = join();
  for (let at = 0; at < 100; at++) TestRecord.send({ payload: Buffer.from(`${at}`) }).submit(pair.near.link);
  await Promise.resolve();
  expect(pair.near.pipe.sent).toEqual([]); // not in a microtask
  await loopTurns(1);
  expect(pair.near.pipe.sent).toHaveLength(1);
  await settle(pair);
  expect(pair.far.received.map(({ payload }) => Buffer.from(payload).toString())).toEqual(
    Array.from({ length: 100 }, (_, at) => `${at}`),
  );
});

test('[CORE-001] a batch that has reached 64 KiB leaves at once', () => {
  const pair = join({ far: { maxWindowBytes: 4_194_304 } });
  for (let at = 0; at < 64; at++) TestRecord.send({ payload: new Uint8Array(1_024) }).submit(pair.near.link);
  expect(pair.near.pipe.sent).toHaveLength(1);
});

test('[CORE-005] credit, probes and replies of a RouteMesh link leave before the ordinary records of their turn', async () => {
  const pair = join({ completionLane: true });
  pair.near.onDelivered = (record) => {
    for (let at = 0; at < 3; at++) TestRecord.send().submit(pair.near.link);
    pair.near.reply(record);
  };
  TestRecord.request({ payload: new Uint8Array(30_000) }).submit(pair.far.link);
  await settle(pair);
  const kinds = recordsIn(pair.near.pipe.sent.slice(0, 1)).map(({ kind }) => kind);
  expect(kinds).toEqual([
    RecordKind.name,
    RecordKind.reply,
    RecordKind.credit,
    RecordKind.send,
    RecordKind.send,
    RecordKind.send,
  ]);
});
