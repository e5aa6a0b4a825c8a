/** What driver and role process say to each other over Node's IPC channel. */
import type { HostPlan } from './plan.ts';
import type { RoleHost } from './role-host.ts';

/** Methods of a role host, by name. */
export type Command = Exclude<
  {
    [K in keyof RoleHost]: RoleHost[K] extends (...args: never[]) => unknown ? K : never;
  }[keyof RoleHost],
  'probe'
>;

export type CommandArgs<C extends Command> = Parameters<RoleHost[C]>;
export type CommandResult<C extends Command> = Awaited<ReturnType<RoleHost[C]>>;

/** To a role process. */
export type Wish =
  | { readonly kind: 'describe'; readonly id: number; readonly plan: HostPlan; readonly isShared: boolean }
  | {
      readonly kind: 'ask';
      readonly id: number;
      readonly host: string;
      readonly command: string;
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
