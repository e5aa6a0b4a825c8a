/**
 * All child processes of the demo.
 *
 * Owns starting them, and that none is left behind. Leaves to the act which there are and when each has to end.
 *
 * P1 A child that ends before it was told to is trouble: `onTrouble` hears of it once, with the child's last words.
 * P2 `endAll` leaves no child: first the polite signal, then, after a grace, the one that cannot be ignored.
 * P3 A child that somebody else has killed explains what others say that fail for want of it, who may be heard first.
 */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Child, type Ending } from './child.ts';
import type { Report } from './ipc.ts';

/** What ending a child needs, whatever it reports. */
interface Endable {
  readonly isRunning: boolean;
  readonly wasKilled: boolean;
  readonly ended: Promise<Ending>;
  end(signal: 'SIGTERM' | 'SIGKILL'): void;
  describeEnd(): Error;
}

const endGraceMs = 2_000;

export class Processes {
  readonly #children: Endable[] = [];
  readonly #onTrouble: (error: Error) => void;

  constructor(onTrouble: (error: Error) => void) {
    this.#onTrouble = onTrouble;
  }

  start<R extends Report>(title: string, entry: URL, args: readonly string[]): Child<R> {
    const child = new Child<R>(title, fork(fileURLToPath(entry), args, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] }));
    this.#children.push(child);
    void child.ended.then(() => {
      if (!child.mayEnd) this.#onTrouble(child.describeEnd()); // P1
    });
    return child;
  }

  /** Of all trouble, if a child was killed (P3); known for sure once all have ended. */
  get cause(): Error | undefined {
    return this.#children.find((child) => child.wasKilled)?.describeEnd();
  }

  /** Ends whatever still runs; resolves when all are gone. */
  async endAll(): Promise<void> {
    const running = this.#children.filter((child) => child.isRunning);
    for (const child of running) child.end('SIGTERM');
    // P2; on a busy machine the end of a child may be known and not yet be heard of
    const timer = setTimeout(() => setImmediate(() => this.killAll()), endGraceMs);
    await Promise.all(running.map((child) => child.ended));
    clearTimeout(timer);
  }

  killAll(): void {
    for (const child of this.#children) if (child.isRunning) child.end('SIGKILL');
  }
}
