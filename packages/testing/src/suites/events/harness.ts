/**
 * What the suite of event transports needs to know about an implementation.
 *
 * Owns the contract between suite and implementation.
 */
import type { EventTransport } from '@zlink/kernel/internal/transport';

export interface EventHarness {
  /** Makes one host's transport. Transports of one harness reach each other. */
  makeTransport(): EventTransport;
  /** An address to bind, with port 0. */
  address(): string;
  /** An address to bind again and again, which nobody else gets in between; by default one of `address`. */
  addressToKeep?(): Promise<string>;
  /** Turns of the event loop after which what was sent has arrived, if nothing holds it up. */
  readonly quietTurns: number;
  /**
   * Messages of the largest size that are kept for a subscriber that does not read: `least` are promised, and more than `most`
   * would be memory without a bound.
   */
  readonly keptMessages: { readonly least: number; readonly most: number };
  /** Real time after which a case gives up waiting for something; default 30,000. */
  readonly giveUpMs?: number;
  close(): Promise<void>;
}

export type EventHarnessFactory = () => Promise<EventHarness>;
