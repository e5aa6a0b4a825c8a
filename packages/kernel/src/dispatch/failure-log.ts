/**
 * Where failures of dispatches are told.
 *
 * Owns which failures are dispatch errors, with which reason and action (TRACE-006), and what the application's hook is told.
 * Leaves counting to the counters, answers to the dispatcher, and what a broken hook may do to `guardUnhandled`.
 *
 * 1. Never throws: a broken logger ends in the rate-limited log, and the hook is a guarded one.
 * 2. Records name packet, reason and kind of error: no payload, no metadata, no stack (TRACE-004).
 * 3. One line per second, owner, kind of message, reason and packet; a packet that nobody registered is the peer's choice and is no key.
 * 4. At level `off` nothing is recorded; the hook is told all the same (TRACE-010).
 */
import { describeValue } from '../errors/index.ts';
import {
  type DispatchErrorReason,
  errorText,
  type FlowPlace,
  type FollowedMessage,
  type MessageFlow,
  type RateLimitedLog,
  type UnhandledListener,
} from '../observe/index.ts';
import type { DropReason, Verb } from './counters.ts';

export interface FailedMessage extends FollowedMessage {
  readonly verb: Verb;
}

export interface FailureLogParts {
  readonly flow: MessageFlow;
  readonly log: RateLimitedLog;
  readonly onUnhandled: UnhandledListener;
}

/** Which drops are dispatch errors; what is left out is none: a filter's stop, a caller that no longer waits, time that is over. */
const ERROR_REASONS: { readonly [R in DropReason]?: DispatchErrorReason } = {
  backpressure: 'backpressure',
  decode_error: 'decode_error',
  invalid_frame: 'invalid_frame',
  no_handler: 'no_handler',
  not_serving: 'stale_target',
  reply_path_missing: 'reply_path_missing',
  shutdown: 'shutdown',
  too_large: 'invalid_frame',
};

export class FailureLog {
  readonly #owner: string;
  readonly #where: string;
  readonly #place: FlowPlace;
  readonly #flow: MessageFlow;
  readonly #log: RateLimitedLog;
  readonly #onUnhandled: UnhandledListener;

  constructor(owner: string, where: string, place: FlowPlace, { flow, log, onUnhandled }: FailureLogParts) {
    this.#owner = owner;
    this.#where = where;
    this.#place = place;
    this.#flow = flow;
    this.#log = log;
    this.#onUnhandled = onUnhandled;
  }

  /** A message was not handled for a reason that is not the application's. */
  dropped(message: FailedMessage, cause: DropReason, text: string): void {
    const reason = ERROR_REASONS[cause];
    if (reason !== undefined) this.#write(cause, message, reason, text);
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
    if (this.#flow.isOff) return; // 4
    const isAnswered = message.verb === 'request' && reason !== 'reply_path_missing';
    this.#flow.fail(`dispatch ${this.#where} ${message.verb} ${key}`, this.#place, message, {
      kind: message.verb,
      reason,
      action: isAnswered ? 'reply_error' : 'drop',
      owner: this.#owner,
      text,
    });
  }
}
