import type { RandomSource } from '@zlink/kernel/internal/time';
import { message } from '@zlink/kernel/message';
import { codecSuite, type CodecHarness, randomBytes } from '@zlink/testing';
import { codecOf } from './the-codec.ts';

const texts = ['', 'a', '€', '🔑', '\u0000', '__proto__', 'toString', 'x'.repeat(31), 'é'.repeat(40), 'y'.repeat(300)];
const numbers = [0, -0, 1, -1, 127, 128, -32, -33, 255, 65_536, 2 ** 31, 2 ** 32, 2 ** 53, 0.1, -1e300, NaN, Infinity];
const bigints = [0n, 1n, -1n, 9_007_199_254_740_993n, 2n ** 63n - 1n, -(2n ** 63n), 2n ** 64n - 1n];
const dates = [0, 1, -1, 1_700_000_000_123, 2 ** 34 * 1_000, -8.64e15, 8.64e15].map((ms) => new Date(ms));

const pick = <T>(random: RandomSource, from: readonly T[]): T => from[Math.floor(random() * from.length)] as T; // in range

function value(random: RandomSource, levels = 0): unknown {
  const scalars = [null, random() < 0.5, pick(random, texts), pick(random, numbers), pick(random, bigints)];
  const kind = Math.floor(random() * (levels < 3 ? 10 : 7));
  if (kind < 5) return scalars[kind];
  if (kind === 5) return new Date(pick(random, dates));
  if (kind === 6) return randomBytes(random, Math.floor(random() * 300));
  const members = Array.from({ length: Math.floor(random() * 6) }, () => value(random, levels + 1));
  if (kind === 7) return members;
  const object: Record<string, unknown> = {};
  for (const member of members) {
    const key = `${pick(random, texts)}${pick(random, ['', '1'])}`;
    Object.defineProperty(object, key, { value: member, writable: true, enumerable: true, configurable: true });
  }
  return object;
}

function nested(levels: number): unknown {
  let arrays: unknown = [];
  for (let level = 1; level < levels; level++) arrays = [arrays];
  return arrays;
}

const harness: CodecHarness = {
  create: () => codecOf(),
  createBounded: (maxBytes) => codecOf({ maxBytes }),
  contentType: 'application/msgpack',
  value,
  holding: (text) => ({ some: [{ text }] }),
  refused: (text) => [new Map([[text, text]]), { a: [Symbol(text), text] }, [new Error(text)], `${text}\ud800`],
  nested: {
    maxLevels: 512,
    value: nested,
    payload: (levels) => Uint8Array.from({ length: levels }, (_, level) => (level < levels - 1 ? 0x91 : 0x90)),
  },
  payloadOfText: (bytes) => Uint8Array.from([0xa0 + bytes.length, ...bytes]),
  payloadOfKey: (key) => Uint8Array.from([0x91, 0x81, 0xa0 + key.length, ...new TextEncoder().encode(key), 0x01]),
};

codecSuite('MessagePack', harness);

const Chosen = message('chosen');
codecSuite('MessagePack for some types', {
  ...harness,
  create: () => codecOf({ types: [Chosen] }),
  declaredType: Chosen,
  foreignType: message('other'),
});
