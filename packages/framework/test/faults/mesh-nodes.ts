/** What the fault tests of meshes count: runs of handlers against what callers believe. */
import type { CallEnds } from '../fixtures/fault-calls.ts';
import type { FaultNode } from '../fixtures/fault-node.ts';
import type { FaultChild } from './fault-child.ts';

export type Node = FaultChild<FaultNode>;

/** How often each message was handled, by its mark, on all nodes together. */
export class HandledMarks {
  readonly #times = new Map<string, number>();

  async add(node: Node): Promise<void> {
    for (const mark of await node.ask('handled')) this.#times.set(mark, (this.#times.get(mark) ?? 0) + 1);
  }

  get size(): number {
    return this.#times.size;
  }

  has(mark: string): boolean {
    return this.#times.has(mark);
  }

  get repeated(): string[] {
    return [...this.#times].filter(([, times]) => times > 1).map(([mark]) => mark);
  }
}

/** Every call has one end; what was answered was handled, and what is said not to have left was not. */
export function expectHonest(ends: CallEnds, handled: HandledMarks, kinds: readonly string[]): void {
  const total = Object.values(ends.counts).reduce((sum, count) => sum + count, 0);
  expect([total, ends.errors.filter(({ kind }) => !kinds.includes(kind))]).toEqual([ends.started, []]);
  expect(Object.keys(ends.counts).filter((kind) => !kinds.includes(kind))).toEqual([]);
  expect(ends.unsubmitted.filter((mark) => handled.has(mark))).toEqual([]);
}
