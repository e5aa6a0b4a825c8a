/**
 * The orderly end of a running host, within one absolute deadline (DRAIN-002, DRAIN-005, DRAIN-006).
 *
 * Order: no new work and draining descriptors, requestStop, accepted work to its end, stop, own descriptors and lease, links
 * and sockets, stores.
 *
 * 1. The host lives for others until it withdraws: accepted work never loses its owner early (DRAIN-003).
 * 2. After the deadline everything together takes less than 2,000 ms.
 */
import { type HostedServices, type ShutdownResult, STOPPED } from '../../lifecycle/index.ts';
import { errorText, type HostMeter, type Logger } from '../../observe/index.ts';
import type { HostStores } from '../discovery/index.ts';
import { type Clock, untilAborted } from '../time/index.ts';
import type { HostParts, Topic } from './host-parts.ts';

/** What a start makes for its topics, and what the end of the host releases behind them. */
export interface Wiring {
  readonly parts: HostParts;
  readonly stores: HostStores;
  readonly logger: Logger;
  /** Releases transport and timers, and writes what the log holds back; idempotent. */
  close(): Promise<void>;
}

/** Time for the last words of links, within the deadline. */
const LINGER_MS = 1_000;
/** What stores have at least, also after the deadline (2). */
const WITHDRAW_MS = 750;
const DISPOSE_MS = 1_000;
/** The same for a start that is undone. */
export const UNDO_MS = 1_500;

/** Withdraws and releases all, one failure stopping nothing else. False: something could not be freed. */
export async function tearDown(topics: readonly Topic[], wiring: Wiring, deadlineAtMs: number): Promise<boolean> {
  const { clock } = wiring.parts;
  const remainingMs = (): number => Math.max(0, deadlineAtMs - clock.nowMs());
  await wiring.stores.withdraw(Math.max(WITHDRAW_MS, remainingMs() - LINGER_MS)); // 1
  const lingerMs = Math.min(LINGER_MS, remainingMs());
  const ends = await Promise.allSettled(topics.map((topic) => topic.close(lingerMs)));
  ends.push(...(await Promise.allSettled([wiring.close()]))); // after its topics: they still use it
  const failures: unknown[] = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as unknown] : []));
  failures.push(...(await wiring.stores.dispose(Math.max(DISPOSE_MS, remainingMs()))));
  for (const error of failures) {
    wiring.logger.error({ eventId: 'zlink.runtime.teardown_failed', error: errorText(error) });
  }
  return failures.length === 0;
}

/**
 * Tells how a shutdown ends, and how long it takes (METRIC-001).
 *
 * @param meter - asked when it has ended: a start that is given up may make one
 */
export async function measuredShutdown(
  shutdown: () => Promise<ShutdownResult>,
  clock: Clock,
  meter: () => Pick<HostMeter, 'shutdownEnded'> | undefined,
): Promise<ShutdownResult> {
  const startedAtMs = clock.nowMs();
  const result = await shutdown();
  meter()?.shutdownEnded(...metricWords(result), (clock.nowMs() - startedAtMs) / 1_000);
  return result;
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
      await untilAborted(this.#deadline.signal, Promise.all(this.#topics.map((topic) => topic.drained())));
      const late = this.#deadline.signal.aborted;
      if (late) for (const topic of this.#topics) topic.abort();
      const services = await this.#hosted.stop(this.#deadline.signal);
      return await this.#tearDown(late || services.unfinished > 0);
    } finally {
      clock.clearTimer(timer);
    }
  }

  async #tearDown(late: boolean): Promise<ShutdownResult> {
    const ok = await tearDown(this.#topics, this.#wiring, this.#deadlineAtMs);
    if (!ok) return { outcome: 'forceStopped', reason: 'teardownFailed' };
    return late ? { outcome: 'forceStopped', reason: 'deadlineExceeded' } : STOPPED;
  }
}

/** Values of attributes, which are in snake case. */
function metricWords({ outcome, reason }: ShutdownResult): ['stopped' | 'force_stopped', string] {
  const word = reason.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return [outcome === 'stopped' ? 'stopped' : 'force_stopped', word];
}
