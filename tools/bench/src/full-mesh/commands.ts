/** What the coordinator of a full mesh and the processes with its nodes say to each other. */

/** Where a node can be dialled, and as whom it answers. */
export interface NodeAddress {
  readonly rid: string;
  readonly endpoint: string;
}

/** Memory and descriptors of a process at rest, after a full garbage collection. */
export interface RestSample {
  readonly rssBytes: number;
  /** Heap and everything JavaScript objects hold outside of it; what libzmq holds is in the resident set alone. */
  readonly heldBytes: number;
  readonly descriptorCount: number | undefined;
}

export interface FullMeshCommands {
  /** Starts so many nodes that know nobody yet. */
  openNodes: {
    readonly args: { readonly nodeCount: number };
    readonly result: { readonly nodes: readonly NodeAddress[] };
  };
  /**
   * Tells each node here whom to dial, and waits until each has `readyCount` ready peers; when the last one had, by the
   * machine's clock.
   */
  join: {
    readonly args: {
      readonly endpointsByRid: Readonly<Record<string, readonly string[]>>;
      readonly readyCount: number;
    };
    readonly result: { readonly readyAtMs: number };
  };
  /** Each node here asks each of these nodes but itself, by RID, one after another. */
  askAll: { readonly args: { readonly rids: readonly string[] }; readonly result: { readonly answeredCount: number } };
  sample: { readonly args: undefined; readonly result: RestSample };
  /** Processor time that the process has used so far. */
  processorTime: { readonly args: undefined; readonly result: { readonly usedMs: number; readonly atMs: number } };
  close: { readonly args: undefined; readonly result: undefined };
}
