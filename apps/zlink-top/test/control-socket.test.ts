import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { type ControlSocket, openControlSocket, PathTaken } from '../src/socket/control-socket.ts';
import { probe, removeIfDead } from '../src/socket/probe.ts';
import { findPaths, foldersOf, ownPaths } from '../src/socket/socket-places.ts';
import { leaveDead } from './dead-socket.ts';
import { newFolder, surroundingsIn } from './folders.ts';

const open: ControlSocket[] = [];
const accept = (socket: Socket): void => void socket.destroy();

afterEach(async () => {
  await Promise.all(open.splice(0).map((socket) => socket.close()));
});

async function openAt(path: string): Promise<ControlSocket> {
  const socket = await openControlSocket(path, accept);
  open.push(socket);
  return socket;
}

const modeOf = (path: string): number => lstatSync(path).mode & 0o777;

test('[MON-013] the socket is its user’s alone, and nothing beside it stays', async () => {
  const folder = newFolder();
  const path = join(folder, 'a.sock');
  const socket = await openAt(path);
  expect(modeOf(path)).toBe(0o600);
  expect(readdirSync(folder)).toEqual(['a.sock']);
  expect(await probe(path)).toBe('live');
  await socket.close();
  expect(readdirSync(folder)).toEqual([]);
  expect(await probe(path)).toBe('missing');
});

test('[MON-013] the file of a process that has ended is replaced', async () => {
  const path = join(newFolder(), 'a.sock');
  await leaveDead(path);
  expect(await probe(path)).toBe('dead');
  await openAt(path);
  expect(await probe(path)).toBe('live');
});

test('[MON-013] a live socket, and a file that is none, stay as they are', async () => {
  const folder = newFolder();
  const path = join(folder, 'a.sock');
  await openAt(path);
  const { ino } = lstatSync(path);
  await expect(openControlSocket(path, accept)).rejects.toThrow(PathTaken);
  expect(lstatSync(path).ino).toBe(ino);
  const file = join(folder, 'notes.txt');
  writeFileSync(file, 'mine');
  await expect(openControlSocket(file, accept)).rejects.toThrow(/notes\.txt is there, and no socket/);
  expect(await removeIfDead(file)).toBe('other');
  expect(existsSync(file)).toBe(true);
  expect(readdirSync(folder).sort()).toEqual(['a.sock', 'notes.txt']);
});

test('[MON-013] the folder of a process that was killed before its socket was in place is removed by a later one', async () => {
  const folder = newFolder();
  const make = (name: string, mode = 0o700): string => {
    const made = join(folder, name);
    mkdirSync(made, { mode });
    return made;
  };
  make('.zEmpty1');
  await leaveDead(join(make('.zDead01'), 's'));
  await openAt(join(make('.zLive01'), 's'));
  writeFileSync(join(make('.zNotes1'), 's'), 'mine');
  make('.zOpen01', 0o750);
  make('.zNotMade');
  writeFileSync(join(folder, '.zFile01'), '');
  const elsewhere = newFolder();
  symlinkSync(elsewhere, join(folder, '.zLink01'));
  const stays = readdirSync(folder).filter((name) => !['.zEmpty1', '.zDead01'].includes(name));
  const longAgo = new Date('2026-01-01T12:00:00.000Z');
  for (const name of readdirSync(folder)) utimesSync(join(folder, name), longAgo, longAgo);
  await leaveDead(join(make('.zYoung1'), 's')); // may be between two steps
  await openAt(join(folder, 'a.sock'));
  expect(readdirSync(folder).sort()).toEqual([...stays, '.zYoung1', 'a.sock'].sort());
  expect(readdirSync(elsewhere)).toEqual([]);
});

test('[MON-013] closing leaves the file alone that another one has put in its place', async () => {
  const path = join(newFolder(), 'a.sock');
  const socket = await openAt(path);
  renameSync(path, `${path}.old`);
  await openAt(path);
  await socket.close();
  expect(await probe(path)).toBe('live');
});

test.each([
  ['a folder that is not there', (folder: string) => join(folder, 'none/a.sock'), /ENOENT/],
  ['a name that is too long', (folder: string) => join(folder, 'x'.repeat(100)), /more than 103 bytes/],
])('[MON-013] %s is refused, and nothing stays', async (_, pathIn, text) => {
  const folder = newFolder();
  await expect(openControlSocket(pathIn(folder), accept)).rejects.toThrow(text);
  expect(readdirSync(folder)).toEqual([]);
});

test('[MON-013] by default sockets lie in a private folder, one per process and more if it has more hosts', async () => {
  const folder = newFolder();
  const surroundings = surroundingsIn(folder);
  const paths = await ownPaths(surroundings, 4242, 2);
  expect(paths).toEqual([join(folder, 'zlink-top/4242.sock'), join(folder, 'zlink-top/4242-2.sock')]);
  expect(modeOf(join(folder, 'zlink-top'))).toBe(0o700);
  for (const path of paths) await openAt(path);
  writeFileSync(join(folder, 'zlink-top/notes.txt'), '');
  expect(await findPaths(surroundings)).toEqual([paths[1], paths[0]].sort());
});

test('[MON-013] without a runtime folder of this user the temporary one is used', async () => {
  const folder = newFolder();
  const uid = process.getuid?.();
  const inTemporary = join(folder, `zlink-top-${uid}`);
  for (const runtime of ['relative', join(folder, 'missing'), ...(uid === 0 ? [] : ['/'])]) {
    const surroundings = { ...surroundingsIn(folder), platform: 'darwin' as const, env: { XDG_RUNTIME_DIR: runtime } };
    expect(await foldersOf(surroundings)).toEqual([inTemporary]);
  }
});

test('[MON-013] a folder that others can enter, or that is a link, is neither used nor looked into', async () => {
  const folder = newFolder();
  const surroundings = surroundingsIn(folder);
  const ours = join(folder, 'zlink-top');
  mkdirSync(ours, { mode: 0o700 });
  await openAt(join(ours, '1.sock'));
  expect(await findPaths(surroundings)).toHaveLength(1);

  chmodSync(ours, 0o750);
  expect(await findPaths(surroundings)).toEqual([]);
  const [path = ''] = await ownPaths(surroundings, 1, 1);
  expect(path).toBe(join(folder, `zlink-top-${surroundings.uid}/1.sock`));

  chmodSync(ours, 0o700);
  const elsewhere = newFolder();
  symlinkSync(ours, join(elsewhere, 'zlink-top'));
  expect(await findPaths(surroundingsIn(elsewhere))).toEqual([]);
  symlinkSync(ours, join(elsewhere, `zlink-top-${surroundings.uid}`));
  await expect(ownPaths(surroundingsIn(elsewhere), 1, 1)).rejects.toThrow(/is no folder/);
});

test('[MON-013] names of pipes on Windows carry the user and the process', async () => {
  const surroundings = { ...surroundingsIn('unused'), platform: 'win32' as const, userName: 'Ann Lee' };
  expect(await ownPaths(surroundings, 7, 2)).toEqual([
    String.raw`\\.\pipe\zlink-top-Ann_Lee-7`,
    String.raw`\\.\pipe\zlink-top-Ann_Lee-7-2`,
  ]);
});
