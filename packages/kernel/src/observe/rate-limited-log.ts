/**
 * Log lines about what strangers or floods can cause: at most one per key and second.
 *
 * Owns the counting of suppressed lines. A host has one: leaves the choice of keys to its users, who begin them with what
 * they tell of, and take them from a closed set where the other side could choose them freely.
 *
 * 1. A key's first record goes out at once. Those of the second that follows are counted; at its end the latest of them
 *    goes out with their count as `suppressed`, and begins the key's next second.
 * 2. No count is lost: what is still held back goes out when the log is closed, and when its key is forgotten.
 * 3. Memory is bounded: beyond the limit the key that was written longest ago is forgotten.
 * 4. One timer at most, only while something is held back, and none that keeps a process alive.
 * 5. Never throws.
 */
import type { Clock, TimerHandle } from '../internal/time/index.ts';
import { dropOldest } from './drop-oldest.ts';
import type { Logger, LogLevel } from './logger.ts';

const intervalMs = 1_000;
const rememberedKeys = 1_024;

interface KeyState {
  writtenAtMs: number;
  suppressed: number;
  /** Of the records that were held back, the last. */
  latest: object | undefined;
  level: LogLevel;
}

export class RateLimitedLog {
  readonly #logger: Logger;
  readonly #clock: Clock;
  /** In the order in which they were written last. */
  readonly #keys = new Map<string, KeyState>();
  readonly #onDue = (): void => this.#writeDue();
  #timer: TimerHandle | undefined;
  #timerAtMs = Infinity;
  #dropped = 0;
  #isClosed = false;

  constructor(logger: Logger, clock: Clock) {
    this.#logger = logger;
    this.#clock = clock;
  }

  /** Records that were not written, only counted in others. */
  get dropped(): number {
    return this.#dropped;
  }

  info(key: string, record: object): void {
    this.#log('info', key, record);
  }

  warn(key: string, record: object): void {
    this.#log('warn', key, record);
  }

  error(key: string, record: object): void {
    this.#log('error', key, record);
  }

  /** Writes what is held back (2). Records that still come are written at once. */
  close(): void {
    this.#isClosed = true;
    this.#disarm();
    for (const state of this.#keys.values()) this.#writeHeldBack(state);
    this.#keys.clear();
  }

  #log(level: LogLevel, key: string, record: object): void {
    if (this.#isClosed) return this.#write(level, record);
    const nowMs = this.#clock.nowMs();
    const state = this.#keys.get(key);
    if (state === undefined || nowMs - state.writtenAtMs >= intervalMs) {
      const suppressed = state?.suppressed ?? 0; // the timer is late
      if (suppressed > 0) this.#dropped++; // the latest of them
      this.#remember(key, { writtenAtMs: nowMs, suppressed: 0, latest: undefined, level });
      return this.#write(level, suppressed === 0 ? record : { ...record, suppressed });
    }
    if (state.latest !== undefined) this.#dropped++;
    state.suppressed++;
    state.latest = record;
    state.level = level;
    if (state.suppressed === 1) this.#arm(state.writtenAtMs + intervalMs, nowMs);
  }

  #remember(key: string, state: KeyState): void {
    this.#keys.delete(key); // so that the map's order is the order of writing (3)
    this.#keys.set(key, state);
    dropOldest(this.#keys, rememberedKeys, (forgotten) => this.#writeHeldBack(forgotten));
  }

  #arm(dueAtMs: number, nowMs: number): void {
    if (dueAtMs >= this.#timerAtMs) return;
    this.#disarm();
    this.#timerAtMs = dueAtMs;
    this.#timer = this.#clock.setBackgroundTimer(this.#onDue, Math.max(0, dueAtMs - nowMs));
  }

  #disarm(): void {
    if (this.#timer !== undefined) this.#clock.clearTimer(this.#timer);
    this.#timer = undefined;
    this.#timerAtMs = Infinity;
  }

  #writeDue(): void {
    this.#disarm();
    const nowMs = this.#clock.nowMs();
    // A copy: what is written moves to the end of the map.
    for (const [key, state] of [...this.#keys]) {
      if (state.suppressed === 0) continue;
      const dueAtMs = state.writtenAtMs + intervalMs;
      if (dueAtMs > nowMs) {
        this.#arm(dueAtMs, nowMs);
        continue;
      }
      state.writtenAtMs = nowMs;
      this.#remember(key, state); // first: a logger may log
      this.#writeHeldBack(state);
    }
  }

  #writeHeldBack(state: KeyState): void {
    const { suppressed, latest, level } = state;
    if (suppressed === 0) return;
    state.suppressed = 0;
    state.latest = undefined;
    this.#write(level, { ...latest, suppressed });
  }

  #write(level: LogLevel, record: object): void {
    try {
      this.#logger[level](record);
    } catch {
      // 5: whoever wants to know of it wraps the logger in `guardLogger`.
    }
  }
}
