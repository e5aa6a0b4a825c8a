import fc from 'fast-check';
import { BatchBuffer } from '../../../src/internal/wire/batch-buffer.ts';
import { EXTERNAL_BYTES, HEADER_BYTES } from '../../../src/internal/wire/limits.ts';
import { RecordKind } from '../../../src/internal/wire/record.ts';
import { decodeMessage, encodeMessage, type PlainRecord, traceOf, writeRecord } from './message-codec.ts';

const text = (value: string): Uint8Array => new TextEncoder().encode(value);
const filled = (length: number, byte: number): Uint8Array => new Uint8Array(length).fill(byte);

function taken(buffer: BatchBuffer): Uint8Array[] {
  const parts: Uint8Array[] = [];
  buffer.take(parts);
  return parts;
}

function write(buffer: BatchBuffer, payload: Uint8Array, kind: RecordKind = RecordKind.send): void {
  buffer.begin(kind, 1, 0, 0);
  buffer.writeBytes(payload);
  buffer.commit();
}

/** Payloads of the records in a message, in the order in which a reader finds them. */
function payloads(parts: readonly Uint8Array[]): string[] {
  const batches = decodeMessage(parts);
  if (typeof batches === 'string') throw new Error(batches);
  return batches.flat().map(({ payload }) => `${payload.length}:${String.fromCharCode(payload[0] ?? 0x2d)}`);
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** Payloads as text: large arrays are slow to compare one by one. */
function comparable(batches: readonly (readonly PlainRecord[])[] | string): unknown {
  if (typeof batches === 'string') return batches;
  return batches.map((batch) => batch.map((record) => ({ ...record, payload: hex(record.payload) })));
}

const section = fc.uint8Array({ minLength: 1, maxLength: 64 });
const name = fc.record({
  scope: fc.string({ maxLength: 20 }),
  contentType: fc.string({ maxLength: 20 }),
  packetName: fc.string({ maxLength: 40 }),
});
const u32 = fc.integer({ min: 0, max: 0xffff_ffff });
const plainRecord: fc.Arbitrary<PlainRecord> = fc
  .record({
    kind: fc.constantFrom(RecordKind.send, RecordKind.request),
    nameId: fc.integer({ min: 1, max: 0xffff }),
    correlation: u32,
    aux: u32,
    inlineName: fc.option(name, { nil: undefined }),
    metadata: fc.option(section, { nil: undefined }),
    trace: fc.option(section, { nil: undefined }),
    payload: fc.oneof(
      { weight: 8, arbitrary: fc.uint8Array({ maxLength: 300 }) },
      { weight: 1, arbitrary: fc.integer({ min: 30_000, max: 40_000 }).map((length) => filled(length, 7)) },
    ),
  })
  .map((record) => (record.inlineName === undefined ? record : { ...record, nameId: 0 }));

test('[WIRE-002] whatever records are written, the reader finds the same ones', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(plainRecord, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 3 }),
      (batches) => {
        expect(comparable(decodeMessage(encodeMessage(batches)))).toEqual(comparable(batches));
      },
    ),
    { numRuns: 300 },
  );
});

test('[WIRE-002] the header of a record takes 16 bytes, and nothing else is added to its payload', () => {
  const buffer = new BatchBuffer();
  write(buffer, text('{"id":1}'));
  expect(HEADER_BYTES).toBeLessThanOrEqual(16);
  expect(taken(buffer)[0]).toHaveLength(HEADER_BYTES + 8);
});

test('[CORE-001] an empty buffer gives no part', () => {
  const buffer = new BatchBuffer();
  expect(taken(buffer)).toEqual([]);
  write(buffer, text('a'));
  taken(buffer);
  expect(taken(buffer)).toEqual([]);
  expect(buffer.pendingBytes).toBe(0);
});

test.each([
  ['inline', (buffer: BatchBuffer) => buffer.writeBytes(filled(500, 1))],
  ['external', (buffer: BatchBuffer) => buffer.writeBytes(filled(EXTERNAL_BYTES, 1))],
  ['a text', (buffer: BatchBuffer) => buffer.writeText('x'.repeat(5_000))],
  [
    'sections',
    (buffer: BatchBuffer) => {
      buffer.writeInlineName({ scope: 'a', contentType: 'b', packetName: 'c', index: -1 });
      buffer.writeMetadata(filled(9, 1));
      buffer.writeTrace(traceOf(filled(9, 1)));
      buffer.writeBytes(filled(9, 1));
    },
  ],
])('[CODEC-007] [CORE-001] a rewound record leaves no trace: %s', (_, writePart) => {
  const buffer = new BatchBuffer();
  const undisturbed = new BatchBuffer();
  for (const target of [buffer, undisturbed]) write(target, text('before'));
  const before = buffer.pendingBytes;
  for (let round = 0; round < 3; round++) {
    buffer.begin(RecordKind.request, 3, 4, 5);
    writePart(buffer);
    buffer.rewind();
    expect(buffer.pendingBytes).toBe(before);
  }
  for (const target of [buffer, undisturbed]) write(target, filled(EXTERNAL_BYTES, 2));
  expect(taken(buffer).map(hex)).toEqual(taken(undisturbed).map(hex));
});

test('[CODEC-007] a record that is rewound at the start of a batch leaves an empty buffer', () => {
  const buffer = new BatchBuffer();
  buffer.begin(RecordKind.send, 1, 0, 0);
  buffer.writeBytes(filled(70_000, 1));
  buffer.writeBytes(filled(10, 1));
  buffer.rewind();
  expect(buffer.pendingBytes).toBe(0);
  expect(taken(buffer)).toEqual([]);
});

test('[CORE-001] bytes that were handed out never change, whatever is written later', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          size: fc.oneof(fc.nat(200), fc.nat(40_000)),
          then: fc.constantFrom('take', 'more', 'rewind' as const),
        }),
        { minLength: 1, maxLength: 60, size: 'large' },
      ),
      (steps) => {
        const buffer = new BatchBuffer();
        const handedOut: { readonly part: Uint8Array; readonly copy: Uint8Array }[] = [];
        for (const [at, { size, then }] of steps.entries()) {
          buffer.begin(RecordKind.send, 1, at, 0);
          buffer.writeText('p'); // so that the rest is copied as well
          buffer.writeBytes(filled(size, at));
          if (then === 'rewind') buffer.rewind();
          else buffer.commit();
          if (then !== 'take') continue;
          for (const part of taken(buffer)) handedOut.push({ part, copy: Uint8Array.from(part) });
        }
        for (const { part, copy } of handedOut) expect(Buffer.compare(part, copy)).toBe(0);
      },
    ),
    { numRuns: 200 },
  );
});

test('[CORE-001] batches of one buffer share no bytes', () => {
  const buffer = new BatchBuffer();
  const ranges: [number, number][] = [];
  const memory = new Set<ArrayBufferLike>();
  for (let at = 0; at < 50; at++) {
    write(buffer, filled(100, at));
    const [part] = taken(buffer);
    if (part === undefined) throw new Error('no part');
    if (!memory.has(part.buffer)) ranges.length = 0;
    memory.add(part.buffer);
    for (const [start, end] of ranges) {
      expect(part.byteOffset >= end || part.byteOffset + part.length <= start).toBe(true);
    }
    ranges.push([part.byteOffset, part.byteOffset + part.length]);
  }
  expect(memory.size).toBeLessThan(10); // one slab serves several batches
});

test('[CORE-001] [CORE-012] a large payload is handed out as it is, behind its batch, in the order of the records', () => {
  const buffer = new BatchBuffer();
  const large = [filled(EXTERNAL_BYTES, 0x61), filled(50_000, 0x62), filled(EXTERNAL_BYTES, 0x63)];
  write(buffer, large[0] as Uint8Array);
  write(buffer, text('x'));
  write(buffer, large[1] as Uint8Array, RecordKind.request);
  write(buffer, filled(EXTERNAL_BYTES - 1, 0x79));
  write(buffer, large[2] as Uint8Array);
  expect(buffer.pendingBytes).toBe(5 * HEADER_BYTES + 1 + EXTERNAL_BYTES - 1 + 2 * EXTERNAL_BYTES + 50_000);
  const parts = taken(buffer);
  expect(parts.slice(1).map((part) => large.indexOf(part))).toEqual([0, 1, 2]); // the very same arrays
  expect(payloads(parts)).toEqual(['32768:a', '1:x', '50000:b', '32767:y', '32768:c']);
  write(buffer, text('z'));
  expect(payloads(taken(buffer))).toEqual(['1:z']);
});

test('[CORE-001] a large text travels like a large payload', () => {
  const buffer = new BatchBuffer();
  buffer.begin(RecordKind.send, 1, 0, 0);
  buffer.writeText('é'.repeat(EXTERNAL_BYTES));
  buffer.commit();
  const parts = taken(buffer);
  expect(parts.map((part) => part.length)).toEqual([HEADER_BYTES, 2 * EXTERNAL_BYTES]);
});

type Piece = string | Uint8Array;
test.each<[string, Piece[]]>([
  ['text, bytes', ['head', filled(EXTERNAL_BYTES, 0x61)]],
  ['bytes, text', [filled(EXTERNAL_BYTES, 0x61), 'tail']],
  ['bytes, bytes', [filled(EXTERNAL_BYTES, 0x61), filled(EXTERNAL_BYTES, 0x62)]],
  ['bytes, empty text', [filled(EXTERNAL_BYTES, 0x61), '']],
  ['empty text, bytes', ['', filled(EXTERNAL_BYTES, 0x61)]],
  ['text, bytes, text, bytes', ['é', filled(40_000, 0x61), 'ü'.repeat(40_000), filled(1, 0x62)]],
])('[CODEC-007] a payload in pieces arrives whole, large pieces included: %s', (_, pieces) => {
  const buffer = new BatchBuffer();
  write(buffer, text('before'));
  buffer.begin(RecordKind.send, 1, 0, 0);
  for (const piece of pieces) {
    if (typeof piece === 'string') buffer.writeText(piece);
    else buffer.writeBytes(piece);
  }
  const whole = Buffer.concat(pieces.map((piece) => (typeof piece === 'string' ? text(piece) : piece)));
  expect(buffer.payloadBytes).toBe(whole.length);
  buffer.commit();
  write(buffer, text('after'));
  const batches = decodeMessage(taken(buffer));
  if (typeof batches === 'string') throw new Error(batches);
  expect(batches.flat().map(({ payload }) => Buffer.compare(payload, whole) === 0)).toEqual([false, true, false]);
});

test('[WIRE-001] what must be inline stays in its batch, whatever its size', () => {
  const buffer = new BatchBuffer();
  buffer.begin(RecordKind.update, 0, 0, 0);
  buffer.writeInline(filled(60_000, 0x61));
  buffer.commit();
  const parts = taken(buffer);
  expect(parts).toHaveLength(1);
  expect(payloads(parts)).toEqual(['60000:a']);
});

test('[CORE-001] a batch grows to any number of records and keeps them all', () => {
  const buffer = new BatchBuffer();
  const count = 20_000;
  for (let at = 0; at < count; at++) {
    buffer.begin(RecordKind.send, 1, at, 0);
    buffer.writeText(`${at}`);
    buffer.commit();
  }
  const batches = decodeMessage(taken(buffer));
  if (typeof batches === 'string') throw new Error(batches);
  const [records = []] = batches;
  expect(records).toHaveLength(count);
  expect(
    records.every(({ correlation, payload }, at) => correlation === at && Buffer.from(payload).toString() === `${at}`),
  ).toBe(true);
});

test('[CORE-004] a large record of many small pieces is not copied over and over, and its memory is let go', () => {
  const buffer = new BatchBuffer();
  const piece = filled(256, 1);
  buffer.begin(RecordKind.send, 1, 0, 0);
  for (let written = 0; written < 8 * 1_048_576; written += piece.length) buffer.writeBytes(piece);
  buffer.commit();
  const [large] = taken(buffer);
  write(buffer, text('small'));
  const [small] = taken(buffer);
  expect(large?.length).toBe(HEADER_BYTES + 8 * 1_048_576);
  expect(large?.buffer.byteLength).toBeLessThan(13 * 1_048_576);
  expect(small?.buffer).not.toBe(large?.buffer);
  expect(small?.buffer.byteLength).toBeLessThanOrEqual(262_144);
});

test('[WIRE-002] sections keep their order whatever the payload is', () => {
  const record: PlainRecord = {
    kind: RecordKind.request,
    nameId: 0,
    correlation: 0xffff_ffff,
    aux: 0xffff_fffe,
    inlineName: { scope: '', contentType: 't', packetName: 'ü' },
    metadata: filled(1_024, 1),
    trace: filled(1_024, 2),
    payload: filled(EXTERNAL_BYTES, 3),
  };
  const buffer = new BatchBuffer();
  writeRecord(buffer, record);
  expect(comparable(decodeMessage(taken(buffer)))).toEqual(comparable([[record]]));
});
