/** What the hosts of the fleet report, and what is wanted of those that are processes. */
import type { CallCounts, VerbCounts } from '../calls.ts';
import type { EndingWish } from '../ipc.ts';
import type { Sight } from './sights.ts';

/** A host's own counters of requests. */
export interface HostCounts {
  readonly rides: VerbCounts;
  readonly loads: VerbCounts;
}

/** What the caller counts. */
export interface CallerCounts {
  readonly rides: CallCounts;
  readonly loads: CallCounts;
}

export interface Progress {
  readonly counts: CallerCounts;
  readonly callsPerSecond: number;
}

/** How an orderly end went, and the last counts. */
export interface Departure {
  readonly outcome: string;
  readonly counts: HostCounts;
}

export type HostReport =
  | { readonly kind: 'ready' }
  /** Connected with as many others as was wished. */
  | { readonly kind: 'met' }
  | { readonly kind: 'weighed' }
  | { readonly kind: 'counts'; readonly counts: HostCounts }
  | ({ readonly kind: 'left' } & Departure);

export type HostWish =
  { readonly kind: 'meet'; readonly count: number } | { readonly kind: 'weigh'; readonly weight: number } | EndingWish;

/** Reported by the caller without being asked. */
export type CallerNews =
  /** Something has changed. */
  { readonly kind: 'sights'; readonly sights: readonly Sight[] } | ({ readonly kind: 'progress' } & Progress);

export type CallerReport =
  | CallerNews
  | { readonly kind: 'ready' }
  | { readonly kind: 'counted'; readonly counts: CallerCounts }
  | { readonly kind: 'finished'; readonly counts: CallerCounts }
  | { readonly kind: 'left'; readonly outcome: string };

export type CallerWish = { readonly kind: 'begin' } | { readonly kind: 'count' } | EndingWish;

/** The wish of that kind. */
export type HostWishOf<Kind extends HostWish['kind']> = Extract<HostWish, { readonly kind: Kind }>;
