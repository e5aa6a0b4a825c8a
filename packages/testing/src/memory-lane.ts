/**
 * One direction of a memory connection: what was sent and has not arrived.
 *
 * Owns the order and the faults of one direction. Leaves to `MemoryNetwork` when a lane gets its turn, and to
 * `MemoryPipe` what an arriving item does.
 *
 * L1 Items arrive in the order in which they were sent, each at most once, never inside the call that sent them.
 * L2 An item that cannot arrive stays (paused, delayed), or the lane remembers that it lost something (black hole).
 * L3 A connection attempt is never lost in a black hole: it waits, as an unanswered one is repeated.
 */
import type { Clock } from '@zlink/kernel/internal/time';
import { DueAlarm } from './due-alarm.ts';

/** What travels: the attempt, its success, a message, or the orderly end of the sender. */
export type LaneItem =
  | { readonly kind: 'attempt' }
  | { readonly kind: 'opened' }
  | { readonly kind: 'message'; readonly parts: Uint8Array[] }
  | { readonly kind: 'end'; readonly reason: string };

export interface LaneFaults {
  readonly blackhole: boolean;
  readonly paused: boolean;
  readonly delayMs: number;
}

/** Where a lane's items arrive. */
export type LaneReceiver = (item: LaneItem) => void;

export class MemoryLane {
  readonly #clock: Clock;
  readonly #receive: LaneReceiver;
  /** Asks for a turn in the next round of the network. */
  readonly #ask: (lane: MemoryLane) => void;
  readonly #alarm: DueAlarm;
  #items: { readonly item: LaneItem; readonly dueAtMs: number }[] = [];
  #faults: LaneFaults = { blackhole: false, paused: false, delayMs: 0 };
  #lost = false;
  #onDrained: (() => void) | undefined;

  constructor(clock: Clock, ask: (lane: MemoryLane) => void, receive: LaneReceiver) {
    this.#clock = clock;
    this.#ask = ask;
    this.#alarm = new DueAlarm(clock, () => ask(this));
    this.#receive = receive;
  }

  /** Whether a black hole that has ended swallowed something: nothing may follow it on this connection. */
  get hasGap(): boolean {
    return this.#lost && !this.#faults.blackhole;
  }

  send(item: LaneItem): void {
    this.#items.push({ item, dueAtMs: this.#faults.delayMs === 0 ? 0 : this.#clock.nowMs() + this.#faults.delayMs });
    this.#ask(this);
  }

  setFaults(faults: LaneFaults): void {
    this.#faults = faults;
    if (this.#items.length > 0) this.#ask(this);
  }

  /** Calls back once when nothing is under way any more. */
  whenDrained(callback: () => void): void {
    if (this.#items.length === 0) callback();
    else this.#onDrained = callback;
  }

  /** Forgets what is under way. */
  clear(): void {
    this.#items = [];
    this.#settle();
  }

  /** One turn: delivers what was under way when the turn began. */
  deliver(): void {
    for (let left = this.#items.length; left > 0 && this.#items.length > 0; left--) {
      const next = this.#items[0]!; // the loop condition has just checked it
      if (this.#faults.paused || !this.#alarm.isDue(next.dueAtMs)) break;
      if (this.#faults.blackhole) {
        if (next.item.kind === 'attempt') break; // L3
        this.#lost = true; // L2
        this.#items.shift();
        continue;
      }
      this.#items.shift();
      this.#receive(next.item);
    }
    this.#settle();
  }

  #settle(): void {
    if (this.#items.length > 0) return;
    this.#alarm.cancel();
    const onDrained = this.#onDrained;
    this.#onDrained = undefined;
    onDrained?.();
  }
}
