/**
 * The transport port over any pipe engine: the link protocol of ZLink.
 *
 * Owns what all links of one host share: flusher, window budget, factory, and a deadline wheel unless the host lends its
 * own. One transport per host; transports share nothing (CORE-013).
 */
import { type Logger, RateLimitedLog } from '../../observe/index.ts';
import type { JobPermits } from '../execution/index.ts';
import { type Clock, DeadlineWheel, type RandomSource } from '../time/index.ts';
import type { PipeEngine } from '../transport/engine.ts';
import type {
  DialOptions,
  Intent,
  Listener,
  ListenOptions,
  Transport,
  TransportStatus,
} from '../transport/transport.ts';
import { LIVENESS_DEADLINE_MS, PROBE_INTERVAL_MS } from '../wire/limits.ts';
import { Dialer } from './dialer.ts';
import { Flusher } from './flusher.ts';
import { LinkFactory } from './link-factory.ts';
import { LinkListener } from './link-listener.ts';
import type { LivenessTimes } from './liveness.ts';
import { RefusalLog } from './refusal-log.ts';
import { WindowBudget } from './window-budget.ts';

export interface LinkTransportSettings {
  readonly clock: Clock;
  readonly permits: JobPermits;
  /** Bytes that all peers together may have under way to this host (CORE-007). */
  readonly budgetBytes: number;
  /** Largest window of one link in bytes. */
  readonly maxWindowBytes: number;
  readonly random: RandomSource;
  readonly logger: Logger;
  /** The host's; default: one of the transport's own. */
  readonly wheel?: DeadlineWheel | undefined;
  /** Default: probes every 5,000 ms, dead after 15,000 ms (LIVE-001). No option of the host (LIVE-004). */
  readonly liveness?: LivenessTimes;
}

export function createLinkTransport(engine: PipeEngine, settings: LinkTransportSettings): Transport {
  return new LinkTransport(engine, settings);
}

class LinkTransport implements Transport {
  readonly #engine: PipeEngine;
  readonly #settings: LinkTransportSettings;
  readonly #flusher: Flusher;
  readonly #factory: LinkFactory;
  readonly #refusals: RefusalLog;
  readonly #log: RateLimitedLog;
  readonly #listeners = new Set<LinkListener>();
  readonly #dialers = new Set<Dialer>();
  readonly #stopFlow: () => void;
  #closed: Promise<void> | undefined;

  constructor(engine: PipeEngine, settings: LinkTransportSettings) {
    const { clock, permits } = settings;
    this.#engine = engine;
    this.#settings = settings;
    this.#flusher = new Flusher(clock);
    this.#log = new RateLimitedLog(settings.logger, clock);
    this.#refusals = new RefusalLog(this.#log);
    this.#factory = new LinkFactory({
      clock,
      permits,
      wheel: settings.wheel ?? ownWheel(settings),
      flusher: this.#flusher,
      budget: new WindowBudget(settings.budgetBytes, settings.maxWindowBytes),
      random: settings.random,
      liveness: settings.liveness ?? { probeIntervalMs: PROBE_INTERVAL_MS, deadlineMs: LIVENESS_DEADLINE_MS },
      security: engine.security,
      onFault: (error) => settings.logger.error({ eventId: 'zlink.transport.callback_failed', error }),
      onDropped: (count, { peer }, reason) =>
        this.#log.warn(`dropped ${peer.scope}`, droppedRecords(count, peer.rid, reason)),
      onViolation: (fault, address) => this.#refusals.count(PROTOCOL_ERROR, address, fault),
    });
    this.#stopFlow = permits.onFlow((flow) => {
      if (flow === 'RUNNING') for (const link of this.#factory.links) link.onFlowRunning();
    });
  }

  get status(): TransportStatus {
    const { links, ended, settings } = this.#factory;
    let queuedBytes = 0;
    let pendingRequests = 0;
    for (const link of links) {
      queuedBytes += link.queuedBytes;
      pendingRequests += link.pendingRequests;
    }
    return {
      budgetBytes: settings.budget.budgetBytes,
      grantedBytes: settings.budget.grantedBytes,
      queuedBytes,
      pendingRequests,
      links: links.size,
      traffic: ended.with(links),
      refused: { ...this.#refusals.counts },
    };
  }

  async listen(options: ListenOptions): Promise<Listener> {
    const listener = await LinkListener.open(options, this.#engine, this.#factory, this.#refusals, (closed) =>
      this.#listeners.delete(closed),
    );
    this.#listeners.add(listener);
    return listener;
  }

  dial(options: DialOptions): Intent {
    const through = options.through;
    const dialer = new Dialer(
      options,
      this.#engine,
      this.#factory,
      through instanceof LinkListener ? through : undefined,
      this.#settings.random,
      (ended) => this.#dialers.delete(ended),
    );
    if (dialer.state !== 'closed') this.#dialers.add(dialer); // its owner may withdraw it while it is being made
    return dialer;
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    await Promise.all([...this.#dialers].map((dialer) => dialer.close(0)));
    await Promise.all([...this.#listeners].map((listener) => listener.close(0)));
    // Links of intents that were being withdrawn, with a linger that ends here.
    for (const link of [...this.#factory.links]) link.giveUp();
    this.#stopFlow();
    this.#flusher.close();
    if (this.#settings.wheel === undefined) this.#factory.settings.wheel.close();
    try {
      await this.#engine.close();
    } finally {
      this.#log.close(); // last: the engine may have refused someone until now
    }
  }
}

function ownWheel({ clock, logger }: LinkTransportSettings): DeadlineWheel {
  return new DeadlineWheel({
    clock,
    onError: (error) => logger.error({ eventId: 'zlink.transport.deadline_failed', error }),
  });
}

/** Received records that never had their turn: nothing is lost silently (CORE-008). */
function droppedRecords(count: number, peer: string, reason: string): object {
  return { eventId: 'zlink.transport.records_dropped', count, peer, reason };
}

/** Label of peers that were admitted and then broke the protocol. */
const PROTOCOL_ERROR = 'protocolError';
