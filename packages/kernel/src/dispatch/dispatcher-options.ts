/** What a dispatcher is made from: the parts it shares with all others of its host, and what is particular to its owner. */
import type { CodecTable } from '../codec/index.ts';
import type { JobPermits, MailboxLimits } from '../internal/execution/index.ts';
import type { Clock, DeadlineWheel } from '../internal/time/index.ts';
import type { NameIndex } from '../internal/wire/names.ts';
import type { MessageFlow, RateLimitedLog, UnhandledListener } from '../observe/index.ts';
import type { FilterEntry } from './filter-chain.ts';
import type { HandlerTable } from './handler-registry.ts';
import type { LastHandler } from './last-handler.ts';
import type { ServiceProvider } from './scope.ts';
import type { DispatchSurface } from './surface.ts';
import type { NextTurn } from './turn-budget.ts';

/** Handlers of one owner that may overlap (DISP-005). */
export const DEFAULT_CONCURRENCY = 256;

export interface DispatcherParts {
  readonly clock: Clock;
  readonly wheel: DeadlineWheel;
  readonly permits: JobPermits;
  readonly codecs: CodecTable;
  readonly names: NameIndex;
  /** Of `freezeFilters`, which reports their mistakes with all others before anything is bound. */
  readonly filters: readonly FilterEntry[];
  /** Shared by all owners: what ran last when the event loop stood still. */
  readonly lastHandler: LastHandler;
  readonly services: ServiceProvider | undefined;
  readonly flow: MessageFlow;
  /** The host's one: whatever can happen often is written to it. */
  readonly log: RateLimitedLog;
  /** Whether peers see the text of errors that are no ZLinkError. */
  readonly exposeErrorMessages: boolean;
  /** Never throws: the composer guards the application's listener once, by `guardUnhandled`. */
  readonly onUnhandled: UnhandledListener;
}

export interface DispatcherOptions {
  /** Names the owner in counters. */
  readonly owner: string;
  /** Names the owner in messages: `channel "billing"`. */
  readonly where: string;
  /** What handlers and filters see: `channelSurface`, `nodeSurface` or `fanoutSurface`. */
  readonly surface: DispatchSurface;
  readonly handlers: HandlerTable;
  /** Handlers that may run at the same time; 1: strictly one after the other. */
  readonly concurrency: number;
  /** Largest payload plus metadata of one message; 0 (default): no limit. */
  readonly maxMessageBytes?: number;
  /** Defaults: 65_536 messages, 268_435_456 bytes. */
  readonly mailboxLimits?: Partial<MailboxLimits>;
  readonly parts: DispatcherParts;
  /** A hop to a later turn of the event loop; default `setImmediate`; tests take turns themselves. */
  readonly nextTurn?: NextTurn;
}
