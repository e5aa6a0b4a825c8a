/**
 * What is wrong with one direction of proxied bytes, and the chance that it depends on.
 *
 * Owns amounts that are drawn, and where bits flip. Leaves the bytes to `FaultRelay`.
 *
 * 1. Whatever is drawn depends on the seed and on positions in the stream, never on how the network has cut it up: the same
 *    seed and the same bytes meet the same faults.
 */
import type { RandomSource } from '@zlink/kernel/internal/time';

/** A figure, or the least and the most of what chance may take; whole numbers. */
export type FaultAmount = number | readonly [least: number, most: number];

export interface RelayFaults {
  readonly blackhole: boolean;
  readonly delayMs: FaultAmount;
  readonly drip: Drip | undefined;
  /** One flipped bit in so many bytes, on average; 0: none. */
  readonly flipEveryBytes: number;
}

/** No more than `bytes` pass at once, and the next ones `everyMs` later. */
interface Drip {
  readonly bytes: number;
  readonly everyMs: number;
}

export const NO_RELAY_FAULTS: RelayFaults = { blackhole: false, delayMs: 0, drip: undefined, flipEveryBytes: 0 };

/** @throws RangeError for what is no amount */
export function checkAmount(what: string, amount: FaultAmount): void {
  const [least, most] = typeof amount === 'number' ? [amount, amount] : amount;
  if (!Number.isInteger(least) || !Number.isInteger(most) || least < 0 || most < least) {
    throw new RangeError(`${what}: ${String(amount)} is not allowed, allowed: whole numbers from 0, the least first`);
  }
}

export function drawn(amount: FaultAmount, random: RandomSource): number {
  if (typeof amount === 'number') return amount;
  const [least, most] = amount;
  return least + Math.floor(random() * (most - least + 1));
}

/** Flips single bits of a stream, a random way apart. */
export class BitFlips {
  readonly #random: RandomSource;
  readonly #everyBytes: number;
  /** Bytes of the stream until the next one that is hit. */
  #left: number;

  constructor(everyBytes: number, random: RandomSource) {
    this.#random = random;
    this.#everyBytes = everyBytes;
    this.#left = this.#gap();
  }

  /** The bytes that come next in the stream, a copy if some are hit; counts the hits. */
  apply(bytes: Uint8Array, onFlip: () => void): Uint8Array {
    if (this.#left >= bytes.length) {
      this.#left -= bytes.length;
      return bytes;
    }
    const changed = Uint8Array.from(bytes);
    let at = this.#left;
    for (; at < changed.length; at += 1 + this.#gap()) {
      changed[at] = (changed[at] ?? 0) ^ (1 << Math.floor(this.#random() * 8));
      onFlip();
    }
    this.#left = at - changed.length;
    return changed;
  }

  #gap(): number {
    return Math.floor(this.#random() * (2 * this.#everyBytes - 1)); // so many untouched ones: `everyBytes` apart on average
  }
}
