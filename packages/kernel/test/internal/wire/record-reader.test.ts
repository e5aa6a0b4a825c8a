import type { OutboundName } from '../../../src/internal/wire/names.ts';
import { BatchBuffer, encodeNameBody } from '../../../src/internal/wire/batch-buffer.ts';
import { METADATA_BYTES, NAME_LIMIT, RECORD_COST_BYTES, TRACE_BYTES } from '../../../src/internal/wire/limits.ts';
import { type NameTable, RecordReader, introduceName } from '../../../src/internal/wire/record-reader.ts';
import { RecordFlag, RecordKind } from '../../../src/internal/wire/record.ts';
import { vectorNamed, vectors } from './vectors.ts';
import { traceOf } from './message-codec.ts';

interface Header {
  readonly kind?: number;
  readonly flags?: number;
  readonly nameId?: number;
  readonly correlation?: number;
  readonly aux?: number;
  readonly payloadLength?: number;
}

/** A record as someone else's code would write it, right or wrong. */
function raw(header: Header, ...body: readonly (Uint8Array | readonly number[])[]): Uint8Array {
  const bytes = Buffer.alloc(16);
  bytes[0] = header.kind ?? RecordKind.send;
  bytes[1] = header.flags ?? 0;
  bytes.writeUInt16LE(header.nameId ?? 1, 2);
  bytes.writeUInt32LE(header.correlation ?? 0, 4);
  bytes.writeUInt32LE(header.aux ?? 0, 8);
  bytes.writeUInt32LE(header.payloadLength ?? 0, 12);
  return Buffer.concat([bytes, ...body.map((part) => Uint8Array.from(part))]);
}

const section = (length: number, bytes: readonly number[] = new Array<number>(length).fill(0x61)): number[] => [
  length & 0xff,
  length >>> 8,
  ...bytes,
];

/** Reads all records of a message; the fault that ends it, or how many records there were. */
function readAll(parts: readonly Uint8Array[], names: NameTable = []): number | string {
  const record = new RecordReader(names);
  let count = 0;
  while (record.nextPart < parts.length) {
    const source = parts[record.nextPart++] as Uint8Array; // the loop condition has just checked it
    for (let at = 0; at < source.length; count++) {
      at = record.read(source, at, parts);
      if (at < 0) return record.fault;
      if (record.kind !== RecordKind.name) continue;
      const fault = introduceName(names, record);
      if (fault !== undefined) return fault;
    }
  }
  return count;
}

function faultOf(...parts: Uint8Array[]): string {
  const result = readAll(parts);
  return typeof result === 'string' ? result : `no fault, ${result} records`;
}

/** Where records of the batches end, by part. */
function boundaries(parts: readonly Uint8Array[]): Map<number, number[]> {
  const record = new RecordReader([]);
  const ends = new Map<number, number[]>();
  while (record.nextPart < parts.length) {
    const part = record.nextPart++;
    const source = parts[part] as Uint8Array; // the loop condition has just checked it
    const found: number[] = [];
    for (let at = 0; at < source.length; found.push(at)) at = record.read(source, at, parts);
    ends.set(part, found);
  }
  return ends;
}

test.each(vectors)(
  '[WIRE-003] vector $name cut off anywhere is an error, although its rest lies right behind',
  ({ parts }) => {
    const ends = boundaries(parts);
    for (const [at, part] of parts.entries()) {
      for (let length = 0; length < part.length; length++) {
        const cut = parts.map((other, index) => (index === at ? part.subarray(0, length) : other));
        const result = readAll(cut);
        if (typeof result === 'string') continue;
        const isAtRecordEnd = length === 0 || (ends.get(at)?.includes(length) ?? false);
        if (!isAtRecordEnd) throw new Error(`part ${at} cut to ${length} bytes gave ${result} records`);
      }
    }
  },
);

test('[WIRE-003] a message that lacks its last part is an error', () => {
  const { parts } = vectorNamed('message');
  expect(faultOf(...parts.slice(0, 3))).toBe('external payload is missing');
  expect(faultOf(parts[0] as Uint8Array)).toBe('external payload is missing');
});

/** Throws at any look at a byte that is not there. */
function guarded(bytes: Uint8Array): Uint8Array {
  return new Proxy(bytes, {
    get(target, key) {
      if (typeof key === 'string' && /^\d+$/.test(key) && Number(key) >= target.length) {
        throw new Error(`byte ${key} of ${target.length} was read`);
      }
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

test.each(vectors.filter(({ parts }) => parts.length === 1))(
  '[WIRE-003] no byte outside the part is looked at: vector $name',
  ({ parts: [part = new Uint8Array(0)] }) => {
    for (let length = 0; length <= part.length; length++) {
      const cut = Uint8Array.prototype.slice.call(part, 0, length);
      expect(() => readAll([guarded(cut)])).not.toThrow();
    }
  },
);

test('[WIRE-003] every kind that is not in the table is an error', () => {
  const known = new Set<number>(Object.values(RecordKind));
  for (let kind = 0; kind < 256; kind++) {
    const result = readAll([raw({ kind, nameId: 0 })]);
    if (known.has(kind)) expect(result).not.toBe(`record kind ${kind} is unknown`);
    else expect(result).toBe(`record kind ${kind} is unknown`);
  }
});

test('[WIRE-003] every flag that a kind does not allow is an error', () => {
  const { inlineName, metadata, trace, external } = RecordFlag;
  const allowed: Readonly<Record<number, number>> = {
    [RecordKind.send]: inlineName | metadata | trace | external,
    [RecordKind.request]: inlineName | metadata | trace | external,
    [RecordKind.reply]: inlineName | external,
  };
  for (const kind of Object.values(RecordKind)) {
    for (let flags = 0; flags < 256; flags++) {
      const fault = faultOf(raw({ kind, flags }), new Uint8Array(0));
      const isForbidden = (flags & ~(allowed[kind] ?? 0)) !== 0;
      expect([kind, flags, fault === `flags ${flags} are not allowed for record kind ${kind}`]).toEqual([
        kind,
        flags,
        isForbidden,
      ]);
    }
  }
});

test.each<[string, Uint8Array[], string]>([
  ['a payload longer than the part', [raw({ payloadLength: 1 })], 'payload is cut off'],
  ['the largest payload length', [raw({ payloadLength: 0xffff_ffff }, [1, 2, 3])], 'payload is cut off'],
  ['trailing bytes', [raw({}), Uint8Array.of(1)], 'record header is cut off'],
  ['trailing bytes behind a record', [raw({}, [1, 2])], 'record header is cut off'],
  ['a part that nobody announced', [raw({}), raw({ kind: 0 })], 'record kind 0 is unknown'],
  ['an external payload that is missing', [raw({ flags: 8, payloadLength: 3 })], 'external payload is missing'],
  [
    'an external payload that is shorter',
    [raw({ flags: 8, payloadLength: 3 }), Uint8Array.of(1, 2)],
    'external payload has another length than announced',
  ],
  [
    'an external payload that is longer',
    [raw({ flags: 8, payloadLength: 1 }), Uint8Array.of(1, 2)],
    'external payload has another length than announced',
  ],
  ['metadata without length', [raw({ flags: 2 }, [1])], 'metadata is cut off'],
  ['metadata longer than the part', [raw({ flags: 2 }, section(5, [1, 2]))], 'metadata is cut off'],
  ['empty metadata', [raw({ flags: 2 }, section(0))], 'metadata is empty'],
  [
    'metadata above the limit',
    [raw({ flags: 2 }, section(METADATA_BYTES + 1))],
    `metadata has ${METADATA_BYTES + 1} bytes, allowed are ${METADATA_BYTES}`,
  ],
  [
    'the largest metadata length',
    [raw({ flags: 2 }, section(0xffff, [1]))],
    'metadata has 65535 bytes, allowed are 1024',
  ],
  ['a trace context that is cut off', [raw({ flags: 4 }, section(9, [1]))], 'trace context is cut off'],
  ['an empty trace context', [raw({ flags: 4 }, section(0))], 'trace context is empty'],
  [
    'a trace context above the limit',
    [raw({ flags: 4 }, section(TRACE_BYTES + 1))],
    `trace context has ${TRACE_BYTES + 1} bytes, allowed are ${TRACE_BYTES}`,
  ],
  ['an inline name that is cut off', [raw({ flags: 1 }, section(9, [1]))], 'inline name is cut off'],
  ['an empty inline name', [raw({ flags: 1 }, section(0))], 'inline name is empty'],
  ['an inline name above the limit', [raw({ flags: 1 }, section(768))], 'inline name has 768 bytes, allowed are 767'],
  ['an inline name of one byte', [raw({ flags: 1 }, section(1, [0]))], 'inline name is malformed'],
  ['a scope beyond the name', [raw({ flags: 1 }, section(3, [9, 0, 0]))], 'inline name is malformed'],
  ['a content type beyond the name', [raw({ flags: 1 }, section(4, [1, 0x61, 9, 0]))], 'inline name is malformed'],
  [
    'a packet name above 255 bytes',
    [raw({ flags: 1 }, section(258, [0, 0, ...new Array<number>(256).fill(0x61)]))],
    'inline name is malformed',
  ],
])('[WIRE-003] %s is an error', (_, parts, fault) => {
  expect(faultOf(...parts)).toBe(fault);
});

test('[WIRE-003] the largest sections are read', () => {
  const body = [255, ...new Array<number>(255).fill(0x61), 255, ...new Array<number>(255).fill(0x62)];
  const name = section(767, [...body, ...new Array<number>(255).fill(0x63)]);
  const record = new RecordReader([]);
  const bytes = raw({ flags: 7, nameId: 0 }, name, section(METADATA_BYTES), section(TRACE_BYTES));
  expect(record.read(bytes, 0, [bytes])).toBe(bytes.length);
  expect(record.name?.scope).toBe('a'.repeat(255));
  expect(record.name?.contentType).toBe('b'.repeat(255));
  expect(record.name?.packetName).toBe('c'.repeat(255));
  expect([record.metadata?.length, record.trace?.length]).toEqual([METADATA_BYTES, TRACE_BYTES]);
});

test.each(['c328', 'a0a1', 'e228a1', 'eda080', 'f0288c28', 'fefeffff', 'e282'])(
  '[WIRE-003] [C22] a name of bytes %s is an error in each of its texts',
  (hex) => {
    const bad = [...Buffer.from(hex, 'hex')];
    const bodies = [
      [bad.length, ...bad, 0, 0x61],
      [0, bad.length, ...bad, 0x61],
      [0, 0, ...bad],
    ];
    for (const body of bodies) {
      expect(faultOf(raw({ flags: 1 }, section(body.length, body)))).toBe('inline name is malformed');
      const introduction = raw({ kind: RecordKind.name, nameId: 1, payloadLength: body.length }, body);
      expect(faultOf(introduction)).toBe('name is malformed');
    }
  },
);

test('[WIRE-004] [C22] names differ by their bytes alone: no normal form, no case folding', () => {
  const names: NameTable = [];
  const spellings = ['é', 'e\u0301', '\ufffd', 'É', '\u212b', '\u00c5'];
  for (const [at, packetName] of spellings.entries())
    introduce(names, at + 1, { scope: '', contentType: 't', packetName });
  expect(names.slice(1).map((name) => name?.packetName)).toEqual(spellings);
});

function introduce(names: NameTable, id: number, name: Omit<OutboundName, 'index'>): string | undefined {
  const body = encodeNameBody({ ...name, index: 0 });
  const bytes = raw({ kind: RecordKind.name, nameId: id, payloadLength: body.length }, body);
  const record = new RecordReader(names);
  expect(record.read(bytes, 0, [bytes])).toBe(bytes.length);
  return introduceName(names, record);
}

test('[WIRE-004] names are introduced in turn, from 1 on, up to the limit', () => {
  const names: NameTable = [];
  const name = { scope: 's', contentType: 't', packetName: 'p' };
  expect(introduce(names, 0, name)).toBe(`name id 0 is outside 1..${NAME_LIMIT}`);
  expect(introduce(names, 2, name)).toBe('name id 2 is out of turn');
  for (let id = 1; id <= NAME_LIMIT; id++) expect(introduce(names, id, name)).toBeUndefined();
  expect(introduce(names, NAME_LIMIT, name)).toBe(`name id ${NAME_LIMIT} is out of turn`);
  expect(introduce(names, NAME_LIMIT + 1, name)).toBe(`name id ${NAME_LIMIT + 1} is outside 1..${NAME_LIMIT}`);
  expect(introduce(names, 0xffff, name)).toBe(`name id 65535 is outside 1..${NAME_LIMIT}`);
  expect(names).toHaveLength(NAME_LIMIT + 1);
});

test('[WIRE-004] an id stands for the name that was introduced under it, and for nothing before', () => {
  const names: NameTable = [];
  const bytes = raw({ nameId: 1 });
  const record = new RecordReader(names);
  record.read(bytes, 0, [bytes]);
  expect(record.name).toBeUndefined();
  introduce(names, 1, { scope: 's', contentType: 't', packetName: 'p' });
  record.read(bytes, 0, [bytes]);
  expect(record.name).toBe(names[1]);
  for (const nameId of [0, 2, 0xffff]) {
    const other = raw({ nameId });
    record.read(other, 0, [other]);
    expect(record.name).toBeUndefined();
  }
});

test('[CORE-012] [WIRE-003] payload and sections are views of what was received', () => {
  const parts: Uint8Array[] = [];
  const buffer = new BatchBuffer();
  buffer.begin(RecordKind.request, 1, 2, 3);
  buffer.writeMetadata(Uint8Array.of(1, 2));
  buffer.writeTrace(traceOf(Uint8Array.of(3)));
  buffer.writeText('payload');
  buffer.commit();
  buffer.take(parts);
  const [source = new Uint8Array(0)] = parts;
  const record = new RecordReader([]);
  record.read(source, 0, parts);
  expect(record.payload).toBe(source);
  expect(record.metadata?.buffer).toBe(source.buffer);
  expect(record.trace?.buffer).toBe(source.buffer);
  expect(record.costBytes).toBe(RECORD_COST_BYTES + 'payload'.length + 2);
});

test('[CORE-002] a record that is kept is not changed by the next one', () => {
  const parts = [
    raw({ flags: 2, correlation: 7, payloadLength: 1 }, section(1, [9]), [5]),
    raw({ kind: RecordKind.probe }),
  ];
  const record = new RecordReader([]);
  record.read(parts[0] as Uint8Array, 0, parts);
  const kept = record.keep();
  record.read(parts[1] as Uint8Array, 0, parts);
  expect(record.kind).toBe(RecordKind.probe);
  expect(record.metadata).toBeUndefined();
  expect([kept.kind, kept.correlation, [...(kept.metadata ?? [])]]).toEqual([RecordKind.send, 7, [9]]);
  expect([...kept.payload.subarray(kept.payloadStart, kept.payloadEnd)]).toEqual([5]);
  expect(kept.costBytes).toBe(RECORD_COST_BYTES + 2);
});

test('[WIRE-006] only a request has remaining time, only an error has a kind', () => {
  const record = new RecordReader([]);
  const see = (kind: RecordKind, aux: number): [number, string | undefined] => {
    const bytes = raw({ kind, aux });
    record.read(bytes, 0, [bytes]);
    return [record.remainingMs, record.errorKind];
  };
  expect(see(RecordKind.request, 250)).toEqual([250, undefined]);
  expect(see(RecordKind.request, 0xffff_ffff)).toEqual([0xffff_ffff, undefined]);
  expect(see(RecordKind.send, 250)).toEqual([0, undefined]);
  expect(see(RecordKind.error, 7)).toEqual([0, 'DeadlineExceeded']);
  expect(see(RecordKind.error, 250)).toEqual([0, undefined]);
});
