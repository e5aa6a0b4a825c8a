/**
 * Counts messages where they arrive.
 *
 * Owns one measurement at a time: from the first message to the last of an announced number, by the receiver's clock.
 *
 * 1. The count is exact: more or fewer messages than announced never pass for a result.
 * 2. Time begins with the first message, so that the announcement's own way costs nothing.
 */
export class Meter {
  readonly #nowMs: () => number;
  #wanted = 0;
  #seen = 0;
  #firstAtMs = 0;
  #elapsedMs = 0;
  #finish: ((elapsedMs: number) => void) | undefined;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Messages that arrived since `arm`. */
  get seen(): number {
    return this.#seen;
  }

  /** Begins a measurement of exactly `count` messages, at least 2. */
  arm(count: number): void {
    if (count < 2) throw new Error(`cannot time ${count} messages`);
    if (this.#seen !== this.#wanted) throw new Error(`${this.#seen} messages arrived, ${this.#wanted} were announced`); // 1
    this.#wanted = count;
    this.#seen = 0;
    this.#elapsedMs = 0;
  }

  readonly tick = (): void => {
    const seen = ++this.#seen;
    if (seen === 1) this.#firstAtMs = this.#nowMs(); // 2
    if (seen !== this.#wanted) return;
    this.#elapsedMs = this.#nowMs() - this.#firstAtMs;
    this.#finish?.(this.#elapsedMs);
    this.#finish = undefined;
  };

  /** Milliseconds between the first and the last announced message, once the last has arrived. */
  finished(): Promise<number> {
    if (this.#wanted > 0 && this.#seen >= this.#wanted) return Promise.resolve(this.#elapsedMs);
    return new Promise((resolve) => {
      this.#finish = resolve;
    });
  }
}
