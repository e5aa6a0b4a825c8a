/**
 * Why a message that arrived is not taken, and what its sender is told.
 *
 * Owns the wording and the kinds. Leaves the decision to the dispatcher.
 */
import type { ErrorKindName } from '../errors/index.ts';
import type { MailboxLimits } from '../internal/execution/index.ts';
import type { DropReason } from './counters.ts';

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

export const closedIntake: Readonly<Record<IntakeRefusal, Refusal>> = {
  Unavailable: { reason: 'not_serving', kind: 'Unavailable', text: 'does not serve yet' },
  Rejected: { reason: 'shutdown', kind: 'Rejected', text: 'is draining' },
  ShuttingDown: { reason: 'shutdown', kind: 'ShuttingDown', text: 'is shutting down' },
};

export const nameless: Refusal = {
  reason: 'decode_error',
  kind: 'ProtocolError',
  text: 'got a message without a name',
};

export function tooLarge(messageBytes: number, limitBytes: number): Refusal {
  const text = `got a message of ${messageBytes} bytes, it takes at most ${limitBytes}`;
  return { reason: 'too_large', kind: 'ProtocolError', text };
}

/** To the caller it is another node's queue that is full (ERR-003). */
export function mailboxFull({ messages, bytes }: MailboxLimits): Refusal {
  const text = `has a full mailbox (limits: ${messages} messages, ${bytes} bytes)`;
  return { reason: 'backpressure', kind: 'Unavailable', text };
}
