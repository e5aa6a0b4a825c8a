/**
 * Finds out whether the other side of a link still lives, when nothing else says so (LIVE-001).
 *
 * Owns probe ids and deadlines. Leaves sending, and closing the link, to its owner.
 *
 * L1 One probe id is outstanding at a time and is resent unchanged; only its ack moves the deadline.
 * L2 Time in which our own event loop stood still is not the peer's silence (LIVE-002): it is not counted, and no verdict
 *    falls before pending input was read.
 */
import type { Clock, DeadlineEntry, DeadlineWheel } from '../time/index.ts';

export interface LivenessTimes {
  readonly probeIntervalMs: number;
  readonly deadlineMs: number;
}

export interface LivenessOwner {
  sendProbe(id: number): void;
  onSilence(silentMs: number): void;
}

/** A timer that comes later than this part of the probe interval was held up by a stall, not by its own rounding. */
const STALLS_PER_INTERVAL = 5;

export class Liveness implements DeadlineEntry {
  deadlineAtMs = 0;
  wheelSlot = -1;
  wheelNext: DeadlineEntry | undefined = undefined;
  wheelPrevious: DeadlineEntry | undefined = undefined;

  readonly #times: LivenessTimes;
  readonly #clock: Clock;
  readonly #wheel: DeadlineWheel;
  readonly #owner: LivenessOwner;
  /** When silence began, our own stalls since not counted. */
  #silentSinceMs: number;
  /** Last probe sent, and whether its ack is still awaited. */
  #probeId = 0;
  #awaiting = false;
  /** A verdict is due and only pending input can avert it (L2). */
  #suspect = false;

  constructor(times: LivenessTimes, clock: Clock, wheel: DeadlineWheel, owner: LivenessOwner) {
    this.#times = times;
    this.#clock = clock;
    this.#wheel = wheel;
    this.#owner = owner;
    this.#silentSinceMs = clock.nowMs();
    this.#arm(this.#silentSinceMs);
  }

  onAck(id: number): void {
    if (!this.#awaiting || id !== this.#probeId) return; // L1
    this.#awaiting = false;
    this.#suspect = false;
    this.#silentSinceMs = this.#clock.nowMs();
  }

  onDeadline(nowMs: number): void {
    const lateMs = nowMs - this.deadlineAtMs;
    if (lateMs * STALLS_PER_INTERVAL > this.#times.probeIntervalMs) this.#silentSinceMs += lateMs; // L2
    const silentMs = nowMs - this.#silentSinceMs;
    const isOverdue = silentMs >= this.#times.deadlineMs;
    if (isOverdue && this.#suspect) return this.#owner.onSilence(silentMs);
    this.#suspect = isOverdue; // L2: another round through the wheel, so that what has arrived is read before the verdict
    if (!this.#awaiting) {
      this.#probeId = (this.#probeId + 1) >>> 0;
      this.#awaiting = true;
    }
    this.#owner.sendProbe(this.#probeId);
    this.#arm(nowMs);
  }

  stop(): void {
    this.#wheel.remove(this);
  }

  #arm(nowMs: number): void {
    const verdictAtMs = this.#silentSinceMs + this.#times.deadlineMs;
    const probeAtMs = nowMs + this.#times.probeIntervalMs;
    this.deadlineAtMs = this.#suspect ? nowMs + 1 : Math.min(probeAtMs, Math.max(verdictAtMs, nowMs + 1));
    this.#wheel.add(this);
  }
}
