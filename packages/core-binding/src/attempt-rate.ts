/**
 * How often one address may try to connect (SEC-002).
 *
 * Owns a bucket of attempts per address. Leaves the refusal to the admission gate.
 *
 * 1. An address may try `burstCount` times at once and `perSecond` times a second in the long run. Loopback has figures of
 *    its own: many processes of one machine share that address.
 * 2. An IPv6 address counts by its first 64 bits: a machine usually has all the rest to itself.
 * 3. Memory is bounded: of more than `trackedAddresses`, the one that has been quiet longest is forgotten.
 */
import { isIPv6 } from 'node:net';
import { isLoopbackHost } from '@zlink/kernel/identity';

export interface AttemptRateLimits {
  readonly burstCount: number;
  readonly perSecond: number;
  readonly loopbackBurstCount: number;
  readonly loopbackPerSecond: number;
}

export const defaultAttemptRate: AttemptRateLimits = Object.freeze({
  burstCount: 200,
  perSecond: 100,
  loopbackBurstCount: 20_000,
  loopbackPerSecond: 10_000,
});

const trackedAddresses = 10_000;

interface Bucket {
  left: number;
  filledAtMs: number;
}

export class AttemptRate {
  readonly #limits: AttemptRateLimits;
  readonly #nowMs: () => number;
  /** In the order of their last attempt. */
  readonly #buckets = new Map<string, Bucket>();

  constructor(limits: AttemptRateLimits, nowMs: () => number) {
    this.#limits = limits;
    this.#nowMs = nowMs;
  }

  /** Takes one attempt; false: the address has none left. */
  take(ip: string): boolean {
    const loopback = isLoopbackHost(ip);
    const burst = loopback ? this.#limits.loopbackBurstCount : this.#limits.burstCount;
    const perMs = (loopback ? this.#limits.loopbackPerSecond : this.#limits.perSecond) / 1_000;
    const key = loopback ? 'loopback' : isIPv6(ip) ? networkOf(ip) : ip;
    const nowMs = this.#nowMs();
    const bucket = this.#buckets.get(key) ?? { left: burst, filledAtMs: nowMs };
    bucket.left = Math.min(burst, bucket.left + (nowMs - bucket.filledAtMs) * perMs);
    bucket.filledAtMs = nowMs;
    this.#keep(key, bucket);
    if (bucket.left < 1) return false;
    bucket.left--;
    return true;
  }

  #keep(key: string, bucket: Bucket): void {
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    if (this.#buckets.size <= trackedAddresses) return;
    for (const oldest of this.#buckets.keys()) {
      this.#buckets.delete(oldest); // 3
      return;
    }
  }
}

/** The first four groups of an IPv6 address, however it is written. */
function networkOf(ip: string): string {
  const [head = '', tail] = ip.split('::');
  const groups = head === '' ? [] : head.split(':');
  if (tail !== undefined) while (groups.length < 4) groups.push('0');
  return groups.slice(0, 4).join(':');
}
