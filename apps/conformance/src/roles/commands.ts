/**
 * Everything that the driver can ask of a host.
 *
 * Owns the table of groups by which commands are named: `group.method`. Leaves what they do to the groups.
 *
 * 1. Methods of groups are the protocol: arguments and results are plain data.
 */
import type { Host } from '@zlink/framework';
import { CallCommands } from './commands/calls.ts';
import { FeedCommands } from './commands/feeds.ts';
import { HandlerCommands } from './commands/handlers.ts';
import { ObservingCommands } from './commands/observing.ts';
import { PeerCommands } from './commands/peers.ts';
import { ProcessCommands } from './commands/process.ts';
import { RunningCommands } from './commands/running.ts';
import { ServerCommands } from './commands/servers.ts';
import { TelemetryCommands } from './commands/telemetry.ts';
import type { RoleHost } from './role-host.ts';

/** Of one host; `host` is its life. */
export interface Commands {
  readonly host: RoleHost;
  readonly running: RunningCommands;
  readonly calls: CallCommands;
  readonly servers: ServerCommands;
  readonly peers: PeerCommands;
  readonly feeds: FeedCommands;
  readonly handlers: HandlerCommands;
  readonly observing: ObservingCommands;
  readonly telemetry: TelemetryCommands;
  readonly process: ProcessCommands;
}

type Methods<G> = { [K in keyof G & string]: G[K] extends (...args: never[]) => unknown ? K : never }[keyof G & string];

export type Command = { [G in keyof Commands]: `${G}.${Methods<Commands[G]>}` }[keyof Commands];

type Method<C extends Command> = C extends `${infer G}.${infer M}`
  ? G extends keyof Commands
    ? M extends keyof Commands[G]
      ? Commands[G][M]
      : never
    : never
  : never;

export type CommandArgs<C extends Command> = Method<C> extends (...args: infer A) => unknown ? A : never;
export type CommandResult<C extends Command> = Method<C> extends (...args: never[]) => infer R ? Awaited<R> : never;

export function commandsOf(host: RoleHost): Commands {
  const running = (): Host => host.running;
  return {
    host,
    running: new RunningCommands(running, host.plan.parts, host.unhandled),
    calls: new CallCommands(running),
    servers: new ServerCommands(running),
    peers: new PeerCommands(running),
    feeds: new FeedCommands(running),
    handlers: new HandlerCommands(host.desk),
    observing: new ObservingCommands(running),
    telemetry: new TelemetryCommands(running, () => host.telemetry),
    process: new ProcessCommands(),
  };
}

export function runCommand(commands: Commands, name: Command, args: readonly unknown[]): unknown {
  const [group, method] = name.split('.') as [keyof Commands, string]; // as every command name
  const methods = commands[group] as unknown as Readonly<Record<string, (...args: readonly unknown[]) => unknown>>; // arguments are typed where it is asked for
  return methods[method]!(...args);
}
