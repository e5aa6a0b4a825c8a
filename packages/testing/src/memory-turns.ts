/**
 * The turns in which a memory network delivers.
 *
 * Owns one `setImmediate` for the whole network, however many lanes have work.
 *
 * T1 What is asked for during a round runs in the next one: a round always ends.
 */
import type { MemoryLane } from './memory-lane.ts';

export class MemoryTurns {
  #lanes = new Set<MemoryLane>();
  #tasks: (() => void)[] = [];
  #scheduled = false;

  /** Gives the lane a turn in the next round. */
  ask(lane: MemoryLane): void {
    this.#lanes.add(lane);
    this.#schedule();
  }

  /** Runs a callback in the next round, after the lanes. */
  later(task: () => void): void {
    this.#tasks.push(task);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => this.#round());
  }

  #round(): void {
    this.#scheduled = false;
    const lanes = this.#lanes;
    const tasks = this.#tasks;
    this.#lanes = new Set(); // T1
    this.#tasks = [];
    for (const lane of lanes) lane.deliver();
    for (const task of tasks) task();
  }
}
