/** What the driver asks of a host about its snapshots and events. Leaves iterations to the watch. */
import type { Host, RuntimeSnapshot } from '@zlink/framework';
import { type ObservedItem, Watch } from '../watch.ts';

export class ObservingCommands {
  readonly #host: () => Host;
  readonly #watch = new Watch();

  constructor(host: () => Host) {
    this.#host = host;
  }

  snapshot(): RuntimeSnapshot {
    return this.#host().query.snapshot();
  }

  keep(): void {
    this.#watch.keep(this.#host().query.snapshot());
  }

  kept(): readonly { readonly snapshot: RuntimeSnapshot; readonly isFrozen: boolean }[] {
    return this.#watch.kept();
  }

  /** Begins to observe; nothing is read yet. */
  watch(id: string, what: 'snapshots' | 'events'): void {
    this.#watch.begin(id, this.#host().query, what);
  }

  /** The next items; fewer only if the iteration ends. */
  read(id: string, count: number): Promise<readonly ObservedItem[]> {
    return this.#watch.read(id, count);
  }

  unwatch(id: string, how: 'signal' | 'return' | 'throw'): Promise<void> {
    return this.#watch.end(id, how);
  }
}
