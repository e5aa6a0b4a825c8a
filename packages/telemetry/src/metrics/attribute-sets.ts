/**
 * The attributes of one metric: one frozen object for each combination of values (METRIC-003).
 *
 * 1. As many as there are registrations and words: values come from closed sets and from names of the registration.
 */
import type { Attributes } from '@opentelemetry/api';

/** One value for each name of an attribute. */
export type ValuesOf<A extends readonly string[]> = { readonly [I in keyof A]: string };

export class AttributeSets<A extends readonly string[]> {
  readonly #names: A;
  readonly #sets = new Map<string, Attributes>();

  constructor(names: A) {
    this.#names = names;
  }

  of(values: ValuesOf<A>): Attributes {
    const key = values.join('\0'); // no name has a NUL
    let set = this.#sets.get(key);
    if (set === undefined) {
      set = Object.freeze(Object.fromEntries(this.#names.map((name, index) => [name, values[index]])));
      this.#sets.set(key, set);
    }
    return set;
  }
}
