/**
 * One direction of a proxied TCP connection.
 *
 * Owns the bytes between two sockets and what a fault does to them. Leaves both sockets' lives to the fault proxy.
 *
 * R1 Bytes leave in order and unchanged, or not at all.
 * R2 A slow reader's pressure reaches the writer: no more than `HELD_BYTES` and one read are held here.
 */
import type { Socket } from 'node:net';
import type { Clock } from '@zlink/kernel/internal/time';
import { DueAlarm } from './due-alarm.ts';

const HELD_BYTES = 1_048_576;

export interface RelayFaults {
  readonly blackhole: boolean;
  readonly delayMs: number;
}

interface HeldChunk {
  /** undefined: the writer has ended its direction. */
  readonly bytes: Uint8Array | undefined;
  readonly dueAtMs: number;
}

export class FaultRelay {
  readonly #from: Socket;
  readonly #to: Socket;
  readonly #clock: Clock;
  /** How many of these bytes may pass; fewer than asked: the connection is cut behind them. */
  readonly #allow: (byteCount: number) => number;
  readonly #cut: () => void;
  readonly #alarm: DueAlarm;
  readonly #held: HeldChunk[] = [];
  #heldBytes = 0;
  #faults: RelayFaults = { blackhole: false, delayMs: 0 };
  #lost = false;
  #blocked = false;

  constructor(from: Socket, to: Socket, clock: Clock, allow: (byteCount: number) => number, cut: () => void) {
    this.#from = from;
    this.#to = to;
    this.#clock = clock;
    this.#allow = allow;
    this.#cut = cut;
    this.#alarm = new DueAlarm(clock, () => this.#pass());
    from.on('data', (bytes: Uint8Array) => this.#hold(bytes));
    from.on('end', () => this.#hold(undefined));
    to.on('drain', () => {
      this.#blocked = false;
      this.#pass();
    });
  }

  /** Whether bytes or an end were swallowed by a black hole that is over: nothing may follow. */
  get hasGap(): boolean {
    return this.#lost && !this.#faults.blackhole;
  }

  setFaults(faults: RelayFaults): void {
    this.#faults = faults;
    this.#pass();
  }

  /** Forgets what is held; the sockets are gone. */
  stop(): void {
    this.#held.length = 0;
    this.#alarm.cancel();
  }

  #hold(bytes: Uint8Array | undefined): void {
    const { delayMs } = this.#faults;
    this.#held.push({ bytes, dueAtMs: delayMs === 0 ? 0 : this.#clock.nowMs() + delayMs });
    this.#heldBytes += bytes?.length ?? 0;
    this.#pass();
    if (this.#heldBytes >= HELD_BYTES) this.#from.pause(); // R2
  }

  #pass(): void {
    while (!this.#blocked || this.#faults.blackhole) {
      const next = this.#held[0];
      if (next === undefined || !this.#alarm.isDue(next.dueAtMs)) break;
      this.#held.shift();
      this.#heldBytes -= next.bytes?.length ?? 0;
      if (this.#faults.blackhole) this.#lost = true;
      else this.#write(next.bytes);
    }
    if (this.#heldBytes < HELD_BYTES && this.#from.isPaused()) this.#from.resume();
  }

  #write(bytes: Uint8Array | undefined): void {
    if (bytes === undefined) {
      this.#to.end();
      return;
    }
    const allowed = this.#allow(bytes.length);
    if (allowed > 0) this.#blocked = !this.#to.write(allowed < bytes.length ? bytes.subarray(0, allowed) : bytes);
    if (allowed < bytes.length) this.#cut();
  }
}
