/** A deadline that is not the record's own: waiting for a target or for credit. Made only when a call has to wait. */
import type { DeadlineEntry } from '../internal/time/index.ts';

export class CallTimer implements DeadlineEntry {
  readonly deadlineAtMs: number;
  wheelSlot = -1;
  wheelNext: DeadlineEntry | undefined = undefined;
  wheelPrevious: DeadlineEntry | undefined = undefined;
  readonly onDeadline: () => void;

  constructor(deadlineAtMs: number, onDeadline: () => void) {
    this.deadlineAtMs = deadlineAtMs;
    this.onDeadline = onDeadline;
  }
}
