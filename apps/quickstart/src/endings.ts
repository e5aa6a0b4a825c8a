/**
 * What acts have started beside child processes, and have to end with the demo.
 *
 * Owns that everything is ended once. Leaves how to who started it.
 *
 * E1 What was started last is ended first.
 * E2 What comes after the end, as its start took long, is ended at once: nothing may hold the process.
 */
export class Endings {
  readonly #ends: (() => Promise<void>)[] = [];
  #isOver = false;

  add(end: () => Promise<void>): void {
    if (this.#isOver)
      void end(); // E2
    else this.#ends.push(end);
  }

  async run(): Promise<void> {
    this.#isOver = true;
    for (const end of this.#ends.splice(0).reverse()) await end(); // E1
  }
}
