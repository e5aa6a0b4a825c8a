/**
 * What a topic gets from the host it lives in, and what it owes the host in return.
 *
 * Owns the contract between composer and topics. The framework composes all topics; an application that wants one topic
 * only can be its own composer.
 */
import type { CodecTable } from '../../codec/index.ts';
import type { FilterEntry, LastHandler, ServiceProvider } from '../../dispatch/index.ts';
import type { Problems } from '../../errors/index.ts';
import type { Logger, MessageCounters, UnhandledListener } from '../../observe/index.ts';
import type { JobPermits } from '../execution/index.ts';
import type { Clock, DeadlineWheel } from '../time/index.ts';
import type { Transport } from '../transport/index.ts';
import type { NameIndex } from '../wire/index.ts';

export interface HostParts {
  readonly clock: Clock;
  readonly wheel: DeadlineWheel;
  readonly permits: JobPermits;
  readonly codecs: CodecTable;
  readonly names: NameIndex;
  readonly transport: Transport;
  /** Of `freezeFilters`, which reports their mistakes with all others before anything is bound. */
  readonly filters: readonly FilterEntry[];
  /** Shared by all owners: what ran last when the event loop stood still. */
  readonly lastHandler: LastHandler;
  readonly services: ServiceProvider | undefined;
  readonly logger: Logger;
  readonly exposeErrorMessages: boolean;
  /** Never throws: the composer guards the application's listener once, by `guardUnhandled`. */
  readonly onUnhandled: UnhandledListener;
  readonly requestTimeoutMs: number;
  readonly sendTimeoutMs: number;
  readonly bindHost: string;
  readonly advertiseHost: string | undefined;
}

export interface ListenerStatus {
  readonly kind: 'ROUTE_MESH' | 'CLIENT_SERVER' | 'FANOUT' | 'STREAM';
  readonly name: string;
  readonly endpoint: string;
  readonly since: Date;
}

/** Defaults that a topic needs to check its own configuration. */
export interface ValidationContext {
  readonly problems: Problems;
  readonly bindHost: string;
  readonly advertiseHost: string | undefined;
  readonly services: ServiceProvider | undefined;
  readonly hasLocationStore: boolean;
  /** Why this host cannot dial, if so. */
  readonly dialProblem?: string | undefined;
}

/**
 * The stages of a topic, called by the composer in this order.
 *
 * S1 `validate` touches nothing outside; all mistakes of all topics are reported together (ERR-002).
 * S2 After a failing stage the composer calls `close`; it undoes whatever was reached.
 */
export interface Topic {
  validate(context: ValidationContext): void;
  /** Binds listeners; inbound messages are refused until `serve`. Outbound calls work from here on (HOST-004). */
  open(parts: HostParts): Promise<void>;
  serve(): void;
  /** No new work any more: not from outside, and from inside only for handlers that still run. */
  drain(): void;
  /** Resolves when all accepted work has ended. */
  drained(): Promise<void>;
  /** Ends what still runs with `ShuttingDown`. */
  abort(): void;
  close(lingerMs: number): Promise<void>;
  listeners(): readonly ListenerStatus[];
  counters(): readonly MessageCounters[];
}
