/**
 * The application's background work that lives and dies with the host (SVC-001).
 *
 * Owns the order of starting and stopping. Leaves to the host when that happens and how long stopping may take: it gives
 * the signals.
 *
 * 1. One service after another starts, in the order of registration, each awaited; after a failure none is started.
 * 2. Only what has started is stopped: once, in reverse order, after its stop request.
 * 3. A failing stop request or stop is reported and changes nothing for the others.
 * 4. When the deadline signal aborts nobody is waited for any more, but everyone is still called.
 */
import { describeValue, ZLinkError } from '../errors/index.ts';

export interface HostedService {
  /**
   * Resolves when the service works. Calls of the framework work in it; those that are submitted with `signal`, which aborts
   * when the start is given up, are one flow (TRACE-022).
   */
  start(signal: AbortSignal): Promise<void>;
  /** Asked first: take no new work. */
  requestStop?(): void | Promise<void>;
  /** Ends the work in progress and frees everything. */
  stop(): void | Promise<void>;
}

/** How stopping went. What failed was reported to the listener. */
interface StopReport {
  /** Services that did not end before the deadline. */
  readonly unfinished: number;
}

/** Neither may throw. */
interface HostedServicesListener {
  /** Told what a stop request or a stop threw. */
  readonly onStopFailed: (error: unknown, where: string) => void;
  /** A service is about to start, with a signal of its own. */
  readonly onStarting: (signal: AbortSignal) => void;
}

type Stage = 'requestStop' | 'stop';
type StageEnd = 'ended' | 'unfinished';

export class HostedServices {
  readonly #services: readonly HostedService[];
  readonly #listener: HostedServicesListener;
  #started: HostedService[] = [];

  constructor(services: readonly HostedService[], listener: HostedServicesListener) {
    this.#services = [...services];
    this.#listener = listener;
  }

  /**
   * Starts all services.
   *
   * @param signal - gives up the start; a service that ignores it is not waited for, and stopped should it start later
   * @throws ZLinkError `InternalFailure` with the service's error as `cause`, or the signal's reason. Those that started
   *   before still work then: the host ends them as it ends all others
   */
  async start(signal: AbortSignal): Promise<void> {
    for (const service of this.#services) {
      signal.throwIfAborted();
      await this.#startOne(service, signal);
      this.#started.push(service);
    }
  }

  /** Asks all started services, in reverse order, to take no new work. */
  async requestStop(deadline: AbortSignal): Promise<void> {
    await this.#endAll([...this.#started].reverse(), 'requestStop', deadline);
  }

  /** Stops all started services in reverse order. */
  async stop(deadline: AbortSignal): Promise<StopReport> {
    const open = this.#started.reverse();
    this.#started = []; // 2
    return this.#endAll(open, 'stop', deadline);
  }

  async #startOne(service: HostedService, signal: AbortSignal): Promise<void> {
    const own = AbortSignal.any([signal]);
    this.#listener.onStarting(own);
    const starting = call(() => service.start(own));
    const end = await raceAbort(starting, signal);
    if (end === 'aborted') {
      starting.then(
        () => this.#endAll([service], 'stop', undefined),
        () => undefined, // it gave up as asked
      );
      throw signal.reason;
    }
    if (end === 'done') return;
    throw new ZLinkError('InternalFailure', `${this.#nameOf(service)} failed to start`, { cause: end.error });
  }

  async #endAll(
    services: readonly HostedService[],
    stage: Stage,
    deadline: AbortSignal | undefined,
  ): Promise<StopReport> {
    let unfinished = 0;
    for (const service of services) {
      if ((await this.#end(service, stage, deadline)) === 'unfinished') unfinished++;
    }
    return { unfinished };
  }

  async #end(service: HostedService, stage: Stage, deadline: AbortSignal | undefined): Promise<StageEnd> {
    const ending = call(() => service[stage]?.());
    const end = await raceAbort(ending, deadline);
    if (end === 'done') return 'ended';
    if (end === 'aborted') {
      ending.catch((error: unknown) => this.#report(error, service, stage)); // 3, also when it is late
      return 'unfinished';
    }
    this.#report(end.error, service, stage);
    return 'ended';
  }

  #report(error: unknown, service: HostedService, stage: Stage): void {
    this.#listener.onStopFailed(error, `${stage} of ${this.#nameOf(service)}`);
  }

  #nameOf(service: HostedService): string {
    return `hosted service ${this.#services.indexOf(service) + 1} (${describeValue(service)})`;
  }
}

/** Calls `work` so that a throw is a rejection, too. */
async function call(work: () => void | Promise<void>): Promise<void> {
  await work();
}

/** How `promise` ended, or that `signal` aborted first. Leaves no listener behind. */
async function raceAbort(
  promise: Promise<void>,
  signal: AbortSignal | undefined,
): Promise<'done' | 'aborted' | { readonly error: unknown }> {
  const settled = promise.then(
    () => 'done' as const,
    (error: unknown) => ({ error }),
  );
  if (signal === undefined) return settled;
  let onAbort: (() => void) | undefined;
  const aborted = new Promise<'aborted'>((resolve) => {
    onAbort = () => resolve('aborted');
    // What ends by itself at once has ended in time, also when the deadline is over before it was called (4).
    if (signal.aborted) setImmediate(onAbort);
    else signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([settled, aborted]);
  } finally {
    if (onAbort !== undefined) signal.removeEventListener('abort', onAbort);
  }
}
