/**
 * One direction of a proxied TCP connection.
 *
 * Owns the bytes between two sockets and what a fault does to them. Leaves both sockets' lives to the fault proxy.
 *
 * R1 Bytes leave in order, or not at all; unchanged, but for bits that a fault flips.
 * R2 A slow reader's pressure reaches the writer: no more than `HELD_BYTES` and one read are held here.
 * R3 A delay that is drawn is drawn anew for every `DRAWN_BYTES` of the stream, wherever reads begin and end.
 */
import type { Socket } from 'node:net';
import type { Clock, RandomSource } from '@zlink/kernel/internal/time';
import { DueAlarm } from './due-alarm.ts';
import { BitFlips, drawn, type FaultAmount, NO_RELAY_FAULTS, type RelayFaults } from './fault-plan.ts';

const HELD_BYTES = 1_048_576;
const DRAWN_BYTES = 1_024;

interface HeldChunk {
  /** undefined: the writer has ended its direction. */
  readonly bytes: Uint8Array | undefined;
  readonly dueAtMs: number;
}

export interface RelayRandom {
  readonly delays: RandomSource;
  readonly flips: RandomSource;
}

/** The connection that a direction belongs to. */
export interface RelayOwner {
  readonly clock: Clock;
  /** How many of these bytes may pass; fewer than asked: the connection ends behind them, by `onSpent`. */
  allow(byteCount: number): number;
  onSpent(): void;
  onReceived(byteCount: number): void;
  onPassed(byteCount: number): void;
  onFlipped(): void;
}

export class FaultRelay {
  readonly #from: Socket;
  readonly #to: Socket;
  /** Each fault has chance of its own, so that none changes another. */
  readonly #random: RelayRandom;
  readonly #owner: RelayOwner;
  readonly #alarm: DueAlarm;
  readonly #held: HeldChunk[] = [];
  #heldBytes = 0;
  #faults = NO_RELAY_FAULTS;
  #flips: BitFlips | undefined;
  /** What was drawn last, and for how many bytes it still counts (R3). */
  #drawn = { delayMs: 0, bytesLeft: 0 };
  #nextDripAtMs = 0;
  #lost = false;
  #blocked = false;

  constructor(from: Socket, to: Socket, random: RelayRandom, owner: RelayOwner) {
    this.#from = from;
    this.#to = to;
    this.#random = random;
    this.#owner = owner;
    this.#alarm = new DueAlarm(owner.clock, () => this.#pass());
    from.on('data', (bytes: Uint8Array) => this.#receive(bytes));
    from.on('end', () => this.#hold(undefined, this.#delayMs(0)));
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
    const { flipEveryBytes, delayMs, drip } = this.#faults;
    this.#faults = faults;
    if (faults.flipEveryBytes !== flipEveryBytes) {
      this.#flips = faults.flipEveryBytes === 0 ? undefined : new BitFlips(faults.flipEveryBytes, this.#random.flips);
    }
    if (faults.delayMs !== delayMs) this.#drawn = { delayMs: 0, bytesLeft: 0 };
    if (faults.drip !== drip) this.#nextDripAtMs = 0;
    this.#pass();
  }

  /** Forgets what is held; the sockets are gone. */
  stop(): void {
    this.#held.length = 0;
    this.#alarm.cancel();
  }

  #receive(received: Uint8Array): void {
    this.#owner.onReceived(received.length);
    const bytes = this.#flips?.apply(received, () => this.#owner.onFlipped()) ?? received;
    for (let at = 0; at < bytes.length;) {
      const delayMs = this.#delayMs(bytes.length - at);
      const end = at + Math.min(bytes.length - at, this.#drawn.bytesLeft);
      this.#drawn.bytesLeft -= end - at;
      this.#hold(bytes.subarray(at, end), delayMs);
      at = end;
    }
    if (this.#heldBytes >= HELD_BYTES) this.#from.pause(); // R2
  }

  /** Of the next bytes; afterwards `#drawn.bytesLeft` says for how many (R3). */
  #delayMs(byteCount: number): number {
    const amount: FaultAmount = this.#faults.delayMs;
    if (typeof amount === 'number') this.#drawn = { delayMs: amount, bytesLeft: byteCount };
    else if (this.#drawn.bytesLeft === 0) {
      this.#drawn = { delayMs: drawn(amount, this.#random.delays), bytesLeft: DRAWN_BYTES };
    }
    return this.#drawn.delayMs;
  }

  #hold(bytes: Uint8Array | undefined, delayMs: number): void {
    this.#held.push({ bytes, dueAtMs: delayMs === 0 ? 0 : this.#owner.clock.nowMs() + delayMs });
    this.#heldBytes += bytes?.length ?? 0;
    this.#pass();
  }

  #pass(): void {
    while (!this.#blocked || this.#faults.blackhole) {
      const next = this.#held[0];
      if (next === undefined || !this.#alarm.isDue(next.dueAtMs)) break;
      if (this.#faults.blackhole) {
        this.#take(Infinity);
        this.#lost = true;
        continue;
      }
      const { drip } = this.#faults;
      if (drip !== undefined && !this.#alarm.isDue(this.#nextDripAtMs)) break;
      if (drip !== undefined && next.bytes !== undefined) {
        this.#nextDripAtMs = this.#owner.clock.nowMs() + drip.everyMs;
      }
      this.#write(this.#take(drip?.bytes ?? Infinity));
    }
    if (this.#heldBytes < HELD_BYTES && this.#from.isPaused()) this.#from.resume();
  }

  /** Takes the first of what is held, or its beginning. */
  #take(maxBytes: number): Uint8Array | undefined {
    const { bytes, dueAtMs } = this.#held.shift() ?? { bytes: undefined, dueAtMs: 0 };
    if (bytes !== undefined && bytes.length > maxBytes)
      this.#held.unshift({ bytes: bytes.subarray(maxBytes), dueAtMs });
    const taken = bytes?.subarray(0, maxBytes);
    this.#heldBytes -= taken?.length ?? 0;
    return taken;
  }

  #write(bytes: Uint8Array | undefined): void {
    if (bytes === undefined) {
      this.#to.end();
      return;
    }
    const allowed = this.#owner.allow(bytes.length);
    if (allowed > 0) this.#blocked = !this.#to.write(allowed < bytes.length ? bytes.subarray(0, allowed) : bytes);
    this.#owner.onPassed(allowed);
    if (allowed < bytes.length) this.#owner.onSpent();
  }
}
