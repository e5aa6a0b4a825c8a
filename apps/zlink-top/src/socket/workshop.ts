/**
 * The folder in which a control socket is made, beside the place where it goes.
 *
 * Owns its name, and the removal of those that killed processes have left. Leaves the socket to the one who makes it.
 *
 * 1. Only what was made here goes: a folder of such a name, this user's alone, empty but for the socket of an ended process.
 * 2. One that has changed within a minute stays: its process may be about to listen.
 * 3. Nothing that fails here fails anybody: the next one tries again.
 */
import { lstat, mkdtemp, readdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { removeIfDead } from './probe.ts';

/** Of the socket in it. */
export const SOCKET_NAME = 's';

const PREFIX = '.z';
const MADE = /^\.z[A-Za-z0-9]{6}$/; // as mkdtemp names them
const MODE = 0o700;
const LEFT_AFTER_MS = 60_000;

export function makeWorkshop(folder: string): Promise<string> {
  return mkdtemp(join(folder, PREFIX));
}

/** `nowMs` by the clock that dates the files in `folder`. */
export async function removeLeftWorkshops(folder: string, nowMs: number): Promise<void> {
  const names = await readdir(folder).catch(() => []); // 3
  for (const name of names.filter((each) => MADE.test(each))) {
    const workshop = join(folder, name);
    if (!(await isLeft(workshop, nowMs))) continue;
    await removeIfDead(join(workshop, SOCKET_NAME));
    await rmdir(workshop).catch(() => undefined); // 1: something is in it
  }
}

async function isLeft(workshop: string, nowMs: number): Promise<boolean> {
  const found = await lstat(workshop).catch(() => undefined);
  if (found === undefined || !found.isDirectory() || found.uid !== process.getuid?.()) return false;
  return (found.mode & 0o777) === MODE && nowMs - found.mtimeMs >= LEFT_AFTER_MS; // 1, 2
}
