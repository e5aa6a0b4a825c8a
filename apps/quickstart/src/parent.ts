/**
 * The demo as one of its child processes sees it.
 *
 * Owns the child's end of the IPC channel. Leaves what is reported to the acts.
 *
 * P1 A child never outlives its parent: it exits when the channel closes, also one that closed before it looked.
 * P2 Ctrl-C in a terminal reaches every process; a child waits for what its parent makes of it.
 */
import type { FailedReport, Report, Wish } from './ipc.ts';

function exitNow(): void {
  process.exit(1);
}

function followParent(): void {
  process.once('disconnect', exitNow); // P1
  if (!process.connected) exitNow();
  process.on('SIGINT', () => undefined); // P2
}

/** Resolves when the report has left this process. */
export function report<R extends Report>(message: R): Promise<void> {
  return new Promise((resolve) => {
    if (process.connected)
      process.send!(message, () => resolve()); // a connected process can send
    else resolve();
  });
}

/** What goes wrong with a wish is told to the parent. */
export function onWish<W extends Wish>(kind: W['kind'], fulfil: (wish: W) => Promise<void>): void {
  process.on('message', (wish: W) => {
    if (wish.kind === kind) void attempt(() => fulfil(wish));
  });
}

/** Nothing more to tell: from here on the process ends by itself, as nothing is left that holds it. */
export function leaveParent(): void {
  process.off('disconnect', exitNow);
  if (process.connected) process.disconnect();
}

/** Runs a child's main part; what it throws is told to the parent in full. */
export function runChild(main: () => Promise<void>): Promise<void> {
  followParent();
  return attempt(main);
}

async function attempt(part: () => Promise<void>): Promise<void> {
  try {
    await part();
  } catch (error) {
    await report<FailedReport>({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) });
    process.exit(1);
  }
}
