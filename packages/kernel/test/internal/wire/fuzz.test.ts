import { randomBytes, seededRandom } from '@zlink/testing';
import fc from 'fast-check';
import { decodeMetadata } from '../../../src/message/index.ts';
import { decodeDescriptor, decodeHello, decodeRejection } from '../../../src/internal/wire/hello.ts';
import { HEADER_BYTES, METADATA_BYTES, NAME_LIMIT, TRACE_BYTES } from '../../../src/internal/wire/limits.ts';
import { type NameTable, RecordReader, introduceName } from '../../../src/internal/wire/record-reader.ts';
import { RecordKind } from '../../../src/internal/wire/record.ts';
import { mutatedMessage } from './mutation.ts';

const isLong = process.env['ZLINK_LONG'] === '1';
const MUTATIONS = isLong ? 1_000_000 : 50_000;

interface Tally {
  readonly whole: number;
  readonly broken: number;
  readonly faults: ReadonlySet<string>;
}

function check(condition: boolean, what: string): void {
  if (!condition) throw new Error(what);
}

function isInside(view: Uint8Array, parts: readonly Uint8Array[]): boolean {
  return parts.some(
    (part) =>
      view.buffer === part.buffer &&
      view.byteOffset >= part.byteOffset &&
      view.byteOffset + view.length <= part.byteOffset + part.length,
  );
}

/**
 * Reads a message as a link does and decodes every payload as whatever it might be.
 *
 * @returns the fault; undefined: it was read to its end
 * @throws Error if anything was made that the message does not account for
 */
function swallow(parts: readonly Uint8Array[]): string | undefined {
  const sizeBytes = parts.reduce((sum, part) => sum + part.length, 0);
  const names: NameTable = [];
  const record = new RecordReader(names);
  let records = 0;
  while (record.nextPart < parts.length) {
    const source = parts[record.nextPart++] as Uint8Array; // the loop condition has just checked it
    for (let at = 0; at < source.length;) {
      const next = record.read(source, at, parts);
      if (next < 0) {
        check(record.fault !== '', 'a fault without a text');
        return record.fault;
      }
      check(next >= at + HEADER_BYTES && next <= source.length, 'the reader went back, stood still or went too far');
      at = next;
      check(++records * HEADER_BYTES <= sizeBytes, 'more records than bytes');
      checkRecord(record, parts);
      if (record.kind !== RecordKind.name) continue;
      const fault = introduceName(names, record);
      if (fault !== undefined) return fault;
      check(names.length <= records + 1 && names.length <= NAME_LIMIT + 1, 'more names than were introduced');
    }
  }
  return undefined;
}

function checkRecord(record: RecordReader, parts: readonly Uint8Array[]): void {
  const { payload, payloadStart, payloadEnd, metadata, trace } = record;
  check(parts.includes(payload), 'the payload was copied');
  check(
    payloadStart >= 0 && payloadStart <= payloadEnd && payloadEnd <= payload.length,
    'the payload leads out of its part',
  );
  check(metadata === undefined || (isInside(metadata, parts) && metadata.length <= METADATA_BYTES), 'metadata');
  check(trace === undefined || (isInside(trace, parts) && trace.length <= TRACE_BYTES), 'trace context');
  const bytes = payload.subarray(payloadStart, payloadEnd);
  decodeHello(bytes);
  decodeRejection(bytes);
  const descriptor = decodeDescriptor(bytes);
  check(descriptor === undefined || descriptor.channels.length * 3 <= bytes.length, 'more channels than bytes');
  if (metadata !== undefined) decodeMetadata(metadata);
}

function fuzz(count: number, next: () => readonly Uint8Array[]): Tally {
  const faults = new Set<string>();
  let broken = 0;
  for (let at = 0; at < count; at++) {
    const parts = next();
    let fault: string | undefined;
    try {
      fault = swallow(parts);
    } catch (cause) {
      throw new Error(`input ${at}: ${parts.map((part) => Buffer.from(part).toString('hex')).join(' | ')}`, { cause });
    }
    if (fault === undefined) continue;
    broken++;
    faults.add(fault.replace(/\d+/g, 'N'));
  }
  return { whole: count - broken, broken, faults };
}

test('[WIRE-003] [C06] arbitrary parts are read to a fault or to their end, and nothing is made that they do not hold', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 400, size: 'max' }), { maxLength: 4 }), (parts) => {
      swallow(parts);
    }),
    { numRuns: isLong ? 100_000 : 5_000 },
  );
});

test('[WIRE-003] arbitrary records behind a valid header are read or refused', () => {
  const kind = fc.constantFrom(...Object.values(RecordKind));
  const u16 = fc.integer({ min: 0, max: 0xffff });
  fc.assert(
    fc.property(
      kind,
      fc.nat(15),
      u16,
      fc.nat(64),
      fc.uint8Array({ maxLength: 80, size: 'max' }),
      (of, flags, nameId, length, body) => {
        const header = Buffer.alloc(HEADER_BYTES);
        header[0] = of;
        header[1] = flags;
        header.writeUInt16LE(nameId, 2);
        header.writeUInt32LE(length, 12);
        swallow([Buffer.concat([header, body])]);
      },
    ),
    { numRuns: isLong ? 100_000 : 5_000 },
  );
});

test(`[WIRE-003] [C06] ${MUTATIONS.toLocaleString('en')} mutated vectors: none throws, none hangs, none makes more than it holds`, () => {
  const random = seededRandom(0x5a4c4e4b);
  const { whole, broken, faults } = fuzz(MUTATIONS, () => mutatedMessage(random));
  // The inputs are worth something only if they reach both ends, and most of the checks.
  expect(whole).toBeGreaterThan(MUTATIONS / 20);
  expect(broken).toBeGreaterThan(MUTATIONS / 4);
  expect([...faults].sort()).toEqual(
    expect.arrayContaining([
      'external payload has another length than announced',
      'external payload is missing',
      'flags N are not allowed for record kind N',
      'inline name is cut off',
      'inline name is malformed',
      'metadata has N bytes, allowed are N',
      'metadata is cut off',
      'metadata is empty',
      'name id N is out of turn',
      'name id N is outside N..N',
      'name is malformed',
      'payload is cut off',
      'record header is cut off',
      'record kind N is unknown',
      'trace context is cut off',
    ]),
  );
}, 600_000);

test('[WIRE-003] [C06] random strings of 1 to 4,096 bytes are read to a fault', () => {
  const random = seededRandom(6);
  const count = isLong ? 200_000 : 20_000;
  const pool = randomBytes(random, 1_048_576);
  const { broken } = fuzz(count, () => {
    const start = Math.floor(random() * (pool.length - 4_096));
    return [pool.slice(start, start + 1 + Math.floor(random() * 4_096))];
  });
  expect(broken).toBe(count);
}, 600_000);

test('[WIRE-003] a message that claims the largest lengths everywhere costs no more than its bytes', () => {
  const claim = (kind: number, flags: number, ...body: number[]): Uint8Array =>
    Uint8Array.of(kind, flags, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, ...body);
  const before = process.memoryUsage();
  for (let round = 0; round < 20_000; round++) {
    for (const kind of Object.values(RecordKind)) swallow([claim(kind, 0)]);
    for (const flags of [1, 2, 4, 8]) swallow([claim(RecordKind.send, flags, 0xff, 0xff)]);
  }
  const after = process.memoryUsage();
  expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(16 * 1_048_576);
  expect(after.rss - before.rss).toBeLessThan(256 * 1_048_576);
});
