/**
 * UTF-8 facts about strings without encoding them.
 *
 * Owns byte length and byte order. Leaves encoding to the wire code.
 *
 * 1. No function here allocates.
 */

/** Bytes that an encoder writes for `s`; a lone surrogate counts as the three bytes of U+FFFD. */
export function utf8ByteLength(s: string): number {
  let bytes = s.length;
  for (let i = 0; i < s.length; i++) {
    const unit = s.charCodeAt(i);
    if (unit < 0x80) continue;
    if (unit < 0x800) bytes += 1;
    else if (isPairAt(s, i, unit)) {
      bytes += 2; // two units, four bytes
      i++;
    } else bytes += 2; // one unit, three bytes
  }
  return bytes;
}

/** True if no surrogate stands alone, so that encoding and decoding gives the same string. */
export function isWellFormed(s: string): boolean {
  for (let i = 0; i < s.length; i++) {
    const unit = s.charCodeAt(i);
    if (!isSurrogate(unit)) continue;
    if (!isPairAt(s, i, unit)) return false;
    i++;
  }
  return true;
}

/**
 * Orders as the UTF-8 bytes of both strings compared as unsigned values, a prefix first (NET-003, WRR-001).
 *
 * Both strings must be well formed.
 */
export function compareUtf8(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  for (let i = 0; i < shorter; i++) {
    const unitA = a.charCodeAt(i);
    const unitB = b.charCodeAt(i);
    if (unitA !== unitB) return codePointRank(unitA) - codePointRank(unitB);
  }
  return a.length - b.length;
}

/** UTF-8 sorts by code point; in UTF-16 the surrogates stand below U+E000..U+FFFF, here they move above. */
function codePointRank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

function isSurrogate(unit: number): boolean {
  return (unit & 0xf800) === 0xd800;
}

function isPairAt(s: string, i: number, unit: number): boolean {
  return (unit & 0xfc00) === 0xd800 && (s.charCodeAt(i + 1) & 0xfc00) === 0xdc00; // NaN at the end is 0 here
}
