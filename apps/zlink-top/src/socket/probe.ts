/**
 * Whether anybody listens on a control socket, found out by connecting.
 *
 * 1. A socket file that refuses is of a process that has ended: those of ours are renamed into place only while they listen.
 *    Ids of processes would tell less: in containers other processes have the same.
 * 2. Silence counts only once whatever has come was looked at: a process that got no time for so long has its timer fire
 *    before the answer that waits for it.
 */
import { lstat, unlink } from 'node:fs/promises';
import { connect } from 'node:net';

/** `other`: it is there, and no socket, or not ours to connect to. */
export type SocketState = 'live' | 'dead' | 'missing' | 'other';

const PROBE_WITHIN_MS = 1_000;

export async function probe(path: string): Promise<SocketState> {
  const code = await connectOnce(path);
  if (code === undefined || code === 'EAGAIN') return 'live'; // the latter: too many wait already
  if (code === 'ENOENT') return 'missing';
  return code === 'ECONNREFUSED' && (await isSocket(path)) ? 'dead' : 'other';
}

/** Removes the file if its process has ended. */
export async function removeIfDead(path: string): Promise<SocketState> {
  const state = await probe(path);
  if (state === 'dead') await unlink(path).catch(() => undefined); // somebody else was faster
  return state;
}

/** The code of the error, if there is one. */
function connectOnce(path: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ path });
    socket.setTimeout(PROBE_WITHIN_MS, () => setImmediate(end, undefined)); // 2: somebody is there, and busy
    socket.once('connect', () => end(undefined));
    socket.once('error', (error: NodeJS.ErrnoException) => end(error.code ?? 'unknown'));
    function end(code: string | undefined): void {
      socket.destroy();
      resolve(code);
    }
  });
}

async function isSocket(path: string): Promise<boolean> {
  return lstat(path).then(
    (found) => found.isSocket(),
    () => false,
  );
}
