/** What the nodes of the mesh report to their parent, and what it wants of them. */
import type { CallCounts, VerbCounts } from '../calls.ts';
import type { EndingWish } from '../ipc.ts';
import type { Answer } from './contracts.ts';

/** A node's own counters of requests. */
export interface NodeCounts {
  readonly channel: VerbCounts;
  readonly direct: VerbCounts;
}

/** The caller's counts of rounds of channel calls, in each of which all servers were ready from begin to end. */
export interface RoundCounts {
  /** Rounds that were shared out exactly by weight. */
  readonly even: number;
  readonly uneven: number;
  /** Answers in these rounds, by name. */
  readonly answered: Readonly<Record<string, number>>;
}

/** What the caller counts. */
export interface CallerCounts {
  readonly channel: CallCounts;
  readonly direct: CallCounts;
  readonly rounds: RoundCounts;
}

/** A node as the caller sees it. */
export interface NodeView {
  readonly rid: string;
  readonly state: string;
}

export type NodeReport =
  | { readonly kind: 'ready'; readonly endpoint: string }
  /** Connected with every other node. */
  | { readonly kind: 'met' }
  /** Answers to one direct call to every other node. */
  | { readonly kind: 'greeted'; readonly answers: readonly Answer[] }
  | { readonly kind: 'counts'; readonly counts: NodeCounts }
  | { readonly kind: 'stopped'; readonly outcome: string; readonly counts: NodeCounts }
  /** RIDs that answered the caller's first calls to the channel, in order. */
  | { readonly kind: 'begun'; readonly order: readonly string[] }
  | {
      readonly kind: 'progress';
      readonly counts: CallerCounts;
      readonly nodes: readonly NodeView[];
      readonly callsPerSecond: number;
    }
  | { readonly kind: 'finished'; readonly counts: CallerCounts };

export interface PeerAddress {
  readonly rid: string;
  readonly endpoint: string;
}

export type NodeWish =
  | { readonly kind: 'meet'; readonly peers: readonly PeerAddress[] }
  | { readonly kind: 'greet' }
  | { readonly kind: 'begin' }
  | EndingWish;

/** The wish of that kind. */
export type WishOf<Kind extends NodeWish['kind']> = Extract<NodeWish, { readonly kind: Kind }>;
