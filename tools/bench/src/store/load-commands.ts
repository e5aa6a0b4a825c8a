/** What the coordinator and a process that loads a store say to each other. */
import type { LoadSample } from './drive.ts';
import type { StoreWork } from './ends.ts';

export interface LoadCommands {
  /** Connects and writes what the work finds; `url` of Redis, or a store in memory without. */
  open: {
    readonly args: { readonly work: StoreWork; readonly url: string | undefined };
    readonly result: undefined;
  };
  /** A figure that is no number arrives as null. */
  drive: { readonly args: { readonly inFlight: number; readonly forMs: number }; readonly result: LoadSample };
  /** Ends the work; another one may be opened. */
  leave: { readonly args: undefined; readonly result: undefined };
  close: { readonly args: undefined; readonly result: undefined };
}
