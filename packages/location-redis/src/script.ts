/**
 * One Lua script of this package, and how it is run.
 *
 * Owns the text, its hash and the fallback from one to the other. Leaves arguments and replies to the stores.
 *
 * 1. The text is read once, when the package is loaded; it ships beside `dist` and `src`.
 * 2. A server that does not know the hash has run nothing: it gets the text at once (REDIS-003).
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';
import { command } from './command.ts';
import { isUnknownScript } from './redis-errors.ts';

export type ScriptArgument = string | Buffer;

export interface Script {
  readonly text: string;
  readonly sha: string;
}

export interface ScriptCall {
  readonly script: Script;
  readonly keys: readonly string[];
  readonly args: readonly ScriptArgument[];
}

export function loadScript(name: string): Script {
  const text = readFileSync(new URL(`../lua/${name}.lua`, import.meta.url), 'utf8');
  return Object.freeze({ text, sha: createHash('sha1').update(text).digest('hex') });
}

/**
 * Writes before it returns.
 *
 * @param asText - without relying on what the server remembers
 */
export async function runScript(node: Redis, call: ScriptCall, asText: boolean): Promise<unknown> {
  const { script, keys, args } = call;
  const rest = [keys.length, ...keys, ...args];
  if (asText) return command(node, 'EVAL', [script.text, ...rest]);
  try {
    return await command(node, 'EVALSHA', [script.sha, ...rest]);
  } catch (error) {
    if (!isUnknownScript(error)) throw error;
    return runScript(node, call, true); // 2
  }
}
