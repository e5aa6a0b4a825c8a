/**
 * What an observer has seen of servers, and since when.
 *
 * Owns the record and who waits for it. Leaves looking, and the clock, to the observer.
 *
 * 1. Only changes are kept: a state holds until the next one of the same server.
 */

/** A server as an observer sees it; one that is not listed is neither usable nor has a weight. */
export interface Sighting {
  readonly isListed: boolean;
  /** A client would choose it; in a view of the store: it serves, and its owner lives. */
  readonly isUsable: boolean;
  readonly weight: number;
}

export type Wanted = Partial<Sighting>;

interface Change {
  readonly atMs: number;
  readonly sighting: Sighting;
}

interface Waiter {
  readonly endpoint: string;
  readonly wanted: Wanted;
  readonly sinceMs: number;
  readonly resolve: (atMs: number) => void;
}

const unseen: Sighting = Object.freeze({ isListed: false, isUsable: false, weight: 0 });

export class Journal {
  readonly #changes = new Map<string, Change[]>();
  #waiters: readonly Waiter[] = [];

  /** Everything that is seen now, by endpoint. */
  note(sightings: ReadonlyMap<string, Sighting>, atMs: number): void {
    let isChanged = false;
    for (const endpoint of this.#changes.keys()) {
      if (!sightings.has(endpoint)) isChanged = this.#noteOne(endpoint, unseen, atMs) || isChanged;
    }
    for (const [endpoint, sighting] of sightings) isChanged = this.#noteOne(endpoint, sighting, atMs) || isChanged;
    if (isChanged) this.#tell();
  }

  /** The first moment from `sinceMs` on at which the server was as wanted; waits for it. */
  first(endpoint: string, wanted: Wanted, sinceMs: number): Promise<number> {
    return new Promise((resolve) => {
      this.#waiters = [...this.#waiters, { endpoint, wanted, sinceMs, resolve }];
      this.#tell();
    });
  }

  #noteOne(endpoint: string, sighting: Sighting, atMs: number): boolean {
    const changes = this.#changes.get(endpoint) ?? [];
    if (isAs(changes.at(-1)?.sighting ?? unseen, sighting)) return false; // 1
    this.#changes.set(endpoint, [...changes, { atMs, sighting }]);
    return true;
  }

  #tell(): void {
    this.#waiters = this.#waiters.filter((waiter) => {
      const atMs = this.#find(waiter);
      if (atMs !== undefined) waiter.resolve(atMs);
      return atMs === undefined;
    });
  }

  #find({ endpoint, wanted, sinceMs }: Waiter): number | undefined {
    const changes = this.#changes.get(endpoint) ?? [];
    const before = changes.findLast(({ atMs }) => atMs < sinceMs)?.sighting ?? unseen;
    if (isAs(before, wanted)) return sinceMs;
    return changes.find(({ atMs, sighting }) => atMs >= sinceMs && isAs(sighting, wanted))?.atMs;
  }
}

function isAs(sighting: Sighting, wanted: Wanted): boolean {
  const { isListed = sighting.isListed, isUsable = sighting.isUsable, weight = sighting.weight } = wanted;
  return sighting.isListed === isListed && sighting.isUsable === isUsable && sighting.weight === weight;
}
