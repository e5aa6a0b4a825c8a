/** Composition root: makes the parts that topics share out of resolved options. The only place that knows the engine. */
import { createZmqTransports } from '@zlink/core-binding';
import type { CodecTable } from '@zlink/kernel/codec';
import { type FilterEntry, LastHandler } from '@zlink/kernel/dispatch';
import { HostStores } from '@zlink/kernel/internal/discovery';
import type { HostParts, Wiring } from '@zlink/kernel/internal/host';
import { JobPermits } from '@zlink/kernel/internal/execution';
import { DeadlineWheel, systemClock, systemDateMs, systemRandom } from '@zlink/kernel/internal/time';
import { NameIndex } from '@zlink/kernel/internal/wire';
import { LoopWatch, type MessageCounters, MessageFlow, type StatusBoard } from '@zlink/kernel/observe';
import { createTelemetry } from '@zlink/telemetry';
import type { ResolvedHostOptions } from './options/host-options.ts';
import type { Stores } from './options/store-options.ts';

/** What `start` made of the description once all of it was found right. */
export interface CheckedDescription {
  readonly options: ResolvedHostOptions;
  readonly stores: Stores;
  readonly codecs: CodecTable;
  readonly filters: readonly FilterEntry[];
}

type Counters = () => readonly MessageCounters[];

/** @param board - hears of everything that the host does */
export function wire(description: CheckedDescription, board: StatusBoard, counters: Counters): Wiring {
  const { options, stores: registered, codecs, filters } = description;
  const { logger, log, surroundings } = options;
  const system = { clock: systemClock, random: systemRandom, dateMs: systemDateMs };
  const { clock, random, dateMs } = surroundings ?? system;
  const lastHandler = new LastHandler();
  const permits = new JobPermits(options.jobs);
  const wheel = new DeadlineWheel({
    clock,
    onError: (error) => logger.error({ eventId: 'zlink.runtime.deadline_failed', error }),
  });
  permits.onFlow(() => board.changed());
  const needs = { permits, memory: options.memory, logger, clock, wheel };
  const { transport, events } =
    surroundings?.createTransports(needs) ?? createZmqTransports({ ...needs, security: options.security });
  const loopWatch = new LoopWatch(clock, (stalledMs) =>
    logger.warn({
      eventId: 'zlink.runtime.event_loop_stalled',
      stalledMs: Math.round(stalledMs),
      lastHandler: lastHandler.during(stalledMs, clock.nowMs()),
    }),
  );
  const telemetry = createTelemetry(options.telemetry, log);
  const { meter, tracer } = telemetry;
  const stores = new HostStores({
    ...registered,
    timing: options.location,
    securityIdentity: options.security?.publicKey,
    clock,
    random,
    logger,
    meter,
    monitor: board,
    date: () => new Date(dateMs()),
  });
  const flow = new MessageFlow({ ...options.diagnostics, clock, dateMs, logger, log, tracer });
  telemetry.observe({ board, counters, flow, log });
  const parts: HostParts = {
    clock,
    wheel,
    permits,
    codecs,
    flow,
    meter,
    names: new NameIndex(),
    transport,
    events,
    monitor: board,
    discovery: stores.location,
    filters,
    lastHandler,
    services: options.services,
    log,
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
      try {
        await transport.close();
        await events.close();
      } finally {
        wheel.close();
        loopWatch.stop();
        flow.close();
        telemetry.close(); // what the flow has left out counts, too
        log.close();
      }
    },
  };
}
