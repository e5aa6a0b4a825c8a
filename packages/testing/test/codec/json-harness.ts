/** JSON under the codec suite, and whatever a test puts in its place. */
import { type Codec, jsonCodec } from '@zlink/kernel/codec';
import type { RandomSource } from '@zlink/kernel/internal/time';
import type { CodecHarness } from '../../src/index.ts';

const encoder = new TextEncoder();
const texts = ['', 'a', '€', '🔑', '\u0000', '"\\', '__proto__', 'a longer text with more than one word in it'];
const numbers = [0, -0, 1, -1, 255, 65_536, 2 ** 53, -(2 ** 53), 0.1, 1e300, 5e-324];

const pick = <T>(random: RandomSource, from: readonly T[]): T => from[Math.floor(random() * from.length)] as T; // in range

function value(random: RandomSource, levels = 0): unknown {
  const kind = Math.floor(random() * (levels < 4 ? 8 : 5));
  if (kind === 0) return null;
  if (kind === 1) return random() < 0.5;
  if (kind < 4) return pick<unknown>(random, kind === 2 ? texts : numbers);
  if (kind === 4) return Math.floor(random() * 1e9);
  const members = Array.from({ length: Math.floor(random() * 5) }, () => value(random, levels + 1));
  if (kind === 5) return members;
  return Object.fromEntries(members.map((member) => [`${pick(random, texts)}${Math.floor(random() * 9)}`, member]));
}

function nestedArrays(levels: number): unknown {
  let nested: unknown = [];
  for (let level = 1; level < levels; level++) nested = [nested];
  return nested;
}

export function jsonHarness(codec: Codec = jsonCodec): CodecHarness {
  return {
    create: () => codec,
    contentType: 'application/json',
    value,
    holding: (text) => ({ some: [{ text }] }),
    refused: (text) => [{ at: new Map([[text, text]]) }, { set: new Set([text]) }, [() => text, NaN]],
    nested: {
      maxLevels: 512,
      value: nestedArrays,
      payload: (levels) => encoder.encode('['.repeat(levels) + ']'.repeat(levels)),
    },
    payloadOfText: (bytes) => Uint8Array.from([0x22, ...bytes, 0x22]),
    payloadOfKey: (key) => encoder.encode(`{"a":{${JSON.stringify(key)}:1}}`),
  };
}
