/** What became of one run of one scenario in one cell. */
import type { Cell } from '../matrix.ts';
import type { Scenario, Topic } from '../scenario.ts';

export interface Run {
  readonly topic: Topic;
  readonly scenario: Scenario;
  readonly cell: Cell;
}

export interface Outcome {
  readonly run: Run;
  readonly ms: number;
  /** Undefined: it went well. */
  readonly failure?: { readonly text: string; readonly logs: readonly string[] };
}
