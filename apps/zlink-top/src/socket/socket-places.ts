/**
 * Where the control sockets of this user's hosts lie.
 *
 * Owns names and folders, and that a folder is this user's alone. Leaves sockets to others.
 *
 * 1. A folder of ours has mode 0700 and belongs to the user of this process; another one is neither used nor looked into.
 * 2. On Windows there are no folders: the names of all pipes are one list.
 */
import { lstat, mkdir, readdir, stat } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** What decides over places. */
export interface Surroundings {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly temporary: string;
  /** Undefined on Windows. */
  readonly uid: number | undefined;
  readonly userName: string;
}

const PIPES = '\\\\.\\pipe\\';
const SUFFIX = '.sock';
const OTHERS = 0o077;

export function currentSurroundings(): Surroundings {
  return {
    platform: process.platform,
    env: process.env,
    temporary: tmpdir(),
    uid: process.getuid?.(),
    userName: userNameOf(),
  };
}

/** Users without an entry in the system's list exist, in containers above all. */
function userNameOf(): string {
  try {
    return userInfo().username;
  } catch {
    return 'user';
  }
}

/** The folders in the order in which a host prefers them. */
export async function foldersOf(surroundings: Surroundings): Promise<readonly string[]> {
  const { env, temporary, uid, platform } = surroundings;
  const given = env['XDG_RUNTIME_DIR'];
  // A service has no such variable where the login of the same user has one: the usual place is looked into as well.
  const usual = platform === 'linux' ? `/run/user/${uid}` : undefined;
  const runtime = given !== undefined && isAbsolute(given) ? given : usual;
  const isOurs = runtime !== undefined && (await ownerOf(runtime)) === uid;
  return [...(isOurs ? [join(runtime, 'zlink-top')] : []), join(temporary, `zlink-top-${uid}`)];
}

/** Names for the sockets of process `pid`, the best first. */
export async function ownPaths(surroundings: Surroundings, pid: number, count: number): Promise<readonly string[]> {
  const names = Array.from({ length: count }, (_, at) => (at === 0 ? `${pid}` : `${pid}-${at + 1}`));
  if (surroundings.platform === 'win32') return names.map((name) => pipePrefix(surroundings) + name);
  const folder = await firstUsable(await foldersOf(surroundings), surroundings.uid);
  return names.map((name) => join(folder, name + SUFFIX));
}

/** The sockets of all processes of this user, dead ones as well. */
export async function findPaths(surroundings: Surroundings): Promise<readonly string[]> {
  if (surroundings.platform === 'win32') {
    const prefix = pipePrefix(surroundings);
    return (await namesIn(PIPES)).map((name) => PIPES + name).filter((path) => path.startsWith(prefix));
  }
  const found: string[] = [];
  for (const folder of await foldersOf(surroundings)) {
    if ((await problemOf(folder, surroundings.uid)) !== undefined) continue; // 1
    const names = (await namesIn(folder)).filter((name) => name.endsWith(SUFFIX));
    found.push(...names.map((name) => join(folder, name)));
  }
  return found.sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
}

function pipePrefix({ userName }: Surroundings): string {
  return `${PIPES}zlink-top-${userName.replace(/[^\w.-]/g, '_')}-`;
}

async function firstUsable(folders: readonly string[], uid: number | undefined): Promise<string> {
  let problem: string | undefined;
  for (const folder of folders) {
    try {
      await mkdir(folder, { mode: 0o700 });
    } catch {
      // It is there, or the next look says what is wrong.
    }
    problem = await problemOf(folder, uid);
    if (problem === undefined) return folder;
  }
  throw new Error(problem);
}

async function problemOf(folder: string, uid: number | undefined): Promise<string | undefined> {
  try {
    const found = await lstat(folder); // not of what a link leads to
    if (!found.isDirectory()) return `${folder} is no folder`;
    if (found.uid !== uid) return `${folder} belongs to another user`;
    return (found.mode & OTHERS) === 0 ? undefined : `${folder} is open to other users`;
  } catch (error) {
    return error instanceof Error ? error.message : folder;
  }
}

async function ownerOf(folder: string): Promise<number | undefined> {
  return stat(folder).then(
    ({ uid }) => uid,
    () => undefined,
  );
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch(() => []);
}
