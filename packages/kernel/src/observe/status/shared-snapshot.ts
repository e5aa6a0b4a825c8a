/**
 * The snapshot that observers get: one for all of them, made when the first of them takes it.
 *
 * Owns how long it is the current one, and when the next is made. Leaves waiting to the observers, and what a snapshot shows to
 * the board.
 *
 * 1. It is the current one until something changes, and not beyond the turn it was made in: numbers change untold.
 * 2. That of the stopped host is made whatever the pace says, and stays (MON-010).
 */
import { type Clock, type TimerHandle } from '../../internal/time/index.ts';
import type { RuntimeSnapshot } from './snapshot.ts';
import { SnapshotPace } from './snapshot-pace.ts';

interface SharedSnapshotOptions {
  readonly clock: Clock;
  make(): RuntimeSnapshot;
  /** There was none so far for who has asked; now there may be. */
  onReady(): void;
}

export class SharedSnapshot {
  readonly #options: SharedSnapshotOptions;
  readonly #pace: SnapshotPace;
  #current: RuntimeSnapshot | undefined;
  #timer: TimerHandle | undefined;
  #isLast = false;

  constructor(options: SharedSnapshotOptions) {
    this.#options = options;
    this.#pace = new SnapshotPace(options.clock);
  }

  /** Undefined: it is too early for another one; `onReady` follows. */
  take(): RuntimeSnapshot | undefined {
    if (this.#current !== undefined) return this.#current;
    const waitMs = this.#isLast ? 0 : this.#pace.waitMs; // 2
    if (waitMs > 0) {
      this.#waitFor(waitMs);
      return undefined;
    }
    const made = this.#pace.count(() => this.#options.make());
    this.#current = made;
    if (!this.#isLast) {
      setImmediate(() => {
        if (this.#current === made) this.#forget(); // 1
      });
    }
    return made;
  }

  /** What is shown now is another one. */
  changed(): void {
    this.#forget();
  }

  /** Nothing changes any more. */
  finish(): void {
    this.#forget();
    this.#isLast = true;
    if (this.#timer !== undefined) this.#options.clock.clearTimer(this.#timer);
    this.#timer = undefined;
  }

  #forget(): void {
    if (!this.#isLast) this.#current = undefined;
  }

  #waitFor(ms: number): void {
    this.#timer ??= this.#options.clock.setBackgroundTimer(() => {
      this.#timer = undefined;
      this.#options.onReady();
    }, ms);
  }
}
