/** Options of an inspector, and what they mean. */
import { basename, resolve } from 'node:path';
import { ConfigurationError } from '@zlink/framework';

export interface InspectorOptions {
  /**
   * The socket file, in a folder that exists; on Windows the name of a pipe. By default one of this process in a folder of
   * this user, where `zlink-top` finds it by itself.
   */
  readonly path?: string;
  /** What the host is called where it is shown: 1..80 characters; by default the name of the script. */
  readonly name?: string;
  /** How many may look at a time: integer 1..64; by default 8. */
  readonly maxClients?: number;
  /** Told why nobody can look; the host runs on. By default a warning of the process. */
  readonly onProblem?: (problem: Error) => void;
}

export interface ResolvedInspectorOptions {
  /** Undefined: the default of this process. */
  readonly path: string | undefined;
  readonly name: string;
  readonly maxClients: number;
  readonly onProblem: (problem: Error) => void;
}

const NAME_LENGTH = 80;
const MAX_CLIENTS = 64;
const DEFAULT_CLIENTS = 8;

/** @throws ConfigurationError with everything that is wrong */
export function resolveInspectorOptions(options: InspectorOptions): ResolvedInspectorOptions {
  const { path, name = scriptName(), maxClients = DEFAULT_CLIENTS, onProblem = warn } = options;
  const problems: string[] = [];
  const check = (isGood: boolean, what: string, allowed: string): void => {
    if (!isGood) problems.push(`inspector ${what} is not allowed, allowed: ${allowed}`);
  };
  check(path === undefined || isText(path), 'path', 'the name of a file');
  check(isText(name) && name.length <= NAME_LENGTH, 'name', `a text of 1..${NAME_LENGTH} characters`);
  const isCount = Number.isInteger(maxClients) && maxClients >= 1 && maxClients <= MAX_CLIENTS;
  check(isCount, 'maxClients', `integer 1..${MAX_CLIENTS}`);
  check(typeof onProblem === 'function', 'onProblem', 'a function');
  if (problems.length > 0) throw new ConfigurationError(problems);
  // Absolute: the process may change its folder before the host stops.
  return Object.freeze({ path: path === undefined ? undefined : resolve(path), name, maxClients, onProblem });
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '' && !value.includes('\0');

function scriptName(): string {
  return basename(process.argv[1] ?? process.title).slice(0, NAME_LENGTH) || 'host';
}

function warn(problem: Error): void {
  process.emitWarning(problem.message, 'ZLinkInspector');
}
