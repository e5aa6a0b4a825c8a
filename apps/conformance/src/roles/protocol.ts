/** What driver and role process say to each other over Node's IPC channel. */
import type { Command } from './commands.ts';
import type { HostPlan } from './plan.ts';
import type { ProbeName } from './probes.ts';

/** To a role process. */
export type Wish =
  | { readonly kind: 'describe'; readonly id: number; readonly plan: HostPlan; readonly isShared: boolean }
  | {
      readonly kind: 'ask';
      readonly id: number;
      readonly host: string;
      readonly command: Command;
      readonly args: readonly unknown[];
    }
  | {
      readonly kind: 'probe';
      readonly id: number;
      readonly host: string;
      readonly probe: ProbeName;
      readonly args: readonly unknown[];
    }
  /** All hosts have ended: forgets them, and answers with what still holds the process. */
  | { readonly kind: 'rest'; readonly id: number }
  /** Nothing more will be asked: the process ends when nothing holds it. */
  | { readonly kind: 'part' };

/** From a role process. */
export type Report =
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'failure'; readonly id: number; readonly message: string }
  | { readonly kind: 'log'; readonly host: string; readonly level: string; readonly record: LogFacts };

export interface LogFacts {
  readonly eventId?: string;
  readonly [name: string]: unknown;
}
