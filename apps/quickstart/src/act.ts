/**
 * What the demo expects of an act: it plays on a stage and ends with a proof.
 *
 * An act is a folder of its own: what runs (processes and the order of events), what is seen of it (frames) and what it
 * proves (figures on the last page). Leaves processes, screen and exit code to those who set the stage.
 */
import type { Processes } from './processes.ts';
import type { View } from './view.ts';

export interface Stage {
  readonly processes: Processes;
  readonly view: View;
  /** The result, unless the demo cannot go on: then it rejects with the reason. An act waits for nothing without it. */
  readonly wait: <T>(result: Promise<T>) => Promise<T>;
  /** Has this done when the demo ends, however it ends, and no child process is left. Twice must not hurt. */
  readonly atEnd: (end: () => Promise<void>) => void;
}

export interface Proof {
  /** The last page. */
  readonly lines: readonly string[];
  /** Empty if everything adds up. */
  readonly problems: readonly string[];
}

export interface Act {
  play(stage: Stage): Promise<Proof>;
  /** What there is to say when it was stopped halfway. */
  soFar(): readonly string[];
}
