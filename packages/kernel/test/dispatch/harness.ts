/**
 * One dispatcher with everything around it: manual time, permits taken as a link takes them, one or more fake links.
 */
import { ManualClock } from '@zlink/testing';
import { type CodecExtension, CodecRegistry } from '../../src/codec/index.ts';
import type { DispatcherOptions, DispatcherParts } from '../../src/dispatch/dispatcher-options.ts';
import {
  type ChannelContext,
  channelSurface,
  Dispatcher,
  type FanoutContext,
  type Filter,
  freezeFilters,
  HandlerRegistry,
  LastHandler,
  type NodeContext,
} from '../../src/dispatch/index.ts';
import type { Refusal } from '../../src/dispatch/intake.ts';
import { Problems } from '../../src/errors/index.ts';
import { JobPermits } from '../../src/internal/execution/index.ts';
import { DeadlineWheel } from '../../src/internal/time/index.ts';
import type { InboundName } from '../../src/internal/transport/index.ts';
import { NameIndex } from '../../src/internal/wire/index.ts';
import { type Metadata, MetadataBuilder } from '../../src/message/index.ts';
import {
  guardUnhandled,
  type Logger,
  type MessageCounters,
  MessageFlow,
  type MessageFlowOptions,
  RateLimitedLog,
  type UnhandledListener,
} from '../../src/observe/index.ts';
import { FakeLink, inboundRecord } from './fake-link.ts';

export interface Unhandled {
  readonly error: unknown;
  readonly where: string;
}

type Options = Partial<Omit<DispatcherOptions, 'parts' | 'handlers'>> &
  Partial<Omit<DispatcherParts, 'filters' | 'log' | 'flow'>> & {
    readonly logger?: Logger;
    readonly maxPermits?: number;
    readonly diagnostics?: Partial<MessageFlowOptions>;
    readonly extensions?: readonly CodecExtension[];
    readonly filters?: readonly Filter[];
  };

type HandlerContext = ChannelContext | NodeContext | FanoutContext;
type Packet = string | { readonly packetName: string };

export interface MessageOptions {
  readonly link?: FakeLink;
  readonly remainingMs?: number;
  readonly metadata?: Metadata;
  readonly metadataBytes?: Uint8Array;
  readonly contentType?: string;
  /** Its trace section. */
  readonly trace?: Uint8Array;
  /** Instead of the value's JSON. */
  readonly payload?: Uint8Array | string;
  /** The message is not taken at all. */
  readonly refusal?: Refusal;
}

/** @typeParam C - what handlers see: the context that goes with `options.surface` */
export class Harness<C extends HandlerContext = ChannelContext> {
  readonly clock = new ManualClock();
  readonly wheelErrors: unknown[] = [];
  readonly wheel = new DeadlineWheel({ clock: this.clock, onError: (error) => this.wheelErrors.push(error) });
  readonly permits: JobPermits;
  readonly link = new FakeLink();
  readonly unhandled: Unhandled[] = [];
  /** What the logger got at `debug`. */
  readonly phases: Record<string, unknown>[] = [];
  /** All else. */
  readonly logs: Record<string, unknown>[] = [];
  readonly flow: MessageFlow;
  readonly dispatcher: Dispatcher;
  readonly #turns: (() => void)[] = [];
  readonly #names = new Map<string, InboundName>();
  #correlation = 0;

  constructor(register: (handlers: HandlerRegistry<C>) => unknown, options: Options = {}) {
    const problems = new Problems();
    const codecs = new CodecRegistry();
    for (const extension of options.extensions ?? []) codecs.use(extension);
    const handlers = new HandlerRegistry<C>('channel "billing"');
    register(handlers);
    const keepIn =
      (records: Record<string, unknown>[]) =>
      (record: object): void =>
        void records.push(record as Record<string, unknown>); // records are plain objects
    const [phase, line] = [keepIn(this.phases), keepIn(this.logs)];
    const logger = options.logger ?? { debug: phase, info: line, warn: line, error: line };
    const log = new RateLimitedLog(logger, this.clock);
    const nextTurn = (turn: () => void): void => turn(); // records are written as they are made
    const keep: UnhandledListener = (error, { where }) => void this.unhandled.push({ error, where });
    this.flow = new MessageFlow({ clock: this.clock, logger, log, nextTurn, ...options.diagnostics });
    this.permits = new JobPermits({
      max: options.maxPermits ?? 100_000,
      pauseThresholdPercent: 80,
      resumeThresholdPercent: 60,
    });
    this.dispatcher = new Dispatcher({
      owner: 'billing',
      where: 'channel "billing"',
      surface: channelSurface('billing', 'server-1'),
      handlers: handlers.freeze(problems),
      concurrency: 256,
      ...options,
      nextTurn: (callback) => void this.#turns.push(callback),
      parts: {
        clock: this.clock,
        wheel: this.wheel,
        permits: this.permits,
        codecs: codecs.freeze(problems),
        names: new NameIndex(),
        filters: freezeFilters(options.filters ?? [], options.services, problems),
        lastHandler: options.lastHandler ?? new LastHandler(),
        services: options.services,
        log,
        flow: this.flow,
        exposeErrorMessages: options.exposeErrorMessages ?? false,
        onUnhandled: guardUnhandled(options.onUnhandled ?? keep, log),
      },
    });
    problems.throwIfAny();
  }

  get sends(): MessageCounters {
    return this.dispatcher.counters()[0] as MessageCounters; // both verbs are always listed
  }

  get requests(): MessageCounters {
    return this.dispatcher.counters()[1] as MessageCounters;
  }

  /** The next turn of the event loop begins. */
  turn(): void {
    for (const callback of this.#turns.splice(0)) callback();
  }

  get waitsForTurn(): boolean {
    return this.#turns.length > 0;
  }

  send(packet: Packet, value: unknown, options: MessageOptions = {}): void {
    this.#deliver('send', packet, value, 0, options);
  }

  /** Returns the correlation. */
  request(packet: Packet, value: unknown, options: MessageOptions = {}): number {
    const correlation = ++this.#correlation;
    (options.link ?? this.link).unansweredRequests++;
    this.#deliver('request', packet, value, correlation, options);
    return correlation;
  }

  #deliver(
    kind: 'send' | 'request',
    packet: Packet,
    value: unknown,
    correlation: number,
    options: MessageOptions,
  ): void {
    if (!this.permits.tryAcquire()) throw new Error('no permit left');
    const packetName = typeof packet === 'string' ? packet : packet.packetName;
    const metadata = options.metadataBytes ?? encode(options.metadata);
    const record = inboundRecord({
      kind,
      correlation,
      name: this.#name(packetName, options.contentType ?? 'application/json'),
      payload: Buffer.from(options.payload ?? JSON.stringify(value) ?? 'null'),
      remainingMs: options.remainingMs ?? 0,
      ...(metadata === undefined ? {} : { metadata }),
      ...(options.trace === undefined ? {} : { trace: options.trace }),
    });
    const link = options.link ?? this.link;
    if (options.refusal === undefined) this.dispatcher.accept(record, link);
    else this.dispatcher.refuse(record, link, options.refusal);
  }

  #name(packetName: string, contentType: string): InboundName {
    const key = `${contentType} ${packetName}`;
    let name = this.#names.get(key);
    if (name === undefined) this.#names.set(key, (name = { scope: '', contentType, packetName, slot: undefined }));
    return name;
  }
}

function encode(all: Metadata | undefined): Uint8Array | undefined {
  if (all === undefined) return undefined;
  const builder = new MetadataBuilder();
  builder.setAll(all);
  return builder.encode();
}

/** A promise that a test settles. */
export interface Gate<T = void> {
  readonly promise: Promise<T>;
  readonly open: (value: T) => void;
  readonly fail: (error: unknown) => void;
}

export function gate<T = void>(): Gate<T> {
  let open: (value: T) => void = () => undefined;
  let fail: (error: unknown) => void = () => undefined;
  const promise = new Promise<T>((resolve, reject) => {
    open = resolve;
    fail = reject;
  });
  return { promise, open, fail };
}

/** Nothing may be held when a test is over: no permit, no mailbox space, no timer, no open account. */
export function expectNothingHeld<C extends HandlerContext>(harness: Harness<C>, ...links: FakeLink[]): void {
  expect(harness.dispatcher.heldBytes).toBe(0);
  expect(harness.permits.inUse).toBe(0);
  expect(harness.wheel.size).toBe(0);
  expect(harness.wheelErrors).toEqual([]);
  for (const link of links.length > 0 ? links : [harness.link]) {
    if (link.phase !== 'closed') expect(link.unansweredRequests).toBe(0);
    expect(link.waitingRecords).toBe(0);
  }
  for (const counters of harness.dispatcher.counters()) {
    expect(counters.running + counters.queued).toBe(0);
    expect(sumOf(counters)).toBe(counters.accepted);
  }
}

export function sumOf(counters: MessageCounters): number {
  const dropped = Object.values(counters.dropped).reduce((sum, count) => sum + count, 0);
  return counters.handled + counters.failed + dropped + counters.running + counters.queued;
}
