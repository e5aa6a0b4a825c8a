/** What the coordinator and a process with hosts that find each other through Redis say to each other. */
import type { Wanted } from './journal.ts';

export type HostRole = 'server' | 'client';

export interface HostCommands {
  /** Starts one host for each role, one after another; moments of the first by the machine's clock. */
  start: {
    readonly args: { readonly url: string; readonly roles: readonly HostRole[] };
    readonly result: {
      readonly calledAtMs: number;
      readonly startedAtMs: number;
      /** Of the servers. */
      readonly endpoints: readonly string[];
    };
  };
  /** Waits until every client here sees so many servers ready. */
  ready: { readonly args: { readonly serverCount: number }; readonly result: undefined };
  /** Begins to watch: what a host that is a client shows of servers, or what stands in the store. */
  watch: { readonly args: { readonly url: string; readonly what: 'servers' | 'view' }; readonly result: undefined };
  /** The first moment from `sinceMs` on at which the watched server was as wanted. */
  saw: {
    readonly args: { readonly endpoint: string; readonly wanted: Wanted; readonly sinceMs: number };
    readonly result: { readonly atMs: number };
  };
  /** Of the first host. */
  setWeight: { readonly args: { readonly weight: number }; readonly result: { readonly atMs: number } };
  /** Shuts all hosts down, in order. */
  shutdown: {
    readonly args: undefined;
    readonly result: { readonly calledAtMs: number; readonly endedAtMs: number };
  };
  /** Processor time that the process has used so far. */
  processorTime: { readonly args: undefined; readonly result: { readonly usedMs: number; readonly atMs: number } };
  close: { readonly args: undefined; readonly result: undefined };
}
