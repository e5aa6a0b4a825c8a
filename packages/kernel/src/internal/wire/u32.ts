/** Unsigned 32-bit integers, little-endian; bounds are the caller's to check. */

export const TWO_TO_32 = 4_294_967_296;

export function readU32(source: Uint8Array, at: number): number {
  return (source[at]! | (source[at + 1]! << 8) | (source[at + 2]! << 16) | (source[at + 3]! << 24)) >>> 0;
}

export function writeU32(target: Uint8Array, at: number, value: number): void {
  target[at] = value;
  target[at + 1] = value >>> 8;
  target[at + 2] = value >>> 16;
  target[at + 3] = value >>> 24;
}
