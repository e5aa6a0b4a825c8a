import type { RandomSource } from '@zlink/kernel/internal/time';
import { message } from '@zlink/kernel/message';
import { codecSuite, type CodecHarness, randomBytes } from '@zlink/testing';
import { post } from './fixtures/post.mjs';
import { emptyOrder, orderValue } from './order-values.ts';
import { codecOf, PlaceOrder, shopTypes } from './the-codec.ts';

/** A field that is delimited by its length. */
const delimited = (fieldNumber: number, content: readonly number[]): number[] => {
  return [...varint((fieldNumber << 3) | 2), ...varint(content.length), ...content];
};
const entry = (key: string): number[] => [...delimited(1, [...new TextEncoder().encode(key)]), 0x10, 0x01];

/** Messages in one another, each with its size in front; sizes are written from the inside out. */
function nestedPayload(tag: readonly number[], levels: number): Uint8Array {
  const heads: (readonly number[])[] = [];
  let size = 0;
  for (let level = 1; level < levels; level++) {
    const head = [...tag, ...varint(size)];
    heads.push(head);
    size += head.length;
  }
  return Uint8Array.from(heads.reverse().flat());
}

const varint = (value: number): number[] => (value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)]);

function nestedValue(empty: object, key: string, levels: number): unknown {
  let value: unknown = { ...empty };
  for (let level = 1; level < levels; level++) value = { ...empty, [key]: value };
  return value;
}

const orders: CodecHarness = {
  create: () => codecOf(shopTypes),
  createBounded: (maxBytes) => codecOf({ ...shopTypes, maxBytes }),
  contentType: 'application/protobuf',
  declaredType: PlaceOrder,
  foreignType: message('other'),
  value: orderValue,
  holding: (text) => ({ ...emptyOrder, words: [text] }),
  refused: (text) => [{ tags: new Map([[text, 1]]) }, { id: `${text}\ud800` }, { cents: text }, { lines: text }, text],
  nested: {
    maxLevels: 101, // one in which there are a hundred
    value: (levels) => nestedValue(emptyOrder, 'next', levels),
    payload: (levels) => nestedPayload([0x9a, 0x02], levels),
  },
  payloadOfText: (bytes) => Uint8Array.from(delimited(1, [...bytes])),
  payloadOfKey: (key) => Uint8Array.from(delimited(22, entry(key))),
  valuesPerByte: 40, // an order in two bytes has all its defaults
};
codecSuite('Protobuf, reflected', orders);

const pick = <T>(random: RandomSource, from: readonly T[]): T => from[Math.floor(random() * from.length)] as T; // in range
const item = (random: RandomSource): unknown => ({
  name: pick(random, ['', 'é', '7', 'y'.repeat(150)]),
  codes: Array.from({ length: Math.floor(random() * 4) }, () => pick(random, [0n, -1n, 2n ** 63n - 1n, -(2n ** 63n)])),
});
const emptyParcel = { id: '', grams: 0n, seal: new Uint8Array(), items: [], notes: {}, tags: {}, inside: null };

codecSuite('Protobuf, generated', {
  ...orders,
  create: () => codecOf({ types: [post.Parcel] }),
  createBounded: (maxBytes) => codecOf({ types: [post.Parcel], maxBytes }),
  declaredType: post.Parcel,
  foreignType: post.Item,
  value: (random) => ({
    ...emptyParcel,
    id: pick(random, ['', 'a', '5', '€'.repeat(100)]),
    grams: pick(random, [0n, 2n ** 63n - 1n, -(2n ** 63n), 5n]),
    seal: randomBytes(random, Math.floor(random() * 40)),
    items: Array.from({ length: Math.floor(random() * 3) }, () => item(random)),
    notes: { [String(pick(random, [0n, 3_544_668_469_065_756_977n, 2n ** 64n - 1n]))]: 'x' },
    tags: { a: 1 },
    ...pick(random, [{}, { street: 'Main' }, { box: 7 }]),
  }),
  holding: (text) => ({ ...emptyParcel, id: text }),
  refused: (text) => [{ tags: new Map([[text, 1]]) }, { id: `${text}\ud800` }, { grams: text }, { items: text }, text],
  nested: {
    maxLevels: 101,
    value: (levels) => nestedValue(emptyParcel, 'inside', levels),
    payload: (levels) => nestedPayload([0x4a], levels),
  },
  payloadOfText: (bytes) => Uint8Array.from(delimited(1, [...bytes])),
  payloadOfKey: (key) => Uint8Array.from(delimited(6, entry(key))),
});
