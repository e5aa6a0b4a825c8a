/**
 * Payloads that something went wrong with: cut, flipped, repeated, mixed up.
 *
 * Owns what a change can be. The same source of chance gives the same payloads.
 */
import type { RandomSource } from '@zlink/kernel/internal/time';
import { randomBytes } from '../../seeded-random.ts';
import { copyOf, joined } from './codec-rig.ts';

/** Bytes at which lengths, counts and types tend to go wrong. */
const tricky = [0x00, 0x01, 0x0f, 0x1f, 0x7f, 0x80, 0x8f, 0x90, 0xa0, 0xc1, 0xc4, 0xc9, 0xdb, 0xdd, 0xdf, 0xfe, 0xff];

const pick = <T>(random: RandomSource, from: readonly T[]): T => from[Math.floor(random() * from.length)] as T; // in range

export function mutatedPayload(random: RandomSource, corpus: readonly Uint8Array[]): Uint8Array {
  let bytes = copyOf(pick(random, corpus));
  for (let changes = 1 + Math.floor(random() * 4); changes > 0; changes--) bytes = changed(random, bytes, corpus);
  return bytes;
}

function changed(random: RandomSource, bytes: Uint8Array, corpus: readonly Uint8Array[]): Uint8Array {
  const at = Math.floor(random() * (bytes.length + 1));
  const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)];
  switch (Math.floor(random() * 8)) {
    case 0:
      if (at < bytes.length) bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(random() * 8));
      return bytes;
    case 1:
      bytes.fill(pick(random, tricky), at, at + 1);
      return bytes;
    case 2: // a long run: a length of four or eight bytes, for one
      bytes.fill(pick(random, tricky), at, at + Math.floor(random() * 9));
      return bytes;
    case 3:
      return before;
    case 4:
      return joined([before, randomBytes(random, 1 + Math.floor(random() * 8)), after]);
    case 5:
      return joined([before, after.subarray(1 + Math.floor(random() * 8))]);
    case 6:
      return joined([before, pick(random, corpus), after]);
    default:
      return joined([before, after, after]);
  }
}
