/**
 * Randomness that a test can repeat.
 *
 * Owns one small generator: a counter through a 32-bit mixing function. Good enough to spread jitter and test inputs,
 * of no use for anything secret.
 *
 * R1 The same seed gives the same numbers, on every platform.
 */
import type { RandomSource } from '@zlink/kernel/internal/time';

const STEP = 0x9e3779b9; // 2^32 / golden ratio: odd, so the counter visits all 2^32 states
const RANGE = 0x1_0000_0000;

/** Numbers in [0, 1), as `Math.random` gives them. */
export function seededRandom(seed: number): RandomSource {
  let state = seed >>> 0;
  return () => {
    state = (state + STEP) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x7feb352d);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x846ca68b);
    return ((mixed ^ (mixed >>> 16)) >>> 0) / RANGE;
  };
}

/** `byteCount` bytes from a random source. */
export function randomBytes(random: RandomSource, byteCount: number): Uint8Array {
  const bytes = new Uint8Array(byteCount);
  for (let at = 0; at < byteCount; at += 3) {
    const drawn = Math.floor(random() * 0x100_0000); // three bytes a draw: large payloads are made of it
    bytes[at] = drawn & 0xff;
    if (at + 1 < byteCount) bytes[at + 1] = (drawn >>> 8) & 0xff;
    if (at + 2 < byteCount) bytes[at + 2] = drawn >>> 16;
  }
  return bytes;
}
