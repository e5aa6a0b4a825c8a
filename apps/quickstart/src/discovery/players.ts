/** Hosts as the act sees them, whether they are processes or share this one. */
import type { CallerCounts, Departure, HostCounts, Progress } from './reports.ts';
import type { SightBoard } from './sight-board.ts';

export interface Role {
  readonly name: string;
  readonly weight: number;
}

export interface HostPlayer extends Role {
  /** `undefined` where it has no process of its own. */
  readonly pid: number | undefined;
  /** Resolves when it is connected with so many other nodes. */
  meet(count: number): Promise<void>;
  weigh(weight: number): Promise<void>;
  /** Ends in order. */
  leave(): Promise<Departure>;
  /** Ends it by force: the last counts that it sent. `undefined` where it has no process of its own. */
  readonly kill: (() => Promise<HostCounts>) | undefined;
}

export interface CallerPlayer {
  readonly pid: number | undefined;
  readonly board: SightBoard;
  readonly progress: Progress | undefined;
  begin(): void;
  counts(): Promise<CallerCounts>;
  /** No new calls; resolves when all have ended. */
  finish(): Promise<CallerCounts>;
  /** Ends in order: the outcome. */
  leave(): Promise<string>;
}
