/** A folder of one test, and surroundings in which hosts and `zlink-top` use no other. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Surroundings } from '../src/socket/socket-places.ts';

const folders: string[] = [];

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'zt-'));
  chmodSync(folder, 0o700);
  folders.push(folder);
  return folder;
}

export function surroundingsIn(folder: string): Surroundings {
  const uid = process.getuid?.();
  return { platform: process.platform, env: { XDG_RUNTIME_DIR: folder }, temporary: folder, uid, userName: 'me' };
}

/** The same for a child process. */
export const environmentIn = (folder: string): Record<string, string> => ({ XDG_RUNTIME_DIR: folder, TMPDIR: folder });
