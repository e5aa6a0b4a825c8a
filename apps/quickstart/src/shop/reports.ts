/** What the processes of the shop report to their parent. */
import type { CallCounts, SendCounts, VerbCounts } from '../calls.ts';

export interface ServerCounts {
  readonly requests: VerbCounts;
  readonly sends: VerbCounts;
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
