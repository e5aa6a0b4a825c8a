/** The command line of `zlink-top`. */
import { parseArgs } from 'node:util';
import { isIntervalMs, MAX_INTERVAL_MS, MIN_INTERVAL_MS } from './report/limits.ts';

export interface TopOptions {
  /** Empty: all of this user. */
  readonly paths: readonly string[];
  readonly once: boolean;
  readonly plain: boolean;
  readonly json: boolean;
  readonly intervalMs: number;
}

export const usage = `usage: zlink-top [options] [path…]
Shows what ZLink hosts on this machine are doing. Without a path: all hosts of this user that have an inspector.
  --interval MS   time between two looks, ${MIN_INTERVAL_MS}..${MAX_INTERVAL_MS}; default 1000
  --once          one view, with rates over one interval, and the end
  --plain         lines of text, without colour and without redrawing; always so if the output is no terminal
  --json          one line of JSON per host and look
  --help          this text
On a terminal q or Ctrl-C ends it.`;

const DEFAULT_INTERVAL_MS = '1000';

/** @throws Error that names the option and what it may be */
export function readArguments(args: readonly string[]): TopOptions | 'help' {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      interval: { type: 'string', default: DEFAULT_INTERVAL_MS },
      once: { type: 'boolean', default: false },
      plain: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const { interval, once, plain, json, help } = values;
  if (help) return 'help';
  if (plain && json) throw new Error('--plain and --json: one of them at most');
  if (positionals.includes('')) throw new Error('path: "" is not allowed, allowed: the name of a socket');
  const intervalMs = /^\d+$/.test(interval) ? Number(interval) : NaN;
  if (!isIntervalMs(intervalMs)) {
    throw new Error(
      `--interval: "${interval}" is not allowed, allowed: integer ${MIN_INTERVAL_MS}..${MAX_INTERVAL_MS}`,
    );
  }
  return { paths: [...new Set(positionals)], once, plain, json, intervalMs };
}
