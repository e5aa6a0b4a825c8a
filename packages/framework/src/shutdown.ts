/**
 * The orderly end of a running host, within one absolute deadline (DRAIN-002, DRAIN-005, DRAIN-006).
 *
 * Order: no new work and draining descriptors, requestStop, accepted work to its end, stop, links and sockets.
 */
import type { Topic } from '@zlink/kernel/internal/host';
import { type HostedServices, type ShutdownResult, STOPPED } from '@zlink/kernel/lifecycle';
import { errorText } from '@zlink/kernel/observe';
import type { Wiring } from './wiring.ts';

/** Time for the last words of links, within the deadline. */
const LINGER_MS = 1_000;

/** Releases topics and transport, one failure stopping nothing else. False: something could not be freed. */
export async function tearDown(topics: readonly Topic[], wiring: Wiring, lingerMs: number): Promise<boolean> {
  const ends = await Promise.allSettled(topics.map((topic) => topic.close(lingerMs)));
  ends.push(...(await Promise.allSettled([wiring.close()]))); // after its topics: they still use it
  let ok = true;
  for (const end of ends) {
    if (end.status === 'fulfilled') continue;
    ok = false;
    wiring.logger.error({ eventId: 'zlink.runtime.teardown_failed', error: errorText(end.reason) });
  }
  return ok;
}

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
      const services = await this.#hosted.stop(this.#deadline.signal);
      return await this.#tearDown(late || services.unfinished > 0);
    } finally {
      clock.clearTimer(timer);
    }
  }

  async #tearDown(late: boolean): Promise<ShutdownResult> {
    const remainingMs = Math.max(0, this.#deadlineAtMs - this.#wiring.parts.clock.nowMs());
    const ok = await tearDown(this.#topics, this.#wiring, Math.min(LINGER_MS, remainingMs));
    if (!ok) return { outcome: 'forceStopped', reason: 'teardownFailed' };
    return late ? { outcome: 'forceStopped', reason: 'deadlineExceeded' } : STOPPED;
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
