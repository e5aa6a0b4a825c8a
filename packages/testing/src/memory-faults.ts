/**
 * What is wrong with a memory network, and where.
 *
 * Owns the table of faults. Leaves to `MemoryNetwork` whom a change concerns.
 *
 * F1 Faults of an address and of a single connection add up: the worse one of each kind holds.
 */
import type { MemoryConnection } from './memory-connection.ts';
import type { LaneFaults } from './memory-lane.ts';

/** Which way something flows: towards the side that listens, towards the side that dialled, or either. */
export type FaultDirection = 'toListener' | 'toDialer' | 'both';
type OneWay = Exclude<FaultDirection, 'both'>;

/** Stands for every address. */
export const EVERYWHERE = '*';

type FaultKey = string | MemoryConnection;

interface Faults {
  toListener: LaneFaults;
  toDialer: LaneFaults;
  refused: boolean;
}

const NO_FAULTS: LaneFaults = { blackhole: false, paused: false, delayMs: 0 };

export class MemoryFaults {
  readonly #byKey = new Map<FaultKey, Faults>();

  change(key: FaultKey, direction: FaultDirection, change: Partial<LaneFaults>): void {
    const faults = this.#at(key);
    if (direction !== 'toDialer') faults.toListener = { ...faults.toListener, ...change };
    if (direction !== 'toListener') faults.toDialer = { ...faults.toDialer, ...change };
  }

  refuse(address: string): void {
    this.#at(address).refused = true;
  }

  isRefused(address: string): boolean {
    return [address, EVERYWHERE].some((key) => this.#byKey.get(key)?.refused === true);
  }

  /** The faults of one lane: of its connection, of the address that was dialled and of every address (F1). */
  of(connection: MemoryConnection, direction: OneWay): LaneFaults {
    const keys = [connection, connection.address, EVERYWHERE];
    const faults = keys.map((key) => this.#byKey.get(key)?.[direction] ?? NO_FAULTS);
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
  }

  #at(key: FaultKey): Faults {
    const known = this.#byKey.get(key);
    if (known !== undefined) return known;
    const faults: Faults = { toListener: NO_FAULTS, toDialer: NO_FAULTS, refused: false };
    this.#byKey.set(key, faults);
    return faults;
  }
}
