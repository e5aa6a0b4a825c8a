/**
 * Counts what became of a caller's calls.
 *
 * Owns the numbers. Leaves to the summary what they prove.
 *
 * T1 Each call is counted once when it is accepted and once when it ends.
 */
import { ZLinkError } from '@zlink/framework';
import type { CallCounts, ErrorCounts, SendCounts } from './calls.ts';

export class CallTally {
  readonly #answered = new Map<string, number>();
  readonly #failures = new FailureTally();
  #accepted = 0;
  #wrong = 0;

  accept(): void {
    this.#accepted++;
  }

  answer(server: string): void {
    this.#answered.set(server, (this.#answered.get(server) ?? 0) + 1);
  }

  /** An answer that is not the one to this call. */
  answerWrongly(): void {
    this.#wrong++;
  }

  fail(error: unknown): void {
    this.#failures.add(error);
  }

  counts(): CallCounts {
    return {
      accepted: this.#accepted,
      answered: Object.fromEntries(this.#answered),
      errors: this.#failures.errors(),
      wrong: this.#wrong,
      untyped: this.#failures.untyped,
    };
  }
}

export class SendTally {
  readonly #failures = new FailureTally();
  #accepted = 0;

  accept(): void {
    this.#accepted++;
  }

  fail(error: unknown): void {
    this.#failures.add(error);
  }

  counts(): SendCounts {
    return { accepted: this.#accepted, errors: this.#failures.errors(), untyped: this.#failures.untyped };
  }
}

class FailureTally {
  readonly #byKind = new Map<string, ErrorCounts>();
  untyped = 0;

  add(error: unknown): void {
    if (!(error instanceof ZLinkError)) {
      this.untyped++;
      return;
    }
    const { submitted, notSubmitted } = this.#byKind.get(error.kind) ?? { submitted: 0, notSubmitted: 0 };
    this.#byKind.set(
      error.kind,
      error.submitted ? { submitted: submitted + 1, notSubmitted } : { submitted, notSubmitted: notSubmitted + 1 },
    );
  }

  errors(): Readonly<Record<string, ErrorCounts>> {
    return Object.fromEntries(this.#byKind);
  }
}
