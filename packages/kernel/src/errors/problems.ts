/**
 * Collects the mistakes of a configuration while it is checked.
 *
 * Owns the wording. Leaves the checks to the resolvers.
 *
 * 1. Nothing is thrown before `throwIfAny`: one start reports all mistakes.
 */

import { ConfigurationError } from './configuration-error.ts';
import { describeValue } from './describe-value.ts';

export class Problems {
  readonly #texts: string[] = [];

  /** `option` has a value outside of `allowed`. A value that is secret by nature is reported by `note` instead. */
  add(option: string, value: unknown, allowed: string): void {
    this.#texts.push(`${option}: ${describeValue(value)} is not allowed, allowed: ${allowed}`);
  }

  /** A mistake that is not about one value: a duplicate name, a missing store. */
  note(text: string): void {
    this.#texts.push(text);
  }

  /** @throws ConfigurationError with all problems so far, if there are any */
  throwIfAny(): void {
    if (this.#texts.length > 0) throw new ConfigurationError(this.#texts);
  }
}
