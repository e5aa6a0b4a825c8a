import { ConfigurationError } from '@zlink/kernel/errors';
import { message, request } from '@zlink/kernel/message';
import { msgpack, type MsgpackOptions } from '../src/index.ts';
import { codecOf } from './the-codec.ts';

function problemsOf(options: unknown): readonly string[] {
  try {
    msgpack(options as MsgpackOptions);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
  return [];
}

const Charge = request('billing.charge');
class Parcel {
  static readonly packetName = 'post.parcel';
}

test('[CODEC-004] without a list of types it serves all, with one those in it', () => {
  for (const type of [Charge, Parcel, undefined]) expect(codecOf().matches(type)).toBe(true);
  const codec = codecOf({ types: new Set([Charge]) });
  expect([Charge, Parcel, undefined].map((type) => codec.matches(type))).toEqual([true, false, false]);
  expect(codecOf({ types: [] }).matches(Charge)).toBe(false);
});

test('[CODEC-004] a descriptor in the list stands for the class that it declares', () => {
  const Declared = message('declared', { declaredType: Parcel });
  const codec = codecOf({ types: [Declared] });
  expect(codec.matches(Parcel)).toBe(true);
  expect(codec.matches(Declared)).toBe(false); // nobody asks about it
});

test('[HOSTREG-003] every mistake in the options is named at once', () => {
  const whole = { type: 1, matches: () => true, encode: () => new Uint8Array(), decode: () => 1 };
  const { matches: _, ...half } = whole;
  expect(
    problemsOf({
      depth: 3,
      maxDepth: 0,
      maxBytes: 1.5,
      maxValues: '7',
      types: [Charge, 'billing.charge'],
      extensions: [whole, half, whole, { ...whole, type: -1 }, { ...whole, type: 128 }, undefined],
    }),
  ).toEqual([
    'options of msgpack: there is no option "depth", known: types, extensions, maxDepth, maxBytes, maxValues',
    'maxDepth: 0 is not allowed, allowed: integer 1..1000',
    'maxBytes: 1.5 is not allowed, allowed: integer 1..1073741824',
    'maxValues: "7" is not allowed, allowed: integer 1..100000000',
    'types: "billing.charge" is not allowed, allowed: packet descriptors and classes',
    'extensions: object is not allowed, allowed: objects with type, matches, encode and decode',
    'extensions: type 1 is given twice',
    'type of an extension: -1 is not allowed, allowed: 0..127',
    'type of an extension: 128 is not allowed, allowed: 0..127',
    'extensions: undefined is not allowed, allowed: objects with type, matches, encode and decode',
  ]);
  expect(problemsOf({ types: Charge, extensions: 5 })).toHaveLength(2);
  expect(problemsOf(null)).toEqual(['options of msgpack: null is no object']);
  expect(problemsOf({ maxDepth: 1, maxBytes: 1, maxValues: 1, types: [], extensions: [whole] })).toEqual([]);
});
