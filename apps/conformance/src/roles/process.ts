/**
 * A role process: plays the hosts that the driver describes, until it is told to part or killed.
 *
 * Owns the child's end of the IPC channel. Leaves hosts to `RoleHost`, and what they are asked to their commands.
 *
 * 1. It never outlives its driver: it exits when the channel closes before it was told to part.
 * 2. After `part` nothing of its own holds the process: that it ends is the hosts' doing.
 */
import type { Logger } from '@zlink/framework';
import { waitLimitMs } from '../wait-limit.ts';
import { type Commands, commandsOf, runCommand } from './commands.ts';
import type { HostPlan } from './plan.ts';
import { runProbe } from './probes.ts';
import type { LogFacts, Report, Wish } from './protocol.ts';
import { RoleHost } from './role-host.ts';
import { createStoreSource } from './stores.ts';

/** What holds the process while it plays no host. */
const atFirst = resources();

const hosts = new Map<string, Commands>();
const stores = createStoreSource();

function tell(report: Report): void {
  if (process.connected) process.send?.(report, undefined, undefined, () => undefined); // the driver may be gone
}

function loggerOf(host: string): Logger {
  const at = (level: string) => (record: object) => tell({ kind: 'log', host, level, record: plain(record) });
  return { debug: () => undefined, info: at('info'), warn: at('warn'), error: at('error') };
}

/** Records may hold anything. */
function plain(record: object): LogFacts {
  const text = JSON.stringify(record, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
  return JSON.parse(text) as LogFacts;
}

async function fulfil(wish: Exclude<Wish, { kind: 'part' }>): Promise<unknown> {
  if (wish.kind === 'describe') {
    describe(wish.plan, wish.isShared);
    return undefined;
  }
  if (wish.kind === 'rest') {
    hosts.clear();
    return leftovers();
  }
  const commands = hosts.get(wish.host);
  if (commands === undefined) throw new Error(`there is no host ${wish.host} in this process`);
  return wish.kind === 'probe'
    ? runProbe({ host: commands.host.running }, wish.probe, wish.args)
    : runCommand(commands, wish.command, wish.args);
}

function describe(plan: HostPlan, isShared: boolean): void {
  hosts.set(plan.name, commandsOf(new RoleHost({ plan, logger: loggerOf(plan.name), stores, isShared })));
}

/** Pipes are those of the process itself, and hold nothing; its end will show whether that is so. */
function resources(): readonly string[] {
  return process.getActiveResourcesInfo().filter((kind) => kind !== 'Immediate' && kind !== 'PipeWrap');
}

/** Kinds of what is left beyond what was there at first; a late close is no leftover. */
async function leftovers(): Promise<readonly string[]> {
  const giveUpAtMs = performance.now() + waitLimitMs;
  for (;;) {
    const first = [...atFirst];
    const left = resources().filter((kind) => {
      const at = first.indexOf(kind);
      if (at >= 0) first.splice(at, 1);
      return at < 0;
    });
    if (left.length === 0 || performance.now() > giveUpAtMs) return left;
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}

function exitNow(): void {
  process.exit(1);
}

process.once('disconnect', exitNow); // 1
if (!process.connected) exitNow();
process.on('SIGINT', () => undefined); // Ctrl-C reaches every process; the driver decides
process.on('message', (wish: Wish) => {
  if (wish.kind === 'part') {
    process.off('disconnect', exitNow);
    process.removeAllListeners('SIGINT');
    process.disconnect(); // 2
    return;
  }
  void (async () => {
    try {
      tell({ kind: 'answer', id: wish.id, value: await fulfil(wish) });
    } catch (error) {
      tell({
        kind: 'failure',
        id: wish.id,
        message: error instanceof Error ? (error.stack ?? error.message) : String(error),
      });
    }
  })();
});
