/**
 * A control socket that listens.
 *
 * Owns its file, from the first moment to the last. Leaves connections to whoever is given them.
 *
 * 1. Nobody else can connect at any moment: it is made in a folder of its own (0700), gets mode 0600, and is then moved.
 * 2. The file of a process that has ended is replaced; a live socket, or a file that is no socket, never.
 * 3. `close` removes the file if it still is this one, and resolves when the last connection is closed.
 * 4. It holds no process.
 */
import { chmod, lstat, rename, rm, unlink } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { removeIfDead } from './probe.ts';
import { makeWorkshop, removeLeftWorkshops, SOCKET_NAME } from './workshop.ts';

/** Of `sun_path`, without the byte that ends it: 103 on macOS, 107 on Linux. */
const PATH_BYTES = 103;

const isPipe = (path: string): boolean => path.startsWith('\\\\');

export class PathTaken extends Error {}

export interface ControlSocket {
  readonly path: string;
  close(): Promise<void>;
}

/** @throws PathTaken if a process listens there; or Error that says why not */
export async function openControlSocket(path: string, accept: (socket: Socket) => void): Promise<ControlSocket> {
  const server = createServer(accept);
  server.unref(); // 4
  server.on('error', () => undefined); // of accepting: the client sees it
  if (isPipe(path)) {
    await listen(server, path);
    return { path, close: () => closeServer(server) };
  }
  if (Buffer.byteLength(path) > PATH_BYTES) throw new Error(`${path} has more than ${PATH_BYTES} bytes`);
  await makeRoom(path);
  await listenBeside(server, path);
  const { dev, ino, mtimeMs } = await lstat(path);
  await removeLeftWorkshops(dirname(path), mtimeMs);
  return {
    path,
    close: async () => {
      const found = await lstat(path).catch(() => undefined);
      if (found?.ino === ino && found.dev === dev) await unlink(path).catch(() => undefined); // 3
      await closeServer(server);
    },
  };
}

/** 2 */
async function makeRoom(path: string): Promise<void> {
  const state = await removeIfDead(path);
  if (state === 'live') throw new PathTaken(`${path} is in use by another process`);
  if (state === 'other') throw new Error(`${path} is there, and no socket of this user`);
}

/** 1 */
async function listenBeside(server: Server, path: string): Promise<void> {
  const folder = await makeWorkshop(dirname(path));
  try {
    const made = join(folder, SOCKET_NAME);
    await listen(server, made);
    await chmod(made, 0o600);
    await rename(made, path);
  } catch (error) {
    await closeServer(server);
    throw error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException): void =>
      reject(error.code === 'EADDRINUSE' ? new PathTaken(`${path} is in use by another process`) : error);
    server.once('error', onError);
    // Exclusive: a worker of a cluster would otherwise share the socket of its siblings.
    server.listen({ path, exclusive: true }, () => {
      server.removeListener('error', onError);
      resolve();
    });
  });
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve()); // also of one that never listened
  });
}
