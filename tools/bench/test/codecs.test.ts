import { expect, test } from '@jest/globals';
import { createCargo } from '../src/cargo.ts';
import { codecsUnderTest, sizeOf, timeDecoding, timeEncoding } from '../src/scenarios/codecs.ts';

const cargo = createCargo({ kind: 'json', bodyBytes: [64] });

test('[CODEC-006] each codec of the comparison is its own, and gives back the object that all of them get', () => {
  const codecs = codecsUnderTest();
  expect(codecs.map(({ name, codec }) => [name, codec.contentType])).toEqual([
    ['JSON', 'application/json'],
    ['MessagePack', 'application/msgpack'],
    ['Protobuf', 'application/protobuf'],
  ]);
  for (const { codec, type } of codecs) {
    expect(codec.decode(codec.encode(cargo.make(7), type), type)).toEqual(cargo.make(7));
  }
});

test('[CODEC-006] sizes are those of payloads, times are of one payload', () => {
  const [json, packed, typed] = codecsUnderTest();
  if (json === undefined || packed === undefined || typed === undefined) throw new Error('there are three');
  const sizes = [json, packed, typed].map((codec) => sizeOf(codec, cargo));
  expect(sizes[0]).toBe(JSON.stringify(cargo.make(1)).length);
  expect(sizes).toEqual([...sizes].sort((one, other) => other - one)); // JSON is the largest, Protobuf the smallest
  for (const codec of [json, packed, typed]) {
    for (const time of [timeEncoding(codec, cargo, 5), timeDecoding(codec, cargo, 5)]) {
      expect(time).toBeGreaterThan(1);
      expect(time).toBeLessThan(5_000_000);
    }
  }
});
