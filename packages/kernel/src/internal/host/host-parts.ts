/**
 * What a topic gets from the host it lives in, and what it owes the host in return.
 *
 * Owns the contract between composer and topics. The framework composes all topics; an application that wants one topic
 * only can be its own composer.
 */
import type { CallTerms } from '../../call/index.ts';
import type { DispatcherParts, ServiceProvider } from '../../dispatch/index.ts';
import type { Problems } from '../../errors/index.ts';
import type { HostMeter, MessageBacklog, MessageCounters, Monitor, SnapshotSections } from '../../observe/index.ts';
import type { Discovery } from '../discovery/index.ts';
import type { EventTransport, Transport } from '../transport/index.ts';

/** All of it is the composer's: it also closes what has to be closed, after the topics (transport, events, wheel, log). */
export interface HostParts extends DispatcherParts, CallTerms {
  readonly transport: Transport;
  readonly events: EventTransport;
  readonly monitor: Monitor;
  /** Undefined without a Location Store: endpoints are configured by hand, and nothing is published. */
  readonly discovery: Discovery | undefined;
  /** Undefined: nothing is measured. */
  readonly meter: HostMeter | undefined;
  readonly bindHost: string;
  readonly advertiseHost: string | undefined;
}

export interface ListenerStatus {
  readonly kind: 'ROUTE_MESH' | 'CLIENT_SERVER' | 'FANOUT' | 'STREAM';
  readonly name: string;
  readonly endpoint: string;
  readonly since: Date;
}

/** What topics show of themselves. */
export interface TopologySections {
  readonly routeMeshes: SnapshotSections['routeMeshes'][number][];
  readonly clientServerChannels: SnapshotSections['clientServerChannels'][number][];
  readonly fanoutChannels: SnapshotSections['fanoutChannels'][number][];
  /** Of messages to their handlers, of all topics together. */
  readonly backlog: MessageBacklog;
}

/** Defaults that a topic needs to check its own configuration. */
export interface ValidationContext {
  readonly problems: Problems;
  readonly bindHost: string;
  readonly advertiseHost: string | undefined;
  /** What could be advertised, told to who binds a wildcard without saying it (NET-001). */
  readonly advertiseHint?: string | undefined;
  readonly services: ServiceProvider | undefined;
  /** Whether others can be discovered, and are told of what is bound here (CS-002, MESH-003). */
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
  /**
   * Publishes what was bound, as `starting`, and begins to watch for others; called when everything of the host is bound.
   * Does nothing without a store. Withdrawing what was published is the composer's part.
   */
  announce(signal: AbortSignal): Promise<void>;
  serve(): void;
  /** No new work any more: not from outside, and from inside only for handlers that still run. */
  drain(): void;
  /** Resolves when all accepted work has ended. */
  drained(): Promise<void>;
  /** Ends what still runs with `ShuttingDown`. */
  abort(): void;
  close(lingerMs: number): Promise<void>;
  /** The start of its host has failed: it shows so from here on; its end follows (MON-004). */
  fail(): void;
  listeners(): readonly ListenerStatus[];
  counters(): readonly MessageCounters[];
  /** Adds what it shows now, in every stage; makes nothing and waits for nothing (MON-002). */
  showIn(sections: TopologySections): void;
}
