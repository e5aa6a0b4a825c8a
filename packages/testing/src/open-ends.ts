/**
 * The pipe ends that an engine or a listener has open.
 *
 * Owns the set and who waits for it to become empty.
 */
import type { MemoryPipe } from './memory-pipe.ts';

export class OpenEnds {
  readonly #pipes = new Set<MemoryPipe>();
  #waiting: (() => void)[] = [];

  add(pipe: MemoryPipe): void {
    this.#pipes.add(pipe);
  }

  remove(pipe: MemoryPipe): void {
    this.#pipes.delete(pipe);
    if (this.#pipes.size > 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  /** Ends all ends that their owners have not closed. */
  abandonAll(reason: string): void {
    for (const pipe of [...this.#pipes]) pipe.abandon(reason);
  }

  /** Resolves when nothing of any end is under way. */
  async empty(): Promise<void> {
    if (this.#pipes.size === 0) return;
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}
