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

/** Writes before it returns. */
export async function runScript(node: Redis, call: ScriptCall): Promise<unknown> {
  try {
    return await command(node, 'EVALSHA', [call.script.sha, call.keys.length, ...call.keys, ...call.args]);
  } catch (error) {
    if (!isUnknownScript(error)) throw error;
    return runScriptText(node, call);
  }
}

/** Writes before it returns. */
export async function runScriptText(node: Redis, { script, keys, args }: ScriptCall): Promise<unknown> {
  return command(node, 'EVAL', [script.text, keys.length, ...keys, ...args]);
}
