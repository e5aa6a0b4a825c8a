/**
 * Text to UTF-8 bytes and back, strictly.
 *
 * Owns: the one place where bytes become strings and strings become bytes, with the fast path of Node.js and a
 * portable one for browsers. Leaves to others: what a text may contain (names, metadata) and range checks of views.
 * It lives in the lowest folder that needs it.
 *
 * Invariants
 * T1 Invalid UTF-8 never becomes a string: no replacement character stands in for bytes that were none.
 * T2 A byte order mark is text like any other; it is neither removed nor added.
 * T3 A lone surrogate has no UTF-8 form and is written as EF BF BD; a caller that needs exact names asks
 *    `isWellFormed` (identity) first.
 */

/** Undefined in a browser, where the portable path below serves. */
const NodeBuffer = typeof Buffer === 'function' ? Buffer : undefined;

const encoder = new TextEncoder();
const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const replacementCharacter = '\uFFFD';

/**
 * The text in `bytes[start, end)`, or undefined when these bytes are not UTF-8 or are more than a string can hold.
 * The caller has checked the range.
 */
export function decodeUtf8(bytes: Uint8Array, start: number, end: number): string | undefined {
  if (NodeBuffer === undefined) return decodeStrictly(bytes, start, end);
  const buffer = NodeBuffer.isBuffer(bytes) ? bytes : NodeBuffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    const text = buffer.toString('utf8', start, end);
    // T1: the lenient decoder marks every fault with U+FFFD, so only a text that has one is decoded again.
    return text.includes(replacementCharacter) ? decodeStrictly(bytes, start, end) : text;
  } catch {
    return undefined; // longer than the longest string
  }
}

function decodeStrictly(bytes: Uint8Array, start: number, end: number): string | undefined {
  try {
    return strictDecoder.decode(bytes.subarray(start, end));
  } catch {
    return undefined;
  }
}

/** Bytes of any content, to be written in full. */
export function newBytes(sizeBytes: number): Uint8Array {
  return NodeBuffer === undefined ? new Uint8Array(sizeBytes) : NodeBuffer.allocUnsafe(sizeBytes);
}

/** The bytes of `text`; they belong to the caller. */
export function encodeUtf8(text: string): Uint8Array {
  return NodeBuffer === undefined ? encoder.encode(text) : NodeBuffer.from(text, 'utf8');
}

/**
 * Writes `text` at `offset` and returns the number of bytes written. The caller has made sure that it fits:
 * three bytes for each unit of the text always do.
 */
export function writeUtf8(target: Uint8Array, text: string, offset: number): number {
  if (NodeBuffer?.isBuffer(target)) return target.write(text, offset, 'utf8');
  return encoder.encodeInto(text, target.subarray(offset)).written;
}
