/**
 * The look at a server before a connection to it is used.
 *
 * Owns the commands of that look. Leaves judging them to server-facts.ts, and when to look to redis-calls.ts.
 */
import type { Redis } from 'ioredis';
import { command } from './command.ts';
import { listOf, textOf } from './record-codec.ts';
import { isNoDatabase, unexpectedReply } from './redis-errors.ts';
import { loadScript, runScript, type Script } from './script.ts';
import { checkServer, parseInfo, type ServerFacts } from './server-facts.ts';
import { StoreError } from '@zlink/kernel/location';

const meta = loadScript('meta');
const SCHEMA = '1';

/**
 * Also makes the server know the scripts, so that a large batch is not sent twice.
 *
 * @param database - to select; the answers to all later commands rely on it
 */
export async function inspectServer(
  node: Redis,
  scripts: readonly Script[],
  database: number | undefined,
): Promise<ServerFacts> {
  if (database !== undefined) await select(node, database);
  const loading = scripts.map(({ text }) => command(node, 'SCRIPT', ['LOAD', text]));
  const [pong, info] = await Promise.all([command(node, 'PING'), command(node, 'INFO'), ...loading]);
  if (textOf(pong) !== 'PONG') throw unexpectedReply();
  const facts = parseInfo(textOf(info));
  checkServer(facts, warnOnce);
  return facts;
}

async function select(node: Redis, database: number): Promise<void> {
  try {
    await command(node, 'SELECT', [database]);
  } catch (error) {
    if (!isNoDatabase(error)) throw error;
    throw new StoreError('incompatible', 'notApplied', `this Redis has no database ${database}`);
  }
}

/**
 * The storeId of the namespace, which is made if it is not there.
 *
 * @param newStoreId - for that case
 */
export async function findStore(node: Redis, metaKey: string, newStoreId: string): Promise<string> {
  const reply = await runScript(node, { script: meta, keys: [metaKey], args: [newStoreId] }, false);
  const [schema, storeId] = listOf(reply);
  if (textOf(schema) !== SCHEMA)
    throw new StoreError(
      'incompatible',
      'notApplied',
      `the data in Redis has schema ${textOf(schema)}, known: ${SCHEMA}`,
    );
  return textOf(storeId);
}

const warned = new Set<string>();

function warnOnce(text: string): void {
  if (warned.has(text)) return;
  warned.add(text);
  process.emitWarning(text, { code: 'ZLINK_REDIS_EVICTION' });
}
