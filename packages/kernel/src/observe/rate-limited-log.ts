/**
 * Log lines about what strangers or floods can cause: at most one per key and second.
 *
 * Owns the counting of suppressed lines. Leaves the choice of keys to its users, who take them from a closed set where
 * the other side could choose them freely.
 *
 * 1. A key's first record goes out at once; of later ones within a second only the count, with the next one that goes out.
 * 2. Memory is bounded: beyond the limit the longest silent key is forgotten.
 * 3. Never throws.
 */
import type { Clock } from '../internal/time/index.ts';
import { dropOldest, type Logger, type LogLevel } from './logger.ts';

const defaultIntervalMs = 1_000;
const rememberedKeys = 1_024;

interface KeyState {
  writtenAtMs: number;
  suppressed: number;
}

export class RateLimitedLog {
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #intervalMs: number;
  readonly #keys = new Map<string, KeyState>();

  constructor(logger: Logger, clock: Clock, intervalMs = defaultIntervalMs) {
    this.#logger = logger;
    this.#clock = clock;
    this.#intervalMs = intervalMs;
  }

  warn(key: string, record: object): void {
    this.#log('warn', key, record);
  }

  error(key: string, record: object): void {
    this.#log('error', key, record);
  }

  #log(level: LogLevel, key: string, record: object): void {
    const nowMs = this.#clock.nowMs();
    const state = this.#keys.get(key);
    if (state !== undefined && nowMs - state.writtenAtMs < this.#intervalMs) {
      state.suppressed++; // 1
      return;
    }
    this.#keys.delete(key); // so that the map's order is the order of writing (2)
    this.#keys.set(key, { writtenAtMs: nowMs, suppressed: 0 });
    dropOldest(this.#keys, rememberedKeys);
    const suppressed = state?.suppressed ?? 0;
    try {
      this.#logger[level](suppressed === 0 ? record : { ...record, suppressed });
    } catch {
      // 3: whoever wants to know of it wraps the logger in `guardLogger`.
    }
  }
}
