/**
 * Counts messages where they arrive.
 *
 * Owns one measurement at a time: the moment at which the last of an announced number of messages arrived.
 *
 * 1. The count is exact: more or fewer messages than announced never pass for a result.
 */
export class Meter {
  readonly #nowMs: () => number;
  #wanted = 0;
  #seen = 0;
  #lastAtMs = 0;
  #finish: ((lastAtMs: number) => void) | undefined;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Messages that arrived since `arm`, or at all if there was none. */
  get seen(): number {
    return this.#seen;
  }

  /** Begins a measurement of exactly `count` messages. */
  arm(count: number): void {
    if (this.#seen !== this.#wanted) throw new Error(`${this.#seen} messages arrived, ${this.#wanted} were announced`); // 1
    this.#wanted = count;
    this.#seen = 0;
  }

  readonly tick = (): void => {
    if (++this.#seen !== this.#wanted) return;
    this.#lastAtMs = this.#nowMs();
    this.#finish?.(this.#lastAtMs);
    this.#finish = undefined;
  };

  /** When the last announced message arrived, as soon as it has. */
  finished(): Promise<number> {
    if (this.#wanted > 0 && this.#seen >= this.#wanted) return Promise.resolve(this.#lastAtMs);
    return new Promise((resolve) => {
      this.#finish = resolve;
    });
  }
}
