/**
 * Routing ids and lifecycle generations: who a node is, and which run of it.
 *
 * Owns their shape and how fresh ones are made. Leaves conflicts to admission: a taken RID is an error, not a retry
 * (NET-003).
 *
 * 1. An automatic RID is `<prefix>-<lowercase uuid v4>`, new per start.
 * 2. A generation is random, non-zero, 64 bit, and compared only for equality.
 */

import { describeValue, ZLinkError } from '../errors/index.ts';
import { isName } from './names.ts';

/** One run of one node. */
export interface NodeIdentity {
  readonly rid: string;
  readonly generation: bigint;
}

const ridPrefix = /^[A-Za-z0-9._-]{1,64}$/;

/** True for what a fixed or expected RID may be: the same bytes as a name (HOSTREG-003). */
export function isRid(value: unknown): value is string {
  return isName(value);
}

export function isRidPrefix(value: unknown): value is string {
  return typeof value === 'string' && ridPrefix.test(value);
}

/** @throws ZLinkError `InvalidOperation` if `prefix` is no RID prefix */
export function newRid(prefix: string): string {
  if (!isRidPrefix(prefix)) {
    throw new ZLinkError('InvalidOperation', `RID prefix ${describeValue(prefix)} does not match [A-Za-z0-9._-]{1,64}`);
  }
  return `${prefix}-${crypto.randomUUID()}`;
}

/** @param random64 - played by a test, to draw what is no generation */
export function newGeneration(random64: () => bigint = cryptoRandom64): bigint {
  for (;;) {
    const generation = BigInt.asUintN(64, random64());
    if (generation !== 0n) return generation;
  }
}

function cryptoRandom64(): bigint {
  const [word = 0n] = crypto.getRandomValues(new BigUint64Array(1));
  return word;
}
