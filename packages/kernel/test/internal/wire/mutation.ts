/**
 * Broken messages for fuzzing: golden vectors with a few random changes each.
 *
 * Owns what a change can be. The same seed gives the same messages.
 */
import { randomBytes } from '@zlink/testing';
import type { RandomSource } from '../../../src/internal/time/index.ts';
import { vectors } from './vectors.ts';

/** Numbers at which lengths and counts tend to go wrong. */
const TRICKY = [0, 1, 2, 15, 16, 17, 0x7f, 0x80, 0xff, 0x100, 0x3ff, 0x401, 0x7fff, 0x8000, 0xffff, 0xffff_ffff];

/** Vectors without their bulk: an external payload may have any length as long as its record says so. */
const corpus: readonly (readonly Uint8Array[])[] = vectors.map(({ parts }) => shortened(parts));

const pick = <T>(random: RandomSource, values: readonly T[]): T => values[Math.floor(random() * values.length)] as T; // in range

export function mutatedMessage(random: RandomSource): Uint8Array[] {
  return changed(random, pick(random, corpus), corpus);
}

/** A copy with a few changes. @param others - what may be mixed into it */
export function changed(
  random: RandomSource,
  message: readonly Uint8Array[],
  others: readonly (readonly Uint8Array[])[],
): Uint8Array[] {
  const parts = message.map((part) => Buffer.from(part));
  for (let changes = 1 + Math.floor(random() * 4); changes > 0; changes--) change(random, parts, others);
  return parts;
}

function change(random: RandomSource, parts: Buffer[], others: readonly (readonly Uint8Array[])[]): void {
  const which = Math.floor(random() * parts.length);
  const part = parts[which];
  if (part === undefined) return void parts.push(Buffer.from(randomBytes(random, 16)));
  const at = Math.floor(random() * (part.length + 1));
  switch (Math.floor(random() * 10)) {
    case 0:
      if (at < part.length) part[at] = (part[at] ?? 0) ^ (1 << Math.floor(random() * 8));
      return;
    case 1:
      if (at < part.length) part[at] = Math.floor(random() * 256);
      return;
    case 2:
      if (at + 2 <= part.length) part.writeUInt16LE(pick(random, TRICKY) & 0xffff, at);
      return;
    case 3:
      if (at + 4 <= part.length) part.writeUInt32LE(pick(random, TRICKY), at);
      return;
    case 4:
      parts[which] = part.subarray(0, at);
      return;
    case 5:
      parts[which] = Buffer.concat([
        part.subarray(0, at),
        randomBytes(random, Math.floor(random() * 9)),
        part.subarray(at),
      ]);
      return;
    case 6:
      parts[which] = Buffer.concat([part, pick(random, pick(random, others))]);
      return;
    case 7:
      parts.splice(which, 1);
      return;
    case 8:
      parts.splice(which, 0, Buffer.from(pick(random, pick(random, others))));
      return;
    default:
      // The header's own fields, where most decisions are made.
      if (part.length >= 16) part[pick(random, [0, 1, 2, 3, 12, 13, 14, 15])] = pick(random, TRICKY) & 0xff;
  }
}

/** Cuts parts that are one byte over and over, and the length in the record that announces them. */
function shortened(parts: readonly Uint8Array[]): Uint8Array[] {
  const copies = parts.map((part) => Buffer.from(part));
  for (const [at, part] of copies.entries()) {
    if (part.length < 1_000) continue;
    const announced = Buffer.alloc(4);
    announced.writeUInt32LE(part.length);
    const lengthAt = copies[at - 1]?.indexOf(announced) ?? -1;
    if (lengthAt < 0) throw new Error(`part ${at} was not announced`);
    copies[at - 1]?.writeUInt32LE(5, lengthAt);
    copies[at] = part.subarray(0, 5);
  }
  return copies;
}
