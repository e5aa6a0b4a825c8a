/**
 * Notices that the data behind a store may not be what was acknowledged.
 *
 * Owns the comparison and the listeners. Leaves to the store when it looks.
 *
 * 1. Another process, another replication history or another store under the same name: each may lack acknowledged
 *    writes (REDIS-007).
 * 2. Listeners are told before the call that noticed goes on (LOC-019).
 */

export interface StoreIdentity {
  readonly runId: string;
  readonly replicationId: string;
  readonly storeId: string;
}

export class DisruptionWatch {
  readonly #listeners = new Set<() => void>();
  #identity: StoreIdentity | undefined;

  get storeId(): string {
    return this.#identity?.storeId ?? '';
  }

  add(listener: () => void): () => void {
    const entry = (): void => listener(); // the same function may be added twice
    this.#listeners.add(entry);
    return () => void this.#listeners.delete(entry);
  }

  observe(identity: StoreIdentity): void {
    const before = this.#identity;
    this.#identity = identity;
    if (before === undefined || isSame(before, identity)) return;
    for (const listener of [...this.#listeners]) this.#tell(listener);
  }

  /** A listener that throws must not fail the call of somebody else. */
  #tell(listener: () => void): void {
    try {
      listener();
    } catch (error) {
      process.emitWarning(error instanceof Error ? error : String(error));
    }
  }
}

function isSame(a: StoreIdentity, b: StoreIdentity): boolean {
  return a.runId === b.runId && a.replicationId === b.replicationId && a.storeId === b.storeId;
}
