/**
 * Whether an owner takes a message that arrived, what it holds of them, and what a sender is told that is refused.
 *
 * Owns the mailbox, the size limit and whether intake is open. Leaves running, counting and answering to the dispatcher.
 *
 * 1. Space is reserved before a job exists, whole or not at all, and released when everything of it is over (JOBQ-006).
 * 2. What an empty mailbox could not hold either is no full mailbox: its sender must not be told to come again.
 */
import type { ErrorKindName } from '../errors/index.ts';
import { Mailbox, type MailboxLimits } from '../internal/execution/index.ts';
import { RECORD_COST_BYTES } from '../internal/wire/limits.ts';
import type { DropReason } from './counters.ts';

/** Two limits of what one owner holds; a message above the second alone is never taken (JOBQ-006). */
const defaultMailboxLimits: MailboxLimits = { messages: 65_536, bytes: 268_435_456 };

/**
 * Why an owner takes nothing new, as the kind that a caller sees.
 * - `Unavailable`: the host has not finished its start (HOST-004)
 * - `Rejected`: this server drains; others may serve the caller (CS-008)
 * - `ShuttingDown`: the host ends
 */
export type IntakeRefusal = 'Unavailable' | 'Rejected' | 'ShuttingDown';

export interface Refusal {
  readonly reason: DropReason;
  readonly kind: ErrorKindName;
  /** Follows the owner's name. */
  readonly text: string;
}

export class Intake {
  readonly #mailbox: Mailbox;
  readonly #largestCostBytes: number;
  #closed: IntakeRefusal | undefined = undefined;
  #idleWaiters: (() => void)[] = [];

  /** @param maxMessageBytes - largest payload plus metadata of one message; 0: no limit */
  constructor(maxMessageBytes: number, limits: Partial<MailboxLimits>) {
    this.#mailbox = new Mailbox({ ...defaultMailboxLimits, ...limits });
    this.#largestCostBytes = maxMessageBytes === 0 ? Infinity : maxMessageBytes + RECORD_COST_BYTES;
  }

  get heldBytes(): number {
    return this.#mailbox.bytes;
  }

  open(): void {
    this.#closed = undefined;
  }

  close(refusal: IntakeRefusal): void {
    this.#closed = refusal;
  }

  /** Reserves space for a message, or says why it is not taken. */
  take(costBytes: number): Refusal | undefined {
    if (this.#closed !== undefined) return closedIntake[this.#closed];
    if (costBytes > this.#largestCostBytes) return tooLarge(costBytes, this.#largestCostBytes);
    const { limits } = this.#mailbox;
    if (costBytes > limits.bytes) return neverFits(costBytes, limits); // 2
    if (!this.#mailbox.tryReserve(costBytes)) return mailboxFull(limits);
    return undefined;
  }

  /** Everything of a message that was taken is over. */
  release(costBytes: number): void {
    this.#mailbox.release(costBytes);
    if (this.#mailbox.messages === 0 && this.#idleWaiters.length > 0) this.#becomeIdle();
  }

  /** Resolves when nothing is held any more. */
  idle(): Promise<void> {
    if (this.#mailbox.messages === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idleWaiters.push(resolve));
  }

  #becomeIdle(): void {
    const waiters = this.#idleWaiters;
    this.#idleWaiters = [];
    for (const resolve of waiters) resolve();
  }
}

const closedIntake: Readonly<Record<IntakeRefusal, Refusal>> = {
  Unavailable: { reason: 'not_serving', kind: 'Unavailable', text: 'does not serve yet' },
  Rejected: {
    reason: 'shutdown',
    kind: 'Rejected',
    text: 'takes nothing new (the server drains; the handler did not run)',
  },
  ShuttingDown: { reason: 'shutdown', kind: 'ShuttingDown', text: 'is shutting down' },
};

function tooLarge(costBytes: number, largestCostBytes: number): Refusal {
  const [messageBytes, limitBytes] = [costBytes - RECORD_COST_BYTES, largestCostBytes - RECORD_COST_BYTES];
  const text = `got a message of ${messageBytes} bytes, it takes at most ${limitBytes}`;
  return { reason: 'too_large', kind: 'ProtocolError', text };
}

function neverFits(costBytes: number, { bytes }: MailboxLimits): Refusal {
  const text = `got a message that takes ${costBytes} bytes of its mailbox, which has ${bytes}`;
  return { reason: 'too_large', kind: 'ProtocolError', text };
}

/** To the caller it is another node's queue that is full (ERR-003). */
function mailboxFull({ messages, bytes }: MailboxLimits): Refusal {
  const text = `has a full mailbox (limits: ${messages} messages, ${bytes} bytes)`;
  return { reason: 'backpressure', kind: 'Unavailable', text };
}
