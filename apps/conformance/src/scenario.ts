/** What a scenario is: requirement ids, a sentence, the settings it depends on, and what it does on a stage. */
import type { Dimensions } from './matrix.ts';
import type { Stage } from './runner/stage.ts';

export const topics = ['foundation', 'transport', 'channels', 'location', 'lifecycle', 'observability'] as const;
export type Topic = (typeof topics)[number];

export interface Scenario {
  readonly ids: readonly string[];
  readonly title: string;
  readonly over?: Dimensions;
  /** How long it may take; default 120 s. */
  readonly limitMs?: number;
  /** Mostly waits: begun first, beside the others. */
  readonly isSlow?: boolean;
  /** Would be disturbed by others, or disturb them: nothing runs beside it. */
  readonly isAlone?: boolean;
  /** Needs a peer with the echo role and nothing else: runs with `--against`, too. */
  readonly needsPeerOnly?: boolean;
  readonly run: (stage: Stage) => Promise<void>;
}

/** Scenarios of one topic. */
export interface Chapter {
  readonly topic: Topic;
  readonly scenarios: readonly Scenario[];
}
