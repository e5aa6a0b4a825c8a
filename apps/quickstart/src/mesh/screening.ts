/** Makes scenes out of what the caller reports and what the act knows of the nodes. */
import { sharesSince } from '../shares.ts';
import type { Fate } from './player.ts';
import type { NodeReport } from './reports.ts';
import type { Scene, SceneNode } from './scene.ts';
import { allCalls } from './summary.ts';

export type Progress = Extract<NodeReport, { readonly kind: 'progress' }>;

/** A RID that serves the channel, and the names of the processes that have had it so far. */
export interface ScreenedNode {
  readonly rid: string;
  readonly endpoint: string;
  readonly weight: number;
  readonly names: readonly string[];
  readonly fate: Fate | undefined;
}

export class Screening {
  readonly #nodes: () => readonly ScreenedNode[];
  readonly #totalMs: number;
  #last: Progress | undefined;
  #shares: Readonly<Record<string, number>> = {};

  constructor(nodes: () => readonly ScreenedNode[], totalMs: number) {
    this.#nodes = nodes;
    this.#totalMs = totalMs;
  }

  /** Called more often than there is progress it shows the last shares again. */
  sceneOf(progress: Progress, elapsedMs: number): Scene {
    const { counts, callsPerSecond } = progress;
    if (progress !== this.#last) {
      this.#shares = sharesSince(this.#last?.counts.channel.answered, counts.channel.answered);
      this.#last = progress;
    }
    const nodes = this.#nodes().map((node) => this.#sceneNode(node, progress));
    const { rounds } = counts;
    return { elapsedMs, totalMs: this.#totalMs, nodes, callsPerSecond, calls: allCalls(counts), rounds };
  }

  #sceneNode({ rid, endpoint, weight, names, fate }: ScreenedNode, { counts, nodes }: Progress): SceneNode {
    const of = (some: Readonly<Record<string, number>>): number =>
      names.reduce((total, name) => total + (some[name] ?? 0), 0);
    return {
      rid,
      endpoint,
      weight,
      state: fate ?? nodes.find((node) => node.rid === rid)?.state ?? 'unknown',
      channel: of(counts.channel.answered),
      direct: of(counts.direct.answered),
      share: of(this.#shares),
      answeredInRounds: of(counts.rounds.answered),
    };
  }
}
