/** What a caller of the demo counts of its calls, and what a host counts of the messages it gets. */
import type { Host } from '@zlink/framework';

/** Calls that failed with one kind of error, by whether they had left the caller's process. */
export interface ErrorCounts {
  readonly submitted: number;
  readonly notSubmitted: number;
}

/** A caller's own counts of its requests. */
export interface CallCounts {
  readonly accepted: number;
  /** By who answered. */
  readonly answered: Readonly<Record<string, number>>;
  /** By the kind of the `ZLinkError`. */
  readonly errors: Readonly<Record<string, ErrorCounts>>;
  /** Answers that belong to another call. */
  readonly wrong: number;
  /** Failures that were no `ZLinkError`. */
  readonly untyped: number;
}

/** A caller's own counts of its one-way messages. */
export interface SendCounts {
  readonly accepted: number;
  readonly errors: Readonly<Record<string, ErrorCounts>>;
  readonly untyped: number;
}

/** A host's own counters of one verb. */
export interface VerbCounts {
  readonly accepted: number;
  readonly handled: number;
  readonly failed: number;
  /** By reason. */
  readonly dropped: Readonly<Record<string, number>>;
  /** Running or queued. */
  readonly unfinished: number;
}

export function verbCountsOf(host: Host, owner: string, verb: 'request' | 'send'): VerbCounts {
  const found = host.query.counters().find((one) => one.owner === owner && one.verb === verb);
  if (found === undefined) throw new Error(`no counters of verb ${verb} of ${owner}`);
  const { accepted, handled, failed, dropped, running, queued } = found;
  return { accepted, handled, failed, dropped, unfinished: running + queued };
}

export function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}

export function sumErrors(errors: Readonly<Record<string, ErrorCounts>>): number {
  return Object.values(errors).reduce((total, count) => total + count.submitted + count.notSubmitted, 0);
}

export function sumSubmitted(errors: Readonly<Record<string, ErrorCounts>>): number {
  return Object.values(errors).reduce((total, { submitted }) => total + submitted, 0);
}

/** Both together. */
export function addCalls(one: CallCounts, other: CallCounts): CallCounts {
  const errors = { ...one.errors };
  for (const [kind, { submitted, notSubmitted }] of Object.entries(other.errors)) {
    const before = errors[kind] ?? { submitted: 0, notSubmitted: 0 };
    errors[kind] = { submitted: before.submitted + submitted, notSubmitted: before.notSubmitted + notSubmitted };
  }
  const answered = { ...one.answered };
  for (const [name, some] of Object.entries(other.answered)) answered[name] = (answered[name] ?? 0) + some;
  return {
    accepted: one.accepted + other.accepted,
    answered,
    errors,
    wrong: one.wrong + other.wrong,
    untyped: one.untyped + other.untyped,
  };
}

/** Calls that have been accepted and have no end yet. */
export function inFlight({ accepted, answered, errors, wrong, untyped }: CallCounts): number {
  return accepted - sum(answered) - sumErrors(errors) - wrong - untyped;
}
