/**
 * Keeps the platform's time, chance and timers away from what is simulated.
 *
 * Owns the globals while a simulation plays. What asks for a later turn of the event loop gets one from `turns`, and new
 * ids come from the seed; all else that a run could not repeat throws.
 *
 * 1. Whoever catches what was thrown is found all the same: `leaks` keeps count.
 */
import type { RandomSource } from '../../src/internal/time/index.ts';

export class PlatformBan {
  /** What was asked for and is not to be had. */
  readonly leaks: string[] = [];
  /** Callbacks for the next turn of the event loop. */
  turns: (() => void)[] = [];
  readonly #random: RandomSource;
  readonly #before: [object, string, PropertyDescriptor | undefined][] = [];

  constructor(random: RandomSource) {
    this.#random = random;
  }

  begin(): void {
    this.#replace(globalThis, 'setImmediate', (task: () => void) => void this.turns.push(task));
    this.#replace(globalThis, 'crypto', { randomUUID: () => this.#uuid() });
    this.#replace(globalThis, 'performance', { now: this.#refused('performance.now') });
    this.#replace(globalThis, 'setTimeout', this.#refused('setTimeout'));
    this.#replace(globalThis, 'setInterval', this.#refused('setInterval'));
    this.#replace(Math, 'random', this.#refused('Math.random'));
    this.#replace(Date, 'now', this.#refused('Date.now'));
  }

  end(): void {
    for (const [owner, name, before] of this.#before.reverse()) {
      if (before === undefined) Reflect.deleteProperty(owner, name);
      else Object.defineProperty(owner, name, before);
    }
  }

  #replace(owner: object, name: string, value: unknown): void {
    this.#before.push([owner, name, Object.getOwnPropertyDescriptor(owner, name)]);
    Object.defineProperty(owner, name, { value, configurable: true, writable: true });
  }

  #refused(name: string): () => never {
    return () => {
      this.leaks.push(name); // 1
      throw new Error(`a simulation has no ${name}`);
    };
  }

  #uuid(): string {
    const digits = Array.from({ length: 32 }, () => Math.floor(this.#random() * 16).toString(16)).join('');
    return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  }
}
