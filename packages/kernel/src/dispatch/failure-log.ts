/**
 * Where failures of dispatches are told.
 *
 * Owns the log records and what the application's hook is told. Leaves counting to the counters, answers to the
 * dispatcher, and what a broken hook may do to `guardUnhandled`.
 *
 * 1. Never throws: a broken logger ends in the rate-limited log, and the hook is a guarded one.
 * 2. Records name packet, reason and kind of error: no payload, no metadata, no stack (TRACE-004).
 * 3. One line per second, owner, reason and packet; a packet that nobody registered is the peer's choice and is no key.
 */
import { describeValue } from '../errors/index.ts';
import { errorText, type RateLimitedLog, type UnhandledListener } from '../observe/index.ts';
import type { DropReason, Verb } from './counters.ts';

export type DispatchErrorReason = DropReason | 'handler_exception';

export interface FailedMessage {
  readonly verb: Verb;
  readonly packetName: string;
}

export class FailureLog {
  readonly #owner: string;
  readonly #where: string;
  readonly #log: RateLimitedLog;
  readonly #onUnhandled: UnhandledListener;

  constructor(owner: string, where: string, log: RateLimitedLog, onUnhandled: UnhandledListener) {
    this.#owner = owner;
    this.#where = where;
    this.#log = log;
    this.#onUnhandled = onUnhandled;
  }

  /** A message was not handled for a reason that is not the application's. */
  dropped(message: FailedMessage, reason: DispatchErrorReason, text: string): void {
    this.#write(reason, message, reason, text);
  }

  /** Code of the application threw. A typed answer to a caller is logged, but is not unhandled. */
  threw(message: FailedMessage, error: unknown, isAnswer: boolean): void {
    this.#write(`handler_exception ${message.packetName}`, message, 'handler_exception', errorText(error));
    if (!isAnswer) this.#onUnhandled(error, { where: this.#handlerOf(message) });
  }

  /** The message itself was handled, or had failed before. */
  disposeFailed(message: FailedMessage, error: unknown): void {
    this.#log.warn(`dispatch ${this.#where} dispose ${message.packetName}`, {
      message: 'disposing after a handler failed',
      owner: this.#owner,
      packet_name: message.packetName,
      error: errorText(error),
    });
    this.#onUnhandled(error, { where: `disposal after ${this.#handlerOf(message)}` });
  }

  /** For the caller: whose handler failed, and nothing of why (DISP-004). */
  failureOf(message: FailedMessage): string {
    return `${this.#handlerOf(message)} failed`;
  }

  /** For the caller, as `failureOf`: whose result could not be sent. */
  unsentReplyOf(message: FailedMessage): string {
    return `reply of ${this.#handlerOf(message)} could not be sent`;
  }

  #handlerOf(message: FailedMessage): string {
    return `${message.verb} handler of packet ${describeValue(message.packetName)} in ${this.#where}`;
  }

  #write(key: string, message: FailedMessage, reason: DispatchErrorReason, text: string): void {
    this.#log.warn(`dispatch ${this.#where} ${key}`, {
      eventId: 'zlink.dispatch_error',
      outcome: 'failed',
      owner: this.#owner,
      reason,
      action: message.verb === 'request' ? 'reply_error' : 'drop',
      message_kind: message.verb,
      packet_name: message.packetName,
      error: text,
    });
  }
}
