/**
 * Messages that tell whether they are whole: number, filling and number again.
 *
 * Owns their form.
 */
import assert from 'node:assert/strict';

/** One part of `sizeBytes`, at least 8. */
export function numbered(number: number, sizeBytes = 64): Uint8Array[] {
  return [partOf(number, sizeBytes)];
}

/** Several parts of different sizes. */
export function numberedInParts(number: number): Uint8Array[] {
  return [8, 200, 3_000].map((sizeBytes) => partOf(number, sizeBytes));
}

/** @throws AssertionError if it is not whole */
export function numberOf(parts: readonly Uint8Array[]): number {
  const numbers = parts.flatMap((part) => {
    const view = new DataView(part.buffer, part.byteOffset, part.byteLength);
    return [view.getUint32(0), view.getUint32(part.byteLength - 4)];
  });
  const [number] = numbers;
  assert.ok(number !== undefined, 'message without parts');
  assert.ok(
    numbers.every((each) => each === number),
    `parts of several messages in one: ${numbers.join(', ')}`,
  );
  return number;
}

export function upTo(count: number, first = 0): number[] {
  return Array.from({ length: count }, (_, at) => first + at);
}

function partOf(number: number, sizeBytes: number): Uint8Array {
  const part = new Uint8Array(sizeBytes);
  const view = new DataView(part.buffer);
  view.setUint32(0, number);
  view.setUint32(sizeBytes - 4, number);
  return part;
}
