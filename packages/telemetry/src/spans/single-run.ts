/**
 * Work that others are asked to run, and that runs once whatever they do.
 *
 * 1. The first call counts, also while the work still runs; every later one does nothing.
 */

type Outcome<R> =
  { readonly hasThrown: false; readonly value: R } | { readonly hasThrown: true; readonly thrown: unknown };

export class SingleRun<R> {
  readonly #work: () => R;
  #outcome: Outcome<R> | undefined = undefined;
  #hasBegun = false;

  constructor(work: () => R) {
    this.#work = work;
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Never throws. */
  run(): void {
    if (this.#hasBegun) return; // 1
    this.#hasBegun = true;
    try {
      this.#outcome = { hasThrown: false, value: this.#work() };
    } catch (thrown) {
      this.#outcome = { hasThrown: true, thrown };
    }
  }

  /**
   * Of the work, which has run.
   *
   * @throws what the work threw
   */
  get result(): R {
    const outcome = this.#outcome!;
    if (outcome.hasThrown) throw outcome.thrown;
    return outcome.value;
  }
}
