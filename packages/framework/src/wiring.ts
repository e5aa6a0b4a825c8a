/** Composition root: makes the parts that topics share out of resolved options. The only place that knows the engine. */
import { createZmqTransports } from '@zlink/core-binding';
import type { CodecTable } from '@zlink/kernel/codec';
import { type FilterEntry, LastHandler } from '@zlink/kernel/dispatch';
import { HostStores } from '@zlink/kernel/internal/discovery';
import type { HostParts } from '@zlink/kernel/internal/host';
import { JobPermits } from '@zlink/kernel/internal/execution';
import { DeadlineWheel, systemClock, systemRandom } from '@zlink/kernel/internal/time';
import { NameIndex } from '@zlink/kernel/internal/wire';
import { type Logger, LoopWatch } from '@zlink/kernel/observe';
import type { ResolvedHostOptions } from './options/host-options.ts';
import type { Stores } from './options/store-options.ts';

export interface Wiring {
  readonly parts: HostParts;
  readonly stores: HostStores;
  readonly logger: Logger;
  /** Releases transport and timers, and writes what the log holds back; idempotent. */
  close(): Promise<void>;
}

/** What `start` made of the description once all of it was found right. */
export interface CheckedDescription {
  readonly options: ResolvedHostOptions;
  readonly stores: Stores;
  readonly codecs: CodecTable;
  readonly filters: readonly FilterEntry[];
}

export function wire({ options, stores: registered, codecs, filters }: CheckedDescription): Wiring {
  const clock = systemClock;
  const { logger } = options;
  const lastHandler = new LastHandler();
  const permits = new JobPermits(options.jobs);
  const wheel = new DeadlineWheel({
    clock,
    onError: (error) => logger.error({ eventId: 'zlink.runtime.deadline_failed', error }),
  });
  const { transport, events } = createZmqTransports({
    permits,
    memory: options.memory,
    logger,
    security: options.security,
    clock,
    wheel,
  });
  const loopWatch = new LoopWatch(clock, (stalledMs) =>
    logger.warn({
      eventId: 'zlink.runtime.event_loop_stalled',
      stalledMs: Math.round(stalledMs),
      lastHandler: lastHandler.during(stalledMs, clock.nowMs()),
    }),
  );
  const stores = new HostStores({
    ...registered,
    timing: options.location,
    securityIdentity: options.security?.publicKey,
    clock,
    random: systemRandom,
    logger,
  });
  const parts: HostParts = {
    clock,
    wheel,
    permits,
    codecs,
    names: new NameIndex(),
    transport,
    events,
    discovery: stores.location,
    filters,
    lastHandler,
    services: options.services,
    log: options.log,
    exposeErrorMessages: options.exposeErrorMessages,
    onUnhandled: options.onUnhandled,
    requestTimeoutMs: options.requestTimeoutMs,
    sendTimeoutMs: options.sendTimeoutMs,
    bindHost: options.bindHost,
    advertiseHost: options.advertiseHost,
  };
  return {
    parts,
    stores,
    logger,
    close: async () => {
      await transport.close(); // and events with it
      wheel.close();
      loopWatch.stop();
      options.log.close();
    },
  };
}
