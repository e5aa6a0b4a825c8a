import { randomBytes, seededRandom } from '@zlink/testing';
import fc from 'fast-check';
import { checkBeacon } from '../../../src/internal/wire/beacon.ts';
import { EventReader } from '../../../src/internal/wire/event-reader.ts';
import { refusedRun } from '../../../src/internal/wire/event-topics.ts';
import { EVENT_FRAME_BYTES } from '../../../src/internal/wire/limits.ts';
import type { RandomSource } from '../../../src/internal/time/index.ts';
import { changed } from './mutation.ts';
import { batchAt, write } from './plain-events.ts';
import { eventVectors, vectorNamed } from './vectors.ts';

const isLong = process.env['ZLINK_LONG'] === '1';
const MUTATIONS = isLong ? 1_000_000 : 50_000;

function check(condition: boolean, what: string): void {
  if (!condition) throw new Error(what);
}

/**
 * Reads messages as one subscription does.
 *
 * @returns the first fault; undefined: all were read to their ends
 * @throws Error if anything was made that the messages do not account for
 */
function swallow(messages: readonly (readonly Uint8Array[])[]): string | undefined {
  const reader = new EventReader();
  let receivedBytes = 0;
  for (const parts of messages) {
    for (const part of parts) receivedBytes += part.length;
    checkBeacon(parts);
    check(refusedRun(parts) !== 0n, 'generation of a refused run');
    let events = 0;
    if (reader.open(parts)) {
      check(reader.generation !== 0n && reader.sequence >= 0, 'head');
      while (reader.next()) {
        check(++events * 10 <= receivedBytes, 'more events than bytes');
        checkEvent(reader, parts, receivedBytes);
      }
    }
    check(!reader.next(), 'an event behind the last one, or behind a fault');
    if (reader.fault !== '') return reader.fault;
  }
  return undefined;
}

function checkEvent(reader: EventReader, parts: readonly Uint8Array[], receivedBytes: number): void {
  const { payload, payloadStart, payloadEnd, topic, sequence } = reader;
  const isJoined = !parts.includes(payload);
  check(!isJoined || payload.length <= receivedBytes, 'more was joined than was received');
  check(
    payloadStart >= 0 && payloadStart <= payloadEnd && payloadEnd <= payload.length,
    'the payload leads out of its frame',
  );
  const { traceStart, traceEnd } = reader;
  check(
    traceStart >= 0 && traceStart <= traceEnd && traceEnd <= payloadStart,
    'the trace section leads out of its place',
  );
  check(topic.length <= 255 && topic.buffer === payload.buffer, 'topic');
  check(sequence >= 1 && Number.isSafeInteger(sequence), 'sequence');
}

interface Tally {
  readonly whole: number;
  readonly broken: number;
  readonly faults: ReadonlySet<string>;
}

function fuzz(count: number, next: () => readonly (readonly Uint8Array[])[]): Tally {
  const faults = new Set<string>();
  let broken = 0;
  for (let at = 0; at < count; at++) {
    const messages = next();
    let fault: string | undefined;
    try {
      fault = swallow(messages);
    } catch (cause) {
      const hex = messages.flat().map((part) => Buffer.from(part.subarray(0, 2_000)).toString('hex'));
      throw new Error(`input ${at}: ${hex.join(' | ')}`, { cause });
    }
    if (fault === undefined) continue;
    broken++;
    faults.add(fault.replace(/\d+/g, 'N'));
  }
  return { whole: count - broken, broken, faults };
}

const pick = <T>(random: RandomSource, values: readonly T[]): T => values[Math.floor(random() * values.length)] as T; // in range

function smallFrames(): (readonly Uint8Array[])[] {
  const batch = batchAt(1_000);
  for (let at = 0; at < 5; at++)
    write(batch, { topic: `t${at}`, contentType: 'a/b', packetName: 'p', payload: new Uint8Array(at * 9) });
  return batch.take().map((frame) => [frame]);
}

const small = [
  ...eventVectors.filter(({ name }) => !name.includes('first')).map(({ parts }) => parts),
  ...smallFrames(),
];
const pieces = [vectorNamed('event-piece-first').parts, vectorNamed('event-piece-last').parts];

/** One to three messages, each of them changed a little or not at all; now and then the pieces of one event. */
function mutatedMessages(random: RandomSource): (readonly Uint8Array[])[] {
  const messages =
    random() < 0.02 ? [...pieces] : Array.from({ length: 1 + Math.floor(random() * 3) }, () => pick(random, small));
  const which = Math.floor(random() * messages.length);
  return messages.map((parts, at) => (at === which ? changed(random, parts, small) : parts));
}

test(`[FAN-004] [C06] ${MUTATIONS.toLocaleString('en')} mutated messages: none throws, none hangs, none makes more than it holds`, () => {
  const random = seededRandom(0x5a4c4e46);
  const { whole, broken, faults } = fuzz(MUTATIONS, () => mutatedMessages(random));
  // The inputs are worth something only if they reach both ends, and all checks.
  expect(whole).toBeGreaterThan(MUTATIONS / 20);
  expect(broken).toBeGreaterThan(MUTATIONS / 4);
  expect([...faults].sort()).toEqual(
    expect.arrayContaining([
      'batch has no events',
      'form N is unknown',
      'frame does not begin as one of a publisher',
      'head of the frame is cut off or is no UTF-N',
      'message has N parts, not N',
      'name N is out of turn',
      'name is cut off',
      'name is no UTF-N',
      'payload has N bytes, allowed are N',
      'payload is cut off',
      'payload length is cut off',
      'piece counts events',
      'piece does not fill its frame',
      'piece is cut off',
      'piece leads beyond its event',
      'there are bytes behind the last event',
      'trace context has N bytes, allowed are N',
      'trace context is cut off',
      'version N is unknown',
    ]),
  );
}, 600_000);

test('[FAN-004] [C06] arbitrary parts are read to a fault, and nothing is made that they do not hold', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(fc.uint8Array({ maxLength: 300, size: 'max' }), { maxLength: 3 }), { maxLength: 3 }),
      (messages) => {
        swallow(messages);
      },
    ),
    { numRuns: isLong ? 100_000 : 5_000 },
  );
});

test('[FAN-004] arbitrary bytes behind a valid head are read or refused', () => {
  const head = (form: number, events: number): Buffer => {
    const bytes = Buffer.from('5a4c4e460107000000000000000000000900000000000000046e657773', 'hex');
    bytes[13] = form;
    bytes.writeUInt16LE(events, 14);
    return bytes;
  };
  fc.assert(
    fc.property(fc.nat(3), fc.nat(4), fc.uint8Array({ maxLength: 80, size: 'max' }), (form, events, body) => {
      swallow([[Buffer.concat([head(form, events), body])]]);
    }),
    { numRuns: isLong ? 100_000 : 5_000 },
  );
});

test('[FAN-004] [C06] random strings of 1 to 4,096 bytes are no message of a publisher', () => {
  const random = seededRandom(8);
  const count = isLong ? 200_000 : 20_000;
  const pool = randomBytes(random, 1_048_576);
  const { broken } = fuzz(count, () => {
    const start = Math.floor(random() * (pool.length - 4_096));
    return [[pool.slice(start, start + 1 + Math.floor(random() * 4_096))]];
  });
  expect(broken).toBe(count);
}, 600_000);

/** A frame with the fields given, and a body. */
function frameOf(
  fields: { form?: number; events?: number; generation?: bigint; sequence?: bigint },
  ...body: number[]
): Buffer {
  const frame = Buffer.alloc(29 + body.length);
  frame.write('ZLNF', 0, 'latin1');
  frame[4] = 1;
  frame[13] = fields.form ?? 1;
  frame.writeUInt16LE(fields.events ?? 1, 14);
  frame.writeBigUInt64LE(fields.generation ?? 7n, 5);
  frame.writeBigUInt64LE(fields.sequence ?? 9n, 16);
  frame[24] = 4;
  frame.write('news', 25, 'latin1');
  frame.set(body, 29);
  return frame;
}

const emptyEvent = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

test.each<[string, readonly Uint8Array[]]>([
  ['message has 0 parts, not 1', []],
  ['message has 2 parts, not 1', [frameOf({}, ...emptyEvent), frameOf({}, ...emptyEvent)]],
  ['frame has more than 65536 bytes', [new Uint8Array(EVENT_FRAME_BYTES + 1)]],
  ['frame does not begin as one of a publisher', [new Uint8Array(0)]],
  ['generation is 0', [frameOf({ generation: 0n }, ...emptyEvent)]],
  ['sequence is out of range', [frameOf({ sequence: 0n }, ...emptyEvent)]],
  ['sequence is out of range', [frameOf({ sequence: (1n << 53n) - 1n }, ...emptyEvent)]],
  ['sequence is out of range', [frameOf({ sequence: (1n << 64n) - 1n }, ...emptyEvent)]],
  ['form 3 is unknown', [frameOf({ form: 3 }, ...emptyEvent)]],
  ['batch has no events', [frameOf({ events: 0 })]],
  ['payload length is cut off', [frameOf({}, 0, 0, 0, 0, 0, 0, 0, 0, 0)]],
  ['there are bytes behind the last event', [frameOf({}, ...emptyEvent, 0)]],
  ['name is cut off', [frameOf({ events: 2 }, ...emptyEvent)]],
  ['payload has 2147483647 bytes, allowed are 16777216', [frameOf({}, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 127)]],
  ['trace context is cut off', [frameOf({}, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 128, 1)]],
  ['trace context is cut off', [frameOf({}, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 128, 2, 0, 7)]],
  ['trace context is empty', [frameOf({}, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 128, 0, 0)]],
  [
    'trace context has 1025 bytes, allowed are 1024',
    [frameOf({}, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 128, 1, 4, ...Array.from({ length: 1_025 }, () => 7))],
  ],
  ['event has more than 16777216 bytes', [frameOf({ form: 2, events: 0 }, 255, 255, 255, 255, 0, 0, 0, 0, 1)]],
  ['piece is cut off', [frameOf({ form: 2, events: 0 }, 1, 0, 0, 0, 0, 0, 0, 0)]],
  ['piece leads beyond its event', [frameOf({ form: 2, events: 0 }, 1, 0, 0, 0, 1, 0, 0, 0, 1)]],
  ['piece does not fill its frame', [frameOf({ form: 2, events: 0 }, 2, 0, 0, 0, 0, 0, 0, 0, 1)]],
])('[FAN-004] %s: read to the fault and no further', (fault, parts) => {
  expect(swallow([parts])).toBe(fault);
});

test('[FAN-004] the largest sequence is read', () => {
  const reader = new EventReader();
  expect(reader.open([frameOf({ sequence: (1n << 53n) - 2n }, ...emptyEvent)])).toBe(true);
  expect([reader.next(), reader.sequence, reader.fault]).toEqual([true, Number.MAX_SAFE_INTEGER - 1, '']);
});

test('[FAN-004] an event in pieces is lost with any of them, and so is one that another message interrupts', () => {
  const [first, last] = pieces;
  if (first === undefined || last === undefined) throw new Error('a vector is missing');
  const batch = vectorNamed('event-batch').parts;
  const eventsOf = (...messages: (readonly Uint8Array[])[]): number[] => {
    const reader = new EventReader();
    return messages.flatMap((parts) => {
      const sequences: number[] = [];
      if (reader.open(parts)) while (reader.next()) sequences.push(reader.sequence);
      expect(reader.fault).toBe('');
      return sequences;
    });
  };
  expect(eventsOf(first, last)).toEqual([44]);
  expect(eventsOf(first, first, last)).toEqual([44]);
  expect(eventsOf(first, last, last)).toEqual([44]);
  expect(eventsOf(last)).toEqual([]);
  expect(eventsOf(last, first)).toEqual([]);
  expect(eventsOf(first, batch, last)).toEqual([41, 42, 43]);
  const otherGeneration = Buffer.from(last[0] ?? []);
  otherGeneration[8] = 0;
  const otherSequence = Buffer.from(last[0] ?? []);
  otherSequence[16] = 0x2d;
  const otherTotal = Buffer.from(last[0] ?? []).subarray(0, -1);
  otherTotal.writeUInt32LE(70_050, 29);
  for (const other of [otherGeneration, otherSequence, otherTotal]) expect(eventsOf(first, [other])).toEqual([]);
  const halfBytes = EVENT_FRAME_BYTES - 37;
  const half = (offset: number): Uint8Array[] => {
    const frame = Buffer.concat([frameOf({ form: 2, events: 0 }, 0, 0, 0, 0, 0, 0, 0, 0), Buffer.alloc(halfBytes)]);
    frame.writeUInt32LE(2 * halfBytes, 29);
    frame.writeUInt32LE(offset, 33);
    return [frame];
  };
  expect(eventsOf(half(0), half(1))).toEqual([]); // as many bytes as announced, but not those
});

test('[FAN-004] pieces that announce much and bring little cost no more than they bring', () => {
  const before = process.memoryUsage();
  const readers: EventReader[] = [];
  for (let round = 0; round < 1_000; round++) {
    const reader = new EventReader();
    readers.push(reader);
    const frame = Buffer.concat([
      frameOf({ form: 2, events: 0 }, 0, 0, 0, 1, 0, 0, 0, 0),
      Buffer.alloc(EVENT_FRAME_BYTES - 37),
    ]);
    expect(reader.open([frame])).toBe(true);
    reader.open([new Uint8Array(0)]); // a fault, which drops what has come
  }
  const after = process.memoryUsage();
  expect(readers).toHaveLength(1_000);
  expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(256 * 1_048_576);
});
