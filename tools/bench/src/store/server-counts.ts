/**
 * What a Redis server counts about itself.
 *
 * Owns reading its `INFO`. Leaves asking for it to who holds the server.
 *
 * 1. Redis counts a command that a script runs like one that a client sends. Scripts of the store run only those of
 *    `withinScripts`, and clients of the store send none of them by themselves.
 */

export interface CommandCount {
  /** Lower case; a subcommand behind `|`. */
  readonly name: string;
  readonly calls: number;
  /** Time in the server, that of commands within a script included. */
  readonly totalUs: number;
  /** By a client, rather than run by a script. */
  readonly isSent: boolean;
}

const withinScripts = new Set(
  'time get set del hmget hset hdel zadd zrem pexpireat persist'.split(' '), // 1
);

const commandLine = /^cmdstat_([^:]+):calls=(\d+),usec=(\d+)/gm;
const processorLine = /^used_cpu_(?:sys|user):([\d.]+)/gm;

/** Of `INFO commandstats`, most calls first. */
export function commandCounts(info: string): readonly CommandCount[] {
  return [...info.matchAll(commandLine)]
    .map(([, name = '', calls, totalUs]) => ({
      name,
      calls: Number(calls),
      totalUs: Number(totalUs),
      isSent: !withinScripts.has(name),
    }))
    .sort((a, b) => b.calls - a.calls);
}

/** Of `INFO cpu`: processor time of all threads of the server so far, in milliseconds. */
export function processorMs(info: string): number {
  const parts = [...info.matchAll(processorLine)].map(([, seconds]) => Number(seconds) * 1_000);
  if (parts.length !== 2) throw new Error('the server does not tell its processor time');
  return parts.reduce((sum, part) => sum + part, 0);
}
