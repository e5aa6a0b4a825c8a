/**
 * Thousands of deadlines on one timer (CALL-003).
 *
 * Owns when a deadline is due. Leaves to the entries what then happens, and to the clock what time is. The slots live
 * in wheel-slots.ts.
 *
 * 1. No entry fires early; with a free event loop none fires more than one tick late.
 * 2. At most one clock timer exists, none while the wheel is empty or closed.
 * 3. `add` and `remove` allocate nothing of their own; only setting the timer does.
 * 4. An entry is out of the wheel before its `onDeadline` runs: it may add and remove any entry, itself included.
 * 5. After a stall of the event loop the pending reads come first, then the due entries (LIVE-002).
 */

import { ZLinkError } from '../../errors/index.ts';
import { afterPendingReads, type Clock, type TimerHandle } from './clock.ts';
import { type DeadlineEntry, WheelSlots } from './wheel-slots.ts';

/** A timer that comes later than this was held up by a stall of the event loop. */
const stallMs = 1_000;

const maxDelayMs = 2_147_483_647; // a longer delay would make the platform's timer fire at once

export interface DeadlineWheelOptions {
  readonly clock: Clock;
  /** Gets what an `onDeadline` threw. Must not throw. */
  readonly onError: (error: unknown) => void;
  /** Calls back when everything readable by now has been read. */
  readonly afterReads?: ((callback: () => void) => void) | undefined;
}

/**
 * `resting`: empty, no timer. `armed`: the timer stands at the next event of the slots. `firing`: entries run, the
 * timer is set afterwards. `yielding`: stalled, reads go first. `closed`: for ever.
 */
type Phase = 'resting' | 'armed' | 'firing' | 'yielding' | 'closed';

export class DeadlineWheel {
  readonly #clock: Clock;
  readonly #onError: (error: unknown) => void;
  readonly #afterReads: (callback: () => void) => void;
  readonly #slots: WheelSlots;
  readonly #onTimer = (): void => this.#timerFired();
  #phase: Phase = 'resting';
  #timer: TimerHandle | undefined; // only while armed, like the next two
  #armedTick = Infinity;
  #armedAtMs = Infinity;

  constructor(options: DeadlineWheelOptions) {
    this.#clock = options.clock;
    this.#onError = options.onError;
    this.#afterReads = options.afterReads ?? afterPendingReads;
    this.#slots = new WheelSlots(options.clock.nowMs());
  }

  /** For leak checks: entries that are watched. */
  get size(): number {
    return this.#slots.size;
  }

  /** Watches `entry.deadlineAtMs`, an instant of the clock. An entry that is in already is moved. */
  add(entry: DeadlineEntry): void {
    const slots = this.#slots;
    slots.remove(entry);
    switch (this.#phase) {
      case 'closed':
        throw new ZLinkError('ShuttingDown', 'the deadline wheel is closed');
      case 'resting':
        this.#addFirst(entry);
        return;
      case 'armed':
        if (slots.insert(entry) < this.#armedTick) this.#armEarlier(entry);
        return;
      case 'firing':
      case 'yielding':
        slots.insert(entry); // the timer is set when this phase ends
    }
  }

  /** Does nothing for an entry that is not in the wheel. */
  remove(entry: DeadlineEntry): void {
    this.#slots.remove(entry);
    if (this.#slots.size === 0 && this.#phase === 'armed') this.#disarm('resting');
  }

  /** Forgets all entries without firing them. */
  close(): void {
    this.#slots.clear();
    this.#disarm('closed');
  }

  #addFirst(entry: DeadlineEntry): void {
    const nowMs = this.#clock.nowMs();
    this.#slots.advanceTo(this.#slots.tickAt(nowMs));
    this.#slots.insert(entry);
    this.#arm(nowMs);
  }

  #armEarlier(entry: DeadlineEntry): void {
    const slots = this.#slots;
    const nowMs = this.#clock.nowMs();
    // `current` stands where the timer was last set; seen from now the entry may need no earlier attention at all. A
    // timer that is overdue is never set anew by this: it must still know how late it is (5).
    slots.remove(entry);
    slots.advanceTo(Math.min(slots.tickAt(nowMs), this.#armedTick - 1));
    if (slots.insert(entry) < this.#armedTick) this.#arm(nowMs);
  }

  #arm(nowMs: number): void {
    this.#disarm('resting');
    const eventTick = this.#slots.nextEvent();
    if (eventTick === Infinity) return;
    this.#phase = 'armed';
    this.#armedTick = eventTick;
    this.#armedAtMs = Math.min(this.#slots.startMs(eventTick), nowMs + maxDelayMs);
    this.#timer = this.#clock.setTimer(this.#onTimer, Math.max(this.#armedAtMs - nowMs, 0));
  }

  #disarm(next: Phase): void {
    const timer = this.#timer;
    this.#timer = undefined;
    this.#armedTick = Infinity;
    this.#armedAtMs = Infinity;
    this.#phase = next;
    if (timer !== undefined) this.#clock.clearTimer(timer); // 2
  }

  #timerFired(): void {
    this.#timer = undefined;
    const nowMs = this.#clock.nowMs();
    if (nowMs - this.#armedAtMs <= stallMs) {
      this.#fireDue(nowMs);
      return;
    }
    this.#phase = 'yielding';
    this.#afterReads(() => {
      if (!this.#isClosed()) this.#fireDue(this.#clock.nowMs());
    });
  }

  #fireDue(nowMs: number): void {
    this.#phase = 'firing';
    const tick = this.#slots.tickAt(nowMs);
    try {
      for (let entry = this.#slots.takeDue(tick); entry !== undefined; entry = this.#slots.takeDue(tick)) {
        this.#fire(entry, nowMs);
      }
    } finally {
      // Also after an onError that threw: the other entries keep their turn.
      if (!this.#isClosed()) this.#arm(this.#clock.nowMs());
    }
  }

  #fire(entry: DeadlineEntry, nowMs: number): void {
    try {
      entry.onDeadline(nowMs);
    } catch (error) {
      this.#onError(error);
    }
  }

  /** A method, because callbacks run between a write of the phase and this read and may close the wheel. */
  #isClosed(): boolean {
    return this.#phase === 'closed';
  }
}
