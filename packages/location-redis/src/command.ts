/**
 * One command to one server.
 *
 * Owns how it is handed to the driver. Leaves the choice of the server to redis-calls.ts.
 *
 * 1. It is written before this returns, whatever the options of a passed-in client: no batching of the driver comes between.
 * 2. Strings in the answer are bytes.
 */
import { Command, type Redis } from 'ioredis';

export type CommandArgument = string | number | Buffer;

export async function command(node: Redis, name: string, args: readonly CommandArgument[] = []): Promise<unknown> {
  const { keyPrefix } = node.options;
  const sent = new Command(name, [...args], { replyEncoding: null, ...(keyPrefix === undefined ? {} : { keyPrefix }) });
  node.sendCommand(sent);
  return sent.promise;
}
