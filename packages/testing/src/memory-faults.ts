/**
 * What is wrong with a memory network, and where.
 *
 * Owns the table of faults. Leaves to `MemoryNetwork` whom a change concerns.
 *
 * F1 Faults of an address, of a way between hosts and of a single connection add up: the worse one of each kind holds.
 */
import type { MemoryConnection } from './memory-connection.ts';
import type { LaneFaults } from './memory-lane.ts';

/** Which way something flows: towards the side that listens, towards the side that dialled, or either. */
export type FaultDirection = 'toListener' | 'toDialer' | 'both';
type OneWay = Exclude<FaultDirection, 'both'>;

/** Stands for every address, and for every host. */
export const EVERYWHERE = '*';

type FaultKey = string | MemoryConnection;

interface Faults {
  toListener: LaneFaults;
  toDialer: LaneFaults;
  refused: boolean;
}

/** What is wrong on the way from one host to another. */
export interface WayFaults extends LaneFaults {
  /** Connections that are dialled this way do not come to be. */
  readonly refused: boolean;
}

const NO_FAULTS: WayFaults = { blackhole: false, paused: false, delayMs: 0, refused: false };

export class MemoryFaults {
  readonly #byKey = new Map<FaultKey, Faults>();
  readonly #byWay = new Map<string, WayFaults>();

  change(key: FaultKey, direction: FaultDirection, change: Partial<LaneFaults>): void {
    const faults = this.#at(key);
    if (direction !== 'toDialer') faults.toListener = { ...faults.toListener, ...change };
    if (direction !== 'toListener') faults.toDialer = { ...faults.toDialer, ...change };
  }

  /** @param from - the name of a host, or `EVERYWHERE`, as `to` */
  changeWay(from: string, to: string, change: Partial<WayFaults>): void {
    const key = wayKey(from, to);
    this.#byWay.set(key, { ...NO_FAULTS, ...this.#byWay.get(key), ...change });
  }

  refuse(address: string): void {
    this.#at(address).refused = true;
  }

  isRefused(connection: MemoryConnection): boolean {
    if ([connection.address, EVERYWHERE].some((key) => this.#byKey.get(key)?.refused === true)) return true;
    return this.#ofWay(connection, 'toListener').some(({ refused }) => refused);
  }

  /** The faults of one lane: of its connection, of the address that was dialled, of the hosts at its ends (F1). */
  of(connection: MemoryConnection, direction: OneWay): LaneFaults {
    const keys = [connection, connection.address, EVERYWHERE];
    const ofKeys = keys.map((key) => this.#byKey.get(key)?.[direction] ?? NO_FAULTS);
    const faults = [...ofKeys, ...this.#ofWay(connection, direction)];
    return {
      blackhole: faults.some(({ blackhole }) => blackhole),
      paused: faults.some(({ paused }) => paused),
      delayMs: Math.max(...faults.map(({ delayMs }) => delayMs)),
    };
  }

  end(key: FaultKey): void {
    this.#byKey.delete(key);
  }

  endAll(): void {
    this.#byKey.clear();
    this.#byWay.clear();
  }

  #ofWay({ dialerHost, listenerHost }: MemoryConnection, direction: OneWay): WayFaults[] {
    const ends = [dialerHost?.name ?? EVERYWHERE, listenerHost?.name ?? EVERYWHERE];
    const [from = EVERYWHERE, to = EVERYWHERE] = direction === 'toListener' ? ends : ends.reverse();
    const keys = [wayKey(from, to), wayKey(from, EVERYWHERE), wayKey(EVERYWHERE, to)];
    return keys.flatMap((key) => this.#byWay.get(key) ?? []);
  }

  #at(key: FaultKey): Faults {
    const known = this.#byKey.get(key);
    if (known !== undefined) return known;
    const faults: Faults = { toListener: NO_FAULTS, toDialer: NO_FAULTS, refused: false };
    this.#byKey.set(key, faults);
    return faults;
  }
}

function wayKey(from: string, to: string): string {
  return `${from} ${to}`; // no name of a host has a blank
}
