/**
 * The orderly end of a running host, within one absolute deadline (DRAIN-002, DRAIN-005, DRAIN-006).
 *
 * Order: no new work and draining descriptors, requestStop, accepted work to its end, stop, links and sockets.
 */
import type { Topic } from '@zlink/kernel/internal/host';
import type { HostedServices } from '@zlink/kernel/lifecycle';
import type { Wiring } from './wiring.ts';

export interface ShutdownResult {
  readonly outcome: 'stopped' | 'forceStopped';
  readonly reason: 'none' | 'deadlineExceeded' | 'teardownFailed';
}

/** Time for the last words of links, within the deadline. */
const LINGER_MS = 1_000;

export class Shutdown {
  readonly #topics: readonly Topic[];
  readonly #hosted: HostedServices;
  readonly #wiring: Wiring;
  readonly #deadline = new AbortController();
  readonly #deadlineAtMs: number;

  constructor(topics: readonly Topic[], hosted: HostedServices, wiring: Wiring, deadlineMs: number) {
    this.#topics = topics;
    this.#hosted = hosted;
    this.#wiring = wiring;
    this.#deadlineAtMs = wiring.parts.clock.nowMs() + deadlineMs;
  }

  async run(): Promise<ShutdownResult> {
    const { clock } = this.#wiring.parts;
    const timer = clock.setTimer(() => this.#deadline.abort(), this.#deadlineAtMs - clock.nowMs());
    try {
      for (const topic of this.#topics) topic.drain();
      await this.#hosted.requestStop(this.#deadline.signal);
      await this.#untilDeadline(Promise.all(this.#topics.map((topic) => topic.drained())));
      const late = this.#deadline.signal.aborted;
      if (late) for (const topic of this.#topics) topic.abort();
      await this.#hosted.stop(this.#deadline.signal);
      return await this.#tearDown(late);
    } finally {
      clock.clearTimer(timer);
    }
  }

  async #tearDown(late: boolean): Promise<ShutdownResult> {
    const remainingMs = Math.max(0, this.#deadlineAtMs - this.#wiring.parts.clock.nowMs());
    const lingerMs = Math.min(LINGER_MS, remainingMs);
    let failed = false;
    for (const end of await Promise.allSettled(this.#topics.map((topic) => topic.close(lingerMs)))) {
      if (end.status === 'rejected') failed = true;
    }
    await this.#wiring.close();
    if (failed) return { outcome: 'forceStopped', reason: 'teardownFailed' };
    if (late) return { outcome: 'forceStopped', reason: 'deadlineExceeded' };
    return { outcome: 'stopped', reason: 'none' };
  }

  #untilDeadline(work: Promise<unknown>): Promise<void> {
    const { signal } = this.#deadline;
    return new Promise((resolve) => {
      const done = (): void => {
        signal.removeEventListener('abort', done);
        resolve();
      };
      if (signal.aborted) return resolve();
      signal.addEventListener('abort', done, { once: true });
      work.then(done, done);
    });
  }
}
