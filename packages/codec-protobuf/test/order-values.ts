/** Orders as they come back: with all fields, of which the absent ones have their defaults. */
import type { RandomSource } from '@zlink/kernel/internal/time';
import { randomBytes } from '@zlink/testing';

const texts = ['', 'a', '€', '🔑', '\u0000', '12345', 'x'.repeat(200), 'é'.repeat(90)];
const signed64 = [0n, 1n, -1n, 9_007_199_254_740_993n, 2n ** 63n - 1n, -(2n ** 63n)];
const unsigned64 = [0n, 7n, 2n ** 53n + 1n, 2n ** 64n - 1n];
const doubles = [0, -0, 0.1, -1e300, NaN, Infinity, -Infinity, 5e-324];
const floats = [0, 0.5, -1.25, 2 ** 100, -Infinity, NaN];
const signed32 = [0, 1, -1, 2 ** 31 - 1, -(2 ** 31)];
const unsigned32 = [0, 1, 2 ** 32 - 1];

const pick = <T>(random: RandomSource, from: readonly T[]): T => from[Math.floor(random() * from.length)] as T; // in range
const several = <T>(random: RandomSource, make: () => T): T[] => Array.from({ length: Math.floor(random() * 4) }, make);
const keyed = <T>(random: RandomSource, key: () => string, make: () => T): Record<string, T> =>
  Object.fromEntries(several(random, () => [key(), make()]));

export const emptyOrder = Object.freeze({
  id: '',
  cents: 0n,
  serial: 0n,
  change: 0n,
  mark: 0n,
  offset: 0n,
  small: 0,
  large: 0,
  delta: 0,
  stamp: 0,
  shift: 0,
  paid: false,
  ratio: 0,
  exact: 0,
  proof: new Uint8Array(),
  color: 0,
  first: null,
  next: null,
  lines: [],
  ids: [],
  samples: [],
  words: [],
  flags: [],
  ratios: [],
  marks: [],
  colors: [],
  proofs: [],
  tags: {},
  notes: {},
  byFlag: {},
  totals: {},
});

export function orderValue(random: RandomSource): Record<string, unknown> {
  const text = (): string => pick(random, texts);
  const int64 = (): bigint => pick(random, signed64);
  const uint64 = (): bigint => pick(random, unsigned64);
  const line = (): unknown => ({ sku: text(), count: uint64() });
  const bytes = (): Uint8Array => randomBytes(random, Math.floor(random() * 200));
  const how = pick(random, [{}, { card: text() }, { voucher: pick(random, unsigned32) }, { barter: line() }]);
  return {
    ...emptyOrder,
    id: text(),
    cents: int64(),
    serial: uint64(),
    change: int64(),
    mark: uint64(),
    offset: int64(),
    small: pick(random, signed32),
    large: pick(random, unsigned32),
    delta: pick(random, signed32),
    stamp: pick(random, unsigned32),
    shift: pick(random, signed32),
    paid: random() < 0.5,
    ratio: pick(random, floats),
    exact: pick(random, doubles),
    proof: bytes(),
    color: pick(random, [0, 1, 5, 77, -3]),
    first: pick(random, [null, line()]),
    lines: several(random, line),
    ids: several(random, int64),
    samples: several(random, () => pick(random, doubles)),
    words: several(random, text),
    flags: several(random, () => random() < 0.5),
    ratios: several(random, () => pick(random, floats)),
    marks: several(random, uint64),
    colors: several(random, () => pick(random, [0, 1, 9])),
    proofs: several(random, bytes),
    tags: keyed(random, text, () => pick(random, signed32)),
    notes: keyed(random, () => String(int64()), text),
    byFlag: keyed(random, () => pick(random, ['true', 'false']), line),
    totals: keyed(random, () => String(pick(random, unsigned32)), int64),
    ...how,
    ...(random() < 0.5 ? { tip: pick(random, signed32) } : {}),
  };
}
