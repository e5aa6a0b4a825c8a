/**
 * When the store is asked for changes.
 *
 * Owns the beat. Leaves what is asked to the poll.
 *
 * 1. Polls never overlap: one that takes longer than the interval lets beats pass.
 * 2. The beat of a host begins at a random moment within the interval, so that hosts do not ask in step; a poll in between
 *    does not shift it.
 */
import type { Clock, RandomSource, TimerHandle } from '../time/index.ts';

interface PollingOptions {
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly intervalMs: number;
  /** Must not reject. */
  readonly poll: () => Promise<void>;
}

export class Polling {
  readonly #options: PollingOptions;
  #nextAtMs = 0;
  #timer: TimerHandle | undefined;
  #isStarted = false;
  #isPolling = false;
  /** Asked for while a poll was under way. */
  #isWanted = false;

  constructor(options: PollingOptions) {
    this.#options = options;
  }

  start(): void {
    const { clock, random, intervalMs } = this.#options;
    this.#isStarted = true;
    this.#nextAtMs = clock.nowMs() + random() * intervalMs; // 2
    this.#arm();
    if (this.#isWanted) this.soon();
  }

  /** At once; if a poll is under way, again after it, for it may have asked too early. */
  soon(): void {
    this.#isWanted = true;
    if (this.#isStarted && !this.#isPolling) void this.#run();
  }

  stop(): void {
    this.#isStarted = false;
    this.#isWanted = false;
    this.#disarm();
  }

  async #run(): Promise<void> {
    this.#disarm();
    this.#isPolling = true;
    do {
      this.#isWanted = false;
      await this.#options.poll();
    } while (this.#isWanted && this.#isStarted);
    this.#isPolling = false;
    if (this.#isStarted) this.#arm();
  }

  #arm(): void {
    const { clock, intervalMs } = this.#options;
    const lateMs = clock.nowMs() - this.#nextAtMs;
    if (lateMs >= 0) this.#nextAtMs += intervalMs * (Math.floor(lateMs / intervalMs) + 1);
    this.#timer = clock.setBackgroundTimer(() => void this.#run(), Math.max(0, this.#nextAtMs - clock.nowMs()));
  }

  #disarm(): void {
    if (this.#timer !== undefined) this.#options.clock.clearTimer(this.#timer);
    this.#timer = undefined;
  }
}
