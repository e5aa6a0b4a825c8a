/**
 * What each codec makes of the same object `{ id, name, body }`: bytes of a payload, time to write it, time to read it.
 *
 * In this process; nothing is sent. Payloads are written into the batch that a publisher sends, and read where they stand in a
 * frame, as in a running host; what the batch itself takes is in all figures alike.
 */
import { msgpack } from '@zlink/codec-msgpack';
import { protobuf } from '@zlink/codec-protobuf';
import { type Codec, CodecRegistry, decodePayload, encodePayload } from '@zlink/kernel/codec';
import { Problems } from '@zlink/kernel/errors';
import { EventBatch } from '@zlink/kernel/internal/wire';
import { message, type MessageType } from '@zlink/kernel/message';
import protobufjs from 'protobufjs';
import { type Cargo, createCargo, type Entry } from '../cargo.ts';
import { interleave } from '../interleave.ts';
import type { Comparison, Conditions, Scenario, Unit } from '../scenario.ts';

export interface CodecUnderTest {
  readonly name: string;
  readonly codec: Codec;
  readonly type: MessageType<Entry>;
}

/** Figure of one codec with that cargo; a timed one takes `sliceMs`. */
type Measurement = (codec: CodecUnderTest, cargo: Cargo, sliceMs: number) => number;

const comparisons: readonly Comparison[] = [
  { subject: 'MessagePack', reference: 'JSON' },
  { subject: 'Protobuf', reference: 'JSON' },
];
const operationsPerRead = 200;

export const codecs = [
  ['64B', 64],
  ['1KiB', 1_024],
].flatMap(([size, bodyBytes]) => {
  const of = `an object { id, name, body of ${size} }`;
  const cargo = createCargo({ kind: 'json', bodyBytes: [Number(bodyBytes)] });
  return [
    scenario(`codec-size-${size}`, `bytes of ${of}, by codec`, 'bytes', cargo, sizeOf),
    scenario(`codec-encode-${size}`, `time to write ${of} into a batch, by codec`, 'nanoseconds', cargo, timeEncoding),
    scenario(`codec-decode-${size}`, `time to read ${of}, by codec`, 'nanoseconds', cargo, timeDecoding),
  ];
});

function scenario(name: string, says: string, unit: Unit, cargo: Cargo, measure: Measurement): Scenario {
  return {
    name,
    says,
    unit,
    comparisons,
    isLong: true, // a row more for what changes least
    measure: ({ rounds, sliceMs, warmUpMs }: Conditions) => {
      const contestants = codecsUnderTest().map((codec) => {
        measure(codec, cargo, warmUpMs);
        return { name: codec.name, measure: async () => measure(codec, cargo, sliceMs) };
      });
      return interleave(contestants, rounds);
    },
  };
}

export function codecsUnderTest(): readonly CodecUnderTest[] {
  const types = ['JSON', 'MessagePack', 'Protobuf'].map((name) => ({ name, type: message<Entry>(`entry.${name}`) }));
  const [, packed, typed] = types.map(({ type }) => type);
  if (packed === undefined || typed === undefined) throw new Error('there are three codecs');
  const schema = 'syntax = "proto3"; message Entry { uint32 id = 1; string name = 2; string body = 3; }';
  const { root } = protobufjs.parse(schema);
  const problems = new Problems();
  const table = new CodecRegistry()
    .use(msgpack({ types: [packed] }))
    .use(protobuf({ root, types: [[typed, 'Entry']] }))
    .freeze(problems);
  problems.throwIfAny();
  return types.map(({ name, type }) => ({ name, type, codec: table.select(type) }));
}

export function sizeOf({ codec, type }: CodecUnderTest, cargo: Cargo): number {
  return codec.encode(cargo.make(1), type).length;
}

/** Nanoseconds per payload. */
export function timeEncoding({ codec, type }: CodecUnderTest, cargo: Cargo, sliceMs: number): number {
  const batch = new EventBatch('bench', 1n);
  let id = 0;
  return timed(sliceMs, () => {
    for (let operation = 0; operation < operationsPerRead; operation++) {
      batch.begin(type.packetName, codec.contentType, type.packetName);
      encodePayload(codec, cargo.make(id++), type, batch);
      batch.commit();
    }
    batch.take();
  });
}

/** Nanoseconds per payload; each is checked. */
export function timeDecoding({ codec, type }: CodecUnderTest, cargo: Cargo, sliceMs: number): number {
  const payload = codec.encode(cargo.make(1), type);
  const start = 7; // a payload stands somewhere in a frame
  const frame = new Uint8Array(start + payload.length);
  frame.set(payload, start);
  return timed(sliceMs, () => {
    for (let operation = 0; operation < operationsPerRead; operation++) {
      cargo.check(decodePayload(codec, frame, start, frame.length, type) as Entry); // checked right here
    }
  });
}

function timed(sliceMs: number, operate: () => void): number {
  const startedAtMs = performance.now();
  let operations = 0;
  let elapsedMs: number;
  do {
    operate();
    operations += operationsPerRead;
    elapsedMs = performance.now() - startedAtMs;
  } while (elapsedMs < sliceMs);
  return (elapsedMs * 1_000_000) / operations;
}
