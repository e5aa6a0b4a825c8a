/**
 * Whether a publisher is still heard (LIVE-003).
 *
 * Owns the silence and its limit. Leaves what was heard, and what follows from silence, to the intent.
 *
 * 1. Time in which this side does not read is no silence.
 * 2. No verdict falls before what has arrived was read, also while the event loop stood still.
 */
import type { Clock, DeadlineEntry, DeadlineWheel } from '@zlink/kernel/internal/time';

export const SILENCE_LIMIT_MS = 15_000;

/** A deadline that comes later than this was held up by the event loop, not by its own rounding; as long may reading take. */
const STALL_MS = 1_000;

export class PublisherLife implements DeadlineEntry {
  deadlineAtMs = 0;
  wheelSlot = -1;
  wheelNext: DeadlineEntry | undefined = undefined;
  wheelPrevious: DeadlineEntry | undefined = undefined;

  readonly #clock: Clock;
  readonly #wheel: DeadlineWheel;
  readonly #onSilence: () => void;
  #silentSinceMs = 0;
  /** How long it had been silent when reading stopped; undefined: this side reads. */
  #silentMs: number | undefined;
  #isSuspect = false;

  constructor(clock: Clock, wheel: DeadlineWheel, onSilence: () => void) {
    this.#clock = clock;
    this.#wheel = wheel;
    this.#onSilence = onSilence;
  }

  /** Reading begins. */
  start(): void {
    this.#silentMs = 0;
    this.resume();
  }

  heard(): void {
    this.#silentSinceMs = this.#clock.nowMs(); // the deadline finds out
    this.#isSuspect = false;
  }

  /** This side stops reading. */
  pause(): void {
    this.#silentMs = this.#clock.nowMs() - this.#silentSinceMs;
    this.#wheel.remove(this); // 1
  }

  /** This side reads again. */
  resume(): void {
    this.#silentSinceMs = this.#clock.nowMs() - (this.#silentMs ?? 0);
    this.#silentMs = undefined;
    this.#isSuspect = false;
    this.#arm(this.#silentSinceMs + SILENCE_LIMIT_MS);
  }

  stop(): void {
    this.#wheel.remove(this);
  }

  onDeadline(nowMs: number): void {
    const verdictAtMs = this.#silentSinceMs + SILENCE_LIMIT_MS;
    if (nowMs < verdictAtMs) return this.#arm(verdictAtMs);
    if (this.#isSuspect) return this.#onSilence();
    this.#isSuspect = true;
    const isStalled = nowMs - this.deadlineAtMs > STALL_MS;
    this.#arm(nowMs + (isStalled ? STALL_MS : 1)); // 2: another round through the wheel, with reads in between
  }

  #arm(atMs: number): void {
    this.deadlineAtMs = atMs;
    this.#wheel.add(this);
  }
}
