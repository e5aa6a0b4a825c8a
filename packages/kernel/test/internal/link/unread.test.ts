import { Unread } from '../../../src/internal/link/unread.ts';
import { RecordKind } from '../../../src/internal/wire/record.ts';
import { settle } from './link-side.ts';
import { finish, introduction, join, message, recordsIn, say } from './raw-peer.ts';
import { TestRecord } from './test-record.ts';

const LIMIT_BYTES = 67_108_864;
const MIB = 1_048_576;

const sizeOf = (messages: readonly Uint8Array[][]): number =>
  messages.flat().reduce((bytes, part) => bytes + part.length, 0);

test('[CORE-005] [C06] a mesh peer that asks and never reads ends when the replies to it reach the limit, not the memory', async () => {
  const pair = join({ completionLane: true });
  const payload = new Uint8Array(MIB);
  pair.far.onDelivered = (record) => pair.far.reply(record, payload);
  pair.near.pipe.sink = undefined; // what arrives is read by nobody
  say(pair, introduction);
  for (let correlation = 1; correlation <= 100; correlation++) {
    say(pair, { kind: RecordKind.request, nameId: 1, correlation });
    for (let id = 0; id < 5; id++) pair.far.link.onPipeMessage([message(RecordKind.ack, id, 0)], 0);
    await settle(pair);
  }
  expect(pair.far.closed).toEqual([`more than ${LIMIT_BYTES} bytes were left unread`]);
  expect(pair.far.violations).toEqual([]); // slow is no breach of the protocol
  const sentBytes = sizeOf(pair.far.pipe.sent);
  expect(sentBytes).toBeGreaterThan(LIMIT_BYTES);
  expect(sentBytes).toBeLessThan(LIMIT_BYTES + 2 * MIB);
  expect(pair.far.wheel.size).toBe(0);
  expect(recordsIn(pair.far.pipe.sent.slice(-1))).toMatchObject([{ kind: RecordKind.reject }]); // the peer is told why
});

test('[CORE-005] a flood within one turn ends the link at the end of the turn', async () => {
  const pair = join({ completionLane: true });
  const payload = new Uint8Array(MIB);
  pair.far.onDelivered = (record) => pair.far.reply(record, payload);
  pair.near.pipe.sink = undefined;
  const requests = Array.from({ length: 80 }, (_, at) => ({
    kind: RecordKind.request,
    nameId: 1,
    correlation: at + 1,
  }));
  say(pair, introduction, ...requests);
  await settle(pair);
  expect(pair.far.closed).toEqual([`more than ${LIMIT_BYTES} bytes were left unread`]);
  expect(pair.far.faults).toEqual([]);
});

test('[CORE-005] a peer that reads is asked for proof in time and gets any amount of replies', async () => {
  const pair = join({ completionLane: true });
  const payload = new Uint8Array(MIB);
  pair.far.onDelivered = (record) => pair.far.reply(record, payload);
  let replied = 0;
  for (let at = 0; at < 150; at++) {
    const request = TestRecord.request().submit(pair.near.link);
    await settle(pair);
    replied += request.journal.filter((entry) => entry === 'replied').length;
  }
  expect([replied, pair.far.link.phase]).toEqual([150, 'open']);
  const probes = recordsIn(pair.far.pipe.sent).filter(({ kind }) => kind === RecordKind.probe);
  expect(probes.length).toBe(4); // each 32 MiB; no time has passed
  await finish(pair);
});

test('[CORE-005] one message of any size is no reason to end a link, and its reading is proof as any other', () => {
  const unread = new Unread(0);
  expect(unread.add(10 * LIMIT_BYTES)).toBe(true);
  unread.probed();
  for (let at = 0; at < 31; at++) unread.add(MIB);
  expect(unread.excess).toBeUndefined();
  unread.proven(); // the large one was read, what came behind the probe perhaps not
  expect(unread.add(MIB - 1)).toBe(false);
  expect(unread.add(1)).toBe(true);
  for (let at = 0; at < 32; at++) unread.add(MIB);
  expect(unread.excess).toBeUndefined();
  unread.add(1);
  expect(unread.excess).toBe(`more than ${LIMIT_BYTES} bytes were left unread`);
});

test('[CORE-005] a turn in which nothing was written asks for no proof again', () => {
  const unread = new Unread(0);
  expect([unread.add(LIMIT_BYTES), unread.add(0)]).toEqual([true, false]);
});

test('[CORE-005] [CORE-007] one peer may leave as much unread as all together may have under way to this host', () => {
  const unread = new Unread(4 * LIMIT_BYTES);
  for (let at = 0; at < 4; at++) expect(unread.add(LIMIT_BYTES)).toBe(at >= 1);
  expect(unread.excess).toBeUndefined();
  unread.add(1);
  expect(unread.excess).toBe(`more than ${4 * LIMIT_BYTES} bytes were left unread`);
});
