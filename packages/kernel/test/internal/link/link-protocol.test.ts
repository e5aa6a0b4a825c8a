import { ManualClock, loopTurns } from '@zlink/testing';
import type { OutboundRequest } from '../../../src/internal/transport/index.ts';
import type { Descriptor } from '../../../src/internal/wire/index.ts';
import {
  DescriptorState,
  MIN_WINDOW_BYTES,
  NAME_LIMIT,
  NameIndex,
  type OutboundName,
  PENDING_LIMIT,
  RECORD_COST_BYTES,
} from '../../../src/internal/wire/index.ts';
import { BatchBuffer } from '../../../src/internal/wire/batch-buffer.ts';
import { encodeDescriptor, encodeRejection, RejectReason } from '../../../src/internal/wire/hello.ts';
import { FLUSH_BYTES } from '../../../src/internal/wire/limits.ts';
import type { NameTable } from '../../../src/internal/wire/record-reader.ts';
import { GoodbyePhase, RecordKind } from '../../../src/internal/wire/record.ts';
import { decodeMessage, type PlainRecord } from '../wire/message-codec.ts';
import { DESCRIPTOR, type JoinOptions, type LinkPair, joinLinks, leftovers, pass, settle } from './link-side.ts';
import { NAME, TestRecord } from './test-record.ts';

const shapes = [
  { title: 'ClientServer', completionLane: false },
  { title: 'RouteMesh', completionLane: true },
] as const;

const join = (options: Partial<JoinOptions> = {}): LinkPair =>
  joinLinks(new ManualClock(), { completionLane: false, ...options });

interface RawRecord {
  readonly kind: RecordKind;
  readonly nameId?: number;
  readonly correlation?: number;
  readonly aux?: number;
  readonly payload?: Uint8Array;
}

/** What a peer would send that does not keep the rules. */
function say({ near }: LinkPair, ...records: readonly RawRecord[]): void {
  const buffer = new BatchBuffer();
  for (const { kind, nameId = 0, correlation = 0, aux = 0, payload } of records) {
    buffer.begin(kind, nameId, correlation, aux);
    if (payload !== undefined) buffer.writeInline(payload);
    buffer.commit();
  }
  const parts: Uint8Array[] = [];
  buffer.take(parts);
  near.pipe.send(parts);
}

function recordsIn(messages: readonly Uint8Array[][]): PlainRecord[] {
  const names: NameTable = [];
  return messages.flatMap((parts) => {
    const batches = decodeMessage(parts, names);
    if (typeof batches === 'string') throw new Error(batches);
    return batches.flat();
  });
}

const nameBody = Buffer.from('\0\x03a/bpacket', 'latin1');
const introduction: RawRecord = { kind: RecordKind.name, nameId: 1, payload: nameBody };

/** A single record without payload, as it arrives. */
function message(kind: RecordKind, correlation: number, aux: number): Uint8Array {
  const buffer = new BatchBuffer();
  buffer.begin(kind, 0, correlation, aux);
  buffer.commit();
  const parts: Uint8Array[] = [];
  buffer.take(parts);
  return parts[0] as Uint8Array; // one record makes one part
}

const creditMessage = (bytes: number, windowBytes: number): Uint8Array => message(RecordKind.credit, windowBytes, bytes);

/** Ends the pair in order and looks for what is left. */
async function finish(pair: LinkPair): Promise<void> {
  pair.near.letGo();
  pair.far.letGo();
  pair.near.link.finish();
  await pass(pair, 100);
  expect(leftovers(pair)).toEqual([]);
}

async function expectViolation(pair: LinkPair, fault: string | RegExp): Promise<void> {
  await settle(pair);
  expect(pair.far.closed).toHaveLength(1);
  expect(pair.far.closed[0]).toMatch(fault);
  expect(pair.far.closed[0]).toMatch(/^protocol error: /);
  expect(pair.far.violations.map((violation) => `protocol error: ${violation}`)).toEqual(pair.far.closed); // recorded once
  expect(pair.near.closed[0]).toMatch(/^peer: protocol error: /); // the other side is told why
  expect(pair.far.faults).toEqual([]);
  pair.far.letGo();
  expect(leftovers(pair)).toEqual([]);
}

test('[WIRE-003] a record of an unknown kind closes the link, and only after what came before it', async () => {
  const pair = join();
  TestRecord.send({ payload: Buffer.from('before') }).submit(pair.near.link);
  await settle(pair);
  pair.near.pipe.send([Uint8Array.of(0x7f, ...new Array<number>(15).fill(0))]);
  await expectViolation(pair, 'record kind 127 is unknown');
  expect(pair.far.received).toHaveLength(1);
});

test('[WIRE-003] records behind the one that broke the protocol are not delivered', async () => {
  const pair = join();
  say(
    pair,
    introduction,
    { kind: RecordKind.send, nameId: 1 },
    { kind: RecordKind.send, nameId: 2 },
    { kind: RecordKind.send, nameId: 1 },
  );
  await expectViolation(pair, 'record names id 2, which was not introduced');
  expect(pair.far.received).toHaveLength(1);
});

test.each(shapes)('[WIRE-004] a name that was not introduced closes the link, in replies too ($title)', async (shape) => {
  for (const kind of [RecordKind.send, RecordKind.request, RecordKind.reply]) {
    const pair = join(shape);
    say(pair, { kind, nameId: 7, correlation: 1 });
    await expectViolation(pair, 'record names id 7, which was not introduced');
  }
});

test('[WIRE-004] a name introduced out of turn, or a malformed one, closes the link', async () => {
  for (const [record, fault] of [
    [{ ...introduction, nameId: 2 }, 'name id 2 is out of turn'],
    [{ ...introduction, nameId: 0 }, 'name id 0 is outside'],
    [{ ...introduction, payload: Buffer.from([0, 0, 0xc3, 0x28]) }, 'name is malformed'],
  ] as const) {
    const pair = join();
    say(pair, record);
    await expectViolation(pair, fault);
  }
});

test.each([RecordKind.hello, RecordKind.admit])('[WIRE-001] a record of kind %i after admission closes the link', async (kind) => {
  const pair = join();
  say(pair, { kind });
  await expectViolation(pair, `record kind ${kind} after admission`);
});

test('[WIRE-001] a reject after admission ends the link with the peer’s reason, and is not answered', async () => {
  const pair = join();
  say(pair, { kind: RecordKind.reject, payload: encodeRejection({ reason: RejectReason.ended, text: 'had enough' }) });
  await settle(pair);
  expect(pair.far.closed).toEqual(['peer: had enough']);
  expect(recordsIn(pair.far.pipe.sent)).toEqual([]);
});

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

const update = (descriptor: Descriptor): RawRecord => ({ kind: RecordKind.update, payload: encodeDescriptor(descriptor) });

test('[WIRE-001] [CS-005] an update with a higher revision takes effect, with any weight and state', async () => {
  const pair = join();
  const next: Descriptor = {
    ...DESCRIPTOR,
    revision: 9n,
    state: DescriptorState.draining,
    channels: [{ name: 'billing', weight: 0 }],
  };
  say(pair, update(next));
  await settle(pair);
  expect([pair.far.link.descriptor, pair.far.updates]).toEqual([next, [next]]);
  say(pair, update({ ...next, revision: 2n ** 64n - 1n }));
  await settle(pair);
  expect(pair.far.link.descriptor.revision).toBe(2n ** 64n - 1n);
});

test.each<[string, Descriptor, string]>([
  ['an equal revision', DESCRIPTOR, 'update to revision 1 after 1'],
  ['a lower revision', { ...DESCRIPTOR, revision: 0n }, 'update to revision 0 after 1'],
  ['another channel', { ...DESCRIPTOR, revision: 2n, channels: [{ name: 'other', weight: 1 }] }, 'set of channels changed'],
  ['no channel', { ...DESCRIPTOR, revision: 2n, channels: [] }, 'set of channels changed'],
  [
    'one more channel',
    {
      ...DESCRIPTOR,
      revision: 2n,
      channels: [
        { name: 'billing', weight: 1 },
        { name: 'b', weight: 1 },
      ],
    },
    'set of channels changed',
  ],
  [
    'a channel twice',
    {
      ...DESCRIPTOR,
      revision: 2n,
      channels: [
        { name: 'billing', weight: 1 },
        { name: 'billing', weight: 1 },
      ],
    },
    'malformed update',
  ],
  ['a weight above 10,000', { ...DESCRIPTOR, revision: 2n, channels: [{ name: 'billing', weight: 10_001 }] }, 'malformed update'],
])('[WIRE-001] [CS-005] an update with %s closes the link and changes nothing', async (_, descriptor, fault) => {
  const pair = join();
  say(pair, update(descriptor));
  await expectViolation(pair, fault);
  expect([pair.far.link.descriptor, pair.far.updates]).toEqual([DESCRIPTOR, []]);
});

test('[WIRE-001] an update of many channels arrives: control records never have external payloads', async () => {
  const channels = Array.from({ length: 250 }, (_, at) => ({ name: `${at}`.padEnd(250, '-'), weight: 1 }));
  const pair = join();
  pair.near.link.update({ ...DESCRIPTOR, revision: 2n, channels });
  await settle(pair);
  expect(pair.far.closed).toEqual(['protocol error: set of channels changed']); // it was read, and found to be another set
});

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
  expect(kinds).toEqual([RecordKind.name, RecordKind.reply, RecordKind.credit, RecordKind.send, RecordKind.send, RecordKind.send]);
});

test.each(shapes)('[LIVE-001] application traffic is no answer to a probe ($title)', async (shape) => {
  const pair = join(shape);
  pair.far.pipe.send = () => undefined; // the far side hears everything and says nothing
  for (let atMs = 0; atMs < 15_200; atMs += 100) {
    pair.near.link.onPipeMessage([message(RecordKind.probe, 1, 0)], 0); // a peer may ask, and still not answer
    await pass(pair, 100, 100);
  }
  expect(pair.near.closed).toHaveLength(1);
  expect(pair.near.closed[0]).toMatch(/^no answer to probes for 150\d\d ms$/);
});

test('[LIVE-001] [LIVE-002] a probe is answered at once, though records before it wait for a permit', async () => {
  const pair = join({ far: { permits: { max: 1 } } });
  pair.far.holding = true;
  for (let at = 0; at < 50; at++) TestRecord.send().submit(pair.near.link);
  await settle(pair);
  expect(pair.far.received).toHaveLength(1);
  await pass(pair, 60_000, 100);
  expect([pair.near.link.phase, pair.far.link.phase]).toEqual(['open', 'open']);
  await finish(pair);
});

test('[CORE-011] goodbye with an unknown phase closes the link', async () => {
  for (const aux of [0, 3, 0xffff_ffff]) {
    const pair = join();
    say(pair, { kind: RecordKind.goodbye, aux });
    await expectViolation(pair, `goodbye phase ${aux}`);
  }
});

test('[CORE-011] goodbye may be said twice, in its two phases; more of them cost memory and close the link', async () => {
  const pair = join({ far: { permits: { max: 1 } } });
  pair.far.holding = true;
  const send: RawRecord = { kind: RecordKind.send, nameId: 1 };
  const goodbye: RawRecord = { kind: RecordKind.goodbye, aux: GoodbyePhase.finishing };
  say(pair, introduction, send, send, goodbye, goodbye);
  await settle(pair);
  expect(pair.far.link.phase).toBe('open'); // they wait behind the second record
  say(pair, goodbye);
  await expectViolation(pair, 'goodbye was said before');
});

test('[CORE-011] a peer that leaves without waiting for us ends the link', async () => {
  const pair = join();
  const request = TestRecord.request().submit(pair.far.link);
  say(pair, { kind: RecordKind.goodbye, aux: GoodbyePhase.finished });
  await settle(pair);
  expect(pair.far.closed).toEqual(['peer closed the link']);
  expect([request.journal, request.error?.submitted]).toEqual([['failed'], true]);
});

test.each(shapes)('[CORE-010] a request that will have no reply does not keep a finished link open ($title)', async (shape) => {
  const pair = join(shape);
  const request = TestRecord.request().submit(pair.near.link);
  pair.far.onDelivered = () => pair.far.link.forgo();
  await settle(pair);
  pair.far.link.finish();
  await pass(pair, 100);
  expect([request.journal, request.error?.kind, request.error?.submitted]).toEqual([['failed'], 'Unavailable', true]);
  expect([pair.near.closed, pair.far.closed]).toEqual([['closed'], ['closed']]);
  expect(leftovers(pair)).toEqual([]);
});

test('[WIRE-005] a reply that nobody waits for is reported once, whoever it is for, and the link stays', async () => {
  for (const shape of shapes) {
    const pair = join(shape);
    say(pair, introduction, { kind: RecordKind.reply, nameId: 1, correlation: 77 }, { kind: RecordKind.error, correlation: 0 });
    await settle(pair);
    expect([pair.far.unmatched, pair.far.link.phase]).toEqual([[77, 0], 'open']);
    await finish(pair);
  }
});

test('[WIRE-005] abandoning a request that never got an id takes no other one with it', async () => {
  const pair = join();
  const first = TestRecord.request().submit(pair.near.link);
  const foreign = TestRecord.request({ correlation: first.correlation });
  pair.near.link.abandon(foreign, true);
  expect(pair.near.link.pendingRequests).toBe(1);
  pair.far.onDelivered = (record) => pair.far.reply(record);
  await settle(pair);
  expect([first.journal, pair.far.canceled]).toEqual([['replied'], []]);
});

/** A request as small as can be: a million of them is what the next test needs. */
class SmallRequest implements OutboundRequest {
  correlation = 0;
  costBytes = 0;
  static failed = 0;

  get kind(): RecordKind {
    return RecordKind.request;
  }

  get name(): OutboundName {
    return NAME;
  }

  get errorNumber(): number {
    return 0;
  }

  get deadlineAtMs(): number {
    return 0;
  }

  get metadata(): undefined {
    return undefined;
  }

  get trace(): undefined {
    return undefined;
  }

  encode(): void {}
  onAdmitted(): void {}
  onRefused(): void {}
  onReply(): void {}

  onFailed(): void {
    SmallRequest.failed++;
  }
}

test('[WIRE-005] [C09] a full table of pending requests refuses the next one, and all of it fails with its link', async () => {
  const pair = join();
  pair.near.pipe.send = () => undefined;
  pair.near.link.onPipeMessage([creditMessage(0, 0xffff_ffff)], 0);
  for (let at = 0; at < PENDING_LIMIT; at++) pair.near.link.submit(new SmallRequest());
  expect(pair.near.link.pendingRequests).toBe(PENDING_LIMIT);
  const oneMore = TestRecord.request();
  expect(() => oneMore.submit(pair.near.link)).toThrow(
    expect.objectContaining({ kind: 'CapacityExceeded', submitted: false }),
  );
  expect(TestRecord.send().submit(pair.near.link).isWritten).toBe(true);
  SmallRequest.failed = 0;
  pair.near.link.fail('the test says so');
  await settle(pair);
  expect([SmallRequest.failed, pair.near.link.pendingRequests, oneMore.journal]).toEqual([PENDING_LIMIT, 0, []]);
});

test('[WIRE-006] the time that is left travels rounded up, and is at least 1 ms', async () => {
  const pair = join();
  const now = pair.clock.nowMs();
  for (const deadlineAtMs of [0, now + 250.2, now, now - 5, now + 2 ** 40]) {
    TestRecord.request({ deadlineAtMs }).submit(pair.near.link);
  }
  await settle(pair);
  expect(pair.far.received.map(({ remainingMs }) => remainingMs)).toEqual([0, 251, 1, 1, 0xffff_ffff]);
});

test('[CORE-004] no more than 65,536 records wait for credit on one link', () => {
  const pair = join({ completionLane: true, far: { permits: { max: 1 } } });
  TestRecord.send({ payload: new Uint8Array(100_000) }).submit(pair.near.link);
  for (let at = 0; at < 65_536; at++) TestRecord.send().submit(pair.near.link);
  const oneMore = TestRecord.send();
  expect(() => oneMore.submit(pair.near.link)).toThrow(expect.objectContaining({ kind: 'CapacityExceeded' }));
  expect(oneMore.journal).toEqual([]);
  expect(pair.near.link.waitingRecords).toBe(65_536);
  const reply = TestRecord.reply(1, { name: NAME });
  expect(reply.submit(pair.near.link).isWritten).toBe(true); // the lane has room
});

test('[SEC-003] an error about a link shows neither payload nor key', async () => {
  const pair = join();
  const secret = Buffer.from('the secret');
  const request = TestRecord.request({ payload: secret }).submit(pair.near.link);
  pair.near.pipe.break();
  await settle(pair);
  expect(request.error?.message).toMatch(/^\[Unavailable\] link to "billing" at tcp:\/\/far:1 ended: connection lost$/);
});
