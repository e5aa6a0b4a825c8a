/** What is known of a run of the mesh when it is over. */
import type { Answer } from './contracts.ts';
import type { CallerCounts, NodeCounts } from './reports.ts';

export interface NodeEvidence {
  readonly name: string;
  readonly rid: string;
  /** 0: it served no channel. */
  readonly weight: number;
  readonly end: 'killed' | 'stopped';
  /** How its shutdown went; a killed one has none. */
  readonly outcome: string | undefined;
  /** Its last report. */
  readonly counts: NodeCounts;
}

export interface Evidence {
  /** Of the node that calls. */
  readonly calls: CallerCounts;
  /** RIDs that answered the first calls to the channel. */
  readonly order: readonly string[];
  /** Answers to the direct calls that nodes made to each other one by one. */
  readonly greetings: readonly Answer[];
  readonly nodes: readonly NodeEvidence[];
}

/** Answers of one RID while all servers were ready, of every process that had it. */
export function answeredByRid({ nodes, calls }: Evidence, rid: string): number {
  const names = nodes.filter((node) => node.rid === rid).map(({ name }) => name);
  return names.reduce((total, name) => total + (calls.rounds.answered[name] ?? 0), 0);
}

/** RIDs that serve the channel, with their weights; each once, whatever processes had it. */
export function serversOf({ nodes }: Evidence): readonly { readonly rid: string; readonly weight: number }[] {
  const weights = new Map(nodes.filter(({ weight }) => weight > 0).map(({ rid, weight }) => [rid, weight]));
  return [...weights].map(([rid, weight]) => ({ rid, weight }));
}
