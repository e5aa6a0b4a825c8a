/**
 * Role processes that may play another host: starting one costs more than most scenarios do.
 *
 * Owns those that rest between two stages, and the end of all of them. Leaves to the stage whether a process is fit for more.
 *
 * 1. A process has the hosts of one stage at a time, and at most so many stages in its life.
 * 2. In the end every process is told to part and has to end by itself; one that does not is told of, with what it has played.
 */
import { waitLimitMs } from '../wait-limit.ts';
import { RoleProcess } from './role-process.ts';

const maxStages = 15;

export class ProcessPool {
  readonly #resting: RoleProcess[] = [];
  readonly #keepsNone: boolean;

  /** @param keepsNone - every host gets a new process */
  constructor(keepsNone: boolean) {
    this.#keepsNone = keepsNone;
  }

  take(): RoleProcess {
    for (let next = this.#resting.pop(); next !== undefined; next = this.#resting.pop())
      if (next.isRunning) return next;
    return new RoleProcess();
  }

  /** Whether it may rest here, once its stage has found it fit. */
  wants(process: RoleProcess): boolean {
    return !this.#keepsNone && !process.isSpoiled && process.stages < maxStages; // 1
  }

  give(process: RoleProcess): void {
    this.#resting.push(process);
  }

  /** Problems, if any. */
  async end(): Promise<readonly string[]> {
    const all = this.#resting.splice(0);
    const problems = await Promise.all(all.map((process) => endOf(process))); // 2
    await Promise.all(all.map((process) => process.kill()));
    return problems.flatMap((problem) => problem ?? []);
  }
}

/** Tells it to part; what is wrong if it does not end by itself. */
export async function endOf(process: RoleProcess): Promise<string | undefined> {
  if (!process.isRunning) return process.unexpectedEnd;
  process.part();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(true), waitLimitMs);
  });
  const isLate = await Promise.race([late, process.ended.then(() => false)]);
  clearTimeout(timer);
  if (!isLate) return undefined;
  return `process ${process.pid} does not end by itself after all its hosts have: ${process.played.join(', ')}`;
}
