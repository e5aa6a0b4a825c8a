/**
 * What the coordinating process and the peers of a contest say to each other.
 *
 * Owns the commands with their arguments and results. Leaves carrying them to `peer.ts` and `answering.ts`.
 *
 * One peer holds either a server or a client; which commands make sense follows from that.
 */
import type { CargoSpec } from './cargo.ts';
import type { CallPlan } from './load.ts';

export interface WorkSpec {
  readonly verb: 'send' | 'request';
  readonly cargo: CargoSpec;
}

/** Memory and descriptors of a peer, after a full garbage collection. */
export interface PeerSample {
  readonly rssBytes: number;
  readonly heapBytes: number;
  /** Heap and everything JavaScript objects hold outside of it: what the program keeps alive. */
  readonly heldBytes: number;
  /** Open file descriptors; undefined where the system does not tell. */
  readonly descriptorCount: number | undefined;
  /** Messages that arrived since `arm`, or at all if there was none. */
  readonly seenCount: number;
}

export interface Commands {
  openServer: {
    readonly args: { readonly side: string; readonly work: WorkSpec };
    readonly result: { readonly address: string };
  };
  openClient: {
    readonly args: { readonly side: string; readonly work: WorkSpec; readonly address: string };
    readonly result: undefined;
  };
  /** Server: exactly so many messages will come. */
  arm: { readonly args: { readonly count: number }; readonly result: undefined };
  /** Server: waits for the last announced message; when it arrived, by the machine's clock. */
  counted: { readonly args: undefined; readonly result: { readonly lastAtMs: number } };
  /** Server: bytes a sender may have under way. */
  window: { readonly args: undefined; readonly result: { readonly windowBytes: number | undefined } };
  /** Client: sends so many messages, each as soon as the end takes it; when it began, by the machine's clock. */
  stream: { readonly args: { readonly count: number }; readonly result: { readonly startedAtMs: number } };
  /** Client: requests by several callers. A median that is no number arrives as null. */
  calls: {
    readonly args: CallPlan;
    readonly result: { readonly elapsedMs: number; readonly medianUs: number | null };
  };
  /** Client: sends without end, until `rest`; the result comes at once. */
  flood: { readonly args: undefined; readonly result: undefined };
  /** Client: how many messages the end has taken from the running load. */
  progress: { readonly args: undefined; readonly result: { readonly sentCount: number } };
  /** Client: ends the running load; how many messages it has sent. */
  rest: { readonly args: undefined; readonly result: { readonly sentCount: number } };
  /** Client: requests and sends by turns at a steady pace, until `rest`. */
  pace: { readonly args: { readonly operationsPerSecond: number }; readonly result: undefined };
  sample: { readonly args: undefined; readonly result: PeerSample };
  close: { readonly args: undefined; readonly result: undefined };
}
