/**
 * The transports of a host over ZeroMQ: the engine of this package, by itself for fanout and under the link protocol of the
 * kernel for everything else.
 */
import type { JobPermits } from '@zlink/kernel/internal/execution';
import { createLinkTransport, type LivenessTimes } from '@zlink/kernel/internal/link';
import { type Clock, type DeadlineWheel, systemClock, systemRandom } from '@zlink/kernel/internal/time';
import type { EventTransport, Transport } from '@zlink/kernel/internal/transport';
import type { Logger } from '@zlink/kernel/observe';
import type { CurveSecurity } from './curve.ts';
import type { EngineWarning } from './engine-options.ts';
import type { MessagingMemory } from './messaging-memory.ts';
import { createZmqEngine } from './zmq-engine.ts';

export interface ZmqTransportOptions {
  readonly permits: JobPermits;
  readonly memory: MessagingMemory;
  readonly logger: Logger;
  readonly security?: CurveSecurity | undefined;
  /** Native I/O threads; integer from 1; default 1. */
  readonly ioThreads?: number | undefined;
  readonly clock?: Clock | undefined;
  /** The host's, of the same clock; default: one of the transport's own. */
  readonly wheel?: DeadlineWheel | undefined;
  readonly liveness?: LivenessTimes | undefined;
}

/** Both on one engine: who closes the one has closed the other. */
export interface ZmqTransports {
  readonly transport: Transport;
  readonly events: EventTransport;
}

export function createZmqTransport(options: ZmqTransportOptions): Transport {
  return createZmqTransports(options).transport;
}

export function createZmqTransports(options: ZmqTransportOptions): ZmqTransports {
  const { logger, security, ioThreads, liveness, clock = systemClock } = options;
  const engine = createZmqEngine({
    ...(ioThreads === undefined ? {} : { ioThreads }),
    ...(security === undefined ? {} : { security }),
    clock,
    warn: (warning) => record(warning, logger),
  });
  const transport = createLinkTransport(engine, {
    clock,
    wheel: options.wheel,
    permits: options.permits,
    budgetBytes: options.memory.budgetBytes,
    maxWindowBytes: options.memory.maxWindowBytes,
    random: systemRandom,
    logger,
    ...(liveness === undefined ? {} : { liveness }),
  });
  return { transport, events: engine };
}

/** Who wanted to bind gets a failure thrown; its record is there for the code alone, which no error shows (ERR-004). */
function record(warning: EngineWarning, logger: Logger): void {
  if (warning.event === 'bind failed') logger.debug({ eventId: 'zlink.transport.bind_failed', ...warning });
  else logger.warn({ eventId: 'zlink.transport.engine_warning', ...warning });
}
