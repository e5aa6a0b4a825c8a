/**
 * What the transport suite needs to know about an implementation.
 *
 * Owns the contract between suite and implementation.
 */
import type { JobPermits } from '@zlink/kernel/internal/execution';
import type { Clock, RandomSource } from '@zlink/kernel/internal/time';
import type { Transport } from '@zlink/kernel/internal/transport';

/** What the suite fixes for each transport; the harness passes it on. */
export interface TransportOverrides {
  readonly clock: Clock;
  readonly permits: JobPermits;
  readonly budgetBytes: number;
  readonly maxWindowBytes: number;
  readonly random: RandomSource;
}

/** Faults that only an implementation can cause; they concern all its connections. */
export interface TransportFaults {
  /** Breaks the connections without a word. */
  cut(): void;
  /** Nothing arrives any more, in either direction, and nobody is told. */
  blackhole(): void;
  restore(): void;
}

export interface TransportHarness {
  /** Makes one host's transport. Transports of one harness reach each other. */
  makeTransport(overrides: TransportOverrides): Transport;
  /** An address to bind, with port 0. */
  address(): string;
  /** An address to bind again and again, which nobody else gets in between; by default one of `address`. */
  addressToKeep?(): Promise<string>;
  /** Turns of the event loop after which what was sent has arrived, if nothing holds it up. */
  readonly quietTurns: number;
  /**
   * Resolves when the threads that carry messages beside the event loop have done what was there for them to do. The time
   * of the suite moves on its own: without this it would run away from threads that a busy machine lets wait.
   */
  readonly threadsCaughtUp?: () => Promise<void>;
  /** Whether a receiver sees the very memory of the sender. */
  readonly sharesMemory: boolean;
  /** Real time after which a case gives up waiting for something; default 30,000. */
  readonly giveUpMs?: number;
  /** Without them connections are broken through the port. */
  readonly faults?: TransportFaults;
  close(): Promise<void>;
}

export type TransportHarnessFactory = () => Promise<TransportHarness>;
