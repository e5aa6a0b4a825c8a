/** What a killed process leaves. */
import { lstatSync, renameSync } from 'node:fs';
import { createServer } from 'node:net';

/** A socket file that nobody listens on, as a killed process leaves it. */
export async function leaveDead(path: string): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(`${path}.live`, resolve));
  renameSync(`${path}.live`, path);
  await new Promise((resolve) => server.close(resolve));
  if (!lstatSync(path).isSocket()) throw new Error(`${path} is no socket`);
}
