/**
 * Finds out whether the other side of a link still lives, when nothing else says so (LIVE-001).
 *
 * Owns probe ids and deadlines. Leaves sending, and closing the link, to its owner.
 *
 * L1 One probe id is outstanding at a time and is resent unchanged; only its ack moves the deadline.
 * L2 Time in which our own event loop stood still is not the peer's silence (LIVE-002): it is not counted, and no verdict
 *    falls before pending input was read.
 * L3 Ids are random: a peer that does not read cannot answer in advance.
 */
import type { Clock, DeadlineEntry, DeadlineWheel, RandomSource } from '../time/index.ts';

export interface LivenessTimes {
  readonly probeIntervalMs: number;
  readonly deadlineMs: number;
}

export interface LivenessParts {
  readonly clock: Clock;
  readonly wheel: DeadlineWheel;
  readonly random: RandomSource;
}

export interface LivenessOwner {
  /** `isNew`: not the repetition of one that is still awaited. */
  sendProbe(id: number, isNew: boolean): void;
  /** The ack that was awaited has come. */
  onAnswer(): void;
  onSilence(silentMs: number): void;
}

/** A timer that comes later than this part of the probe interval was held up by a stall, not by its own rounding. */
const STALLS_PER_INTERVAL = 5;

/** Ids beside the last one. */
const OTHER_IDS = 0xffff_ffff;

export class Liveness implements DeadlineEntry {
  deadlineAtMs = 0;
  wheelSlot = -1;
  wheelNext: DeadlineEntry | undefined = undefined;
  wheelPrevious: DeadlineEntry | undefined = undefined;

  readonly #times: LivenessTimes;
  readonly #clock: Clock;
  readonly #wheel: DeadlineWheel;
  readonly #random: RandomSource;
  readonly #owner: LivenessOwner;
  /** When silence began, our own stalls since not counted. */
  #silentSinceMs: number;
  /** Last probe sent, and whether its ack is still awaited. */
  #probeId = 0;
  #awaiting = false;
  /** A verdict is due and only pending input can avert it (L2). */
  #suspect = false;

  constructor(times: LivenessTimes, parts: LivenessParts, owner: LivenessOwner) {
    this.#times = times;
    this.#clock = parts.clock;
    this.#wheel = parts.wheel;
    this.#random = parts.random;
    this.#owner = owner;
    this.#silentSinceMs = this.#clock.nowMs();
    this.#arm(this.#silentSinceMs);
  }

  onAck(id: number): void {
    if (!this.#awaiting || id !== this.#probeId) return; // L1
    this.#awaiting = false;
    this.#suspect = false;
    this.#silentSinceMs = this.#clock.nowMs();
    this.#owner.onAnswer();
  }

  /** Asks now instead of at the next interval; nothing if an answer is awaited anyway. */
  probe(): void {
    if (!this.#awaiting) this.#ask();
  }

  onDeadline(nowMs: number): void {
    const lateMs = nowMs - this.deadlineAtMs;
    if (lateMs * STALLS_PER_INTERVAL > this.#times.probeIntervalMs) this.#silentSinceMs += lateMs; // L2
    const silentMs = nowMs - this.#silentSinceMs;
    const isOverdue = silentMs >= this.#times.deadlineMs;
    if (isOverdue && this.#suspect) return this.#owner.onSilence(silentMs);
    this.#suspect = isOverdue; // L2: another round through the wheel, so that what has arrived is read before the verdict
    this.#arm(nowMs); // first: to send may end the link, which calls this off
    if (this.#awaiting) this.#owner.sendProbe(this.#probeId, false);
    else this.#ask();
  }

  stop(): void {
    this.#wheel.remove(this);
  }

  #ask(): void {
    this.#probeId = (this.#probeId + 1 + Math.floor(this.#random() * OTHER_IDS)) >>> 0; // L3, and never the last one again
    this.#awaiting = true;
    this.#owner.sendProbe(this.#probeId, true);
  }

  #arm(nowMs: number): void {
    const verdictAtMs = this.#silentSinceMs + this.#times.deadlineMs;
    const probeAtMs = nowMs + this.#times.probeIntervalMs;
    this.deadlineAtMs = this.#suspect ? nowMs + 1 : Math.min(probeAtMs, Math.max(verdictAtMs, nowMs + 1));
    this.#wheel.add(this);
  }
}
