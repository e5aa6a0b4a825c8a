/** What the processes of the shop report to their parent. */

/** A server's own counters of one verb. */
export interface VerbCounts {
  readonly accepted: number;
  readonly handled: number;
  readonly failed: number;
  /** By reason. */
  readonly dropped: Readonly<Record<string, number>>;
  /** Running or queued. */
  readonly unfinished: number;
}

export interface ServerCounts {
  readonly requests: VerbCounts;
  readonly sends: VerbCounts;
}

/** Calls that failed with one kind of error, by whether they had left the client's process. */
export interface ErrorCounts {
  readonly submitted: number;
  readonly notSubmitted: number;
}

/** A client's own counts of its requests. */
export interface CallCounts {
  readonly accepted: number;
  /** By the server that answered. */
  readonly answered: Readonly<Record<string, number>>;
  /** By the kind of the `ZLinkError`. */
  readonly errors: Readonly<Record<string, ErrorCounts>>;
  /** Answers that belong to another call. */
  readonly wrong: number;
  /** Failures that were no `ZLinkError`. */
  readonly untyped: number;
}

/** A client's own counts of its one-way messages. */
export interface SendCounts {
  readonly accepted: number;
  readonly errors: Readonly<Record<string, ErrorCounts>>;
  readonly untyped: number;
}

export interface Latency {
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** A server as the client sees it. */
interface ServerView {
  readonly endpoint: string;
  readonly state: string;
  readonly weight: number;
}

export type ServerReport =
  | { readonly kind: 'ready'; readonly endpoint: string }
  | { readonly kind: 'counts'; readonly counts: ServerCounts }
  | { readonly kind: 'stopped'; readonly outcome: string; readonly counts: ServerCounts };

export type ClientReport =
  | { readonly kind: 'ready' }
  | {
      readonly kind: 'progress';
      readonly calls: CallCounts;
      readonly sends: SendCounts;
      readonly servers: readonly ServerView[];
      readonly callsPerSecond: number;
      readonly latency: Latency;
    }
  | { readonly kind: 'finished'; readonly calls: CallCounts; readonly sends: SendCounts; readonly latency: Latency };

export function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}

export function sumErrors(errors: Readonly<Record<string, ErrorCounts>>): number {
  return Object.values(errors).reduce((total, count) => total + count.submitted + count.notSubmitted, 0);
}

/** Calls that have been accepted and have no end yet. */
export function inFlight({ accepted, answered, errors, wrong, untyped }: CallCounts): number {
  return accepted - sum(answered) - sumErrors(errors) - wrong - untyped;
}
