/**
 * What a scenario observes of one host: kept snapshots, and iterations that are read when the driver says so.
 *
 * Owns the iterations. Leaves what they should show to the scenarios.
 */
import type { MonitoringEvent, RuntimeQuery, RuntimeSnapshot } from '@zlink/framework';

/** Of snapshots, or of events. */
export interface ObservedItem {
  readonly snapshot?: RuntimeSnapshot;
  readonly event?: MonitoringEvent;
  readonly loss: { readonly coalesced?: bigint; readonly discarded?: bigint };
}

interface Iteration {
  readonly iterator: AsyncIterator<ObservedItem>;
  readonly abort: AbortController;
  readonly source: AsyncIterable<ObservedItem>;
}

export class Watch {
  readonly #kept: RuntimeSnapshot[] = [];
  readonly #iterations = new Map<string, Iteration>();

  keep(snapshot: RuntimeSnapshot): void {
    this.#kept.push(snapshot);
  }

  kept(): readonly { readonly snapshot: RuntimeSnapshot; readonly isFrozen: boolean }[] {
    return this.#kept.map((snapshot) => ({ snapshot, isFrozen: isDeepFrozen(snapshot) }));
  }

  begin(id: string, query: RuntimeQuery, what: 'snapshots' | 'events'): void {
    const abort = new AbortController();
    const source = what === 'snapshots' ? query.observe(abort.signal) : query.events(abort.signal);
    this.#iterations.set(id, { iterator: source[Symbol.asyncIterator](), abort, source });
  }

  async read(id: string, count: number): Promise<readonly ObservedItem[]> {
    const { iterator } = this.#of(id);
    const items: ObservedItem[] = [];
    while (items.length < count) {
      const item = await iterator.next();
      if (item.done === true) break;
      items.push(item.value);
    }
    return items;
  }

  async end(id: string, how: 'signal' | 'return' | 'throw'): Promise<void> {
    const { iterator, abort, source } = this.#of(id);
    if (how === 'signal') abort.abort();
    else if (how === 'return') await iterator.return?.();
    else await readAndThrow(source);
  }

  #of(id: string): Iteration {
    const found = this.#iterations.get(id);
    if (found === undefined) throw new Error(`nothing is observed as ${id}`);
    return found;
  }
}

/** A reader that fails at its first item: another iteration of the same source. */
async function readAndThrow(source: AsyncIterable<ObservedItem>): Promise<void> {
  const failure = new Error('a reader that fails');
  try {
    for await (const item of source) if (item !== undefined) throw failure;
  } catch (error) {
    if (error !== failure) throw error;
  }
}

function isDeepFrozen(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return (Object.isFrozen(value) || value instanceof Date) && Object.values(value).every(isDeepFrozen);
}
