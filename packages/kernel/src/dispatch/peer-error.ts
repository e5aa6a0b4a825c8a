/**
 * What a peer may see of an error (DISP-004).
 *
 * Owns the translation of anything thrown into kind and text, and the error reply that needs no dispatch. Leaves
 * reporting the error on this side to the failure log.
 *
 * 1. Only kind and text cross: no cause, no stack, no code of another library (ERR-004).
 * 2. The text of an error that is no ZLinkError crosses only if the host allows it; a ConfigurationError's never (ERR-005).
 *    What quotes a message crosses to who has sent that message alone (TRACE-004).
 * 3. Never throws, whatever was thrown.
 */
import type { PayloadSink } from '../codec/index.ts';
import { ConfigurationError, ErrorKind, type ErrorKindName, isZLinkError } from '../errors/index.ts';
import { recordTextOf } from '../errors/record-text.ts';
import type { OutboundRecord } from '../internal/transport/index.ts';
import { RecordKind } from '../internal/wire/record.ts';
import { boundedText, errorText } from '../observe/index.ts';

/** Longest text in an error reply, in characters. */
const textLimit = 1_024;
const foreignTextLimit = 256;

/** Ends a text that withholds its cause: this host has logged it. */
export const CAUSE_IN_LOG = '; its log has the cause';

export interface PeerError {
  readonly kind: ErrorKindName;
  readonly text: string;
}

/** @param whatFailed - names the failed thing; the text of an exposed error follows it, else where to look for it */
export function peerErrorOf(thrown: unknown, exposeErrorMessages: boolean, whatFailed: string): PeerError {
  const known = typedErrorOf(thrown);
  if (known !== undefined) return known;
  const isExposed = exposeErrorMessages && !(thrown instanceof ConfigurationError); // 2
  return {
    kind: 'InternalFailure',
    text: isExposed ? `${whatFailed}: ${errorText(thrown, foreignTextLimit)}` : `${whatFailed}${CAUSE_IN_LOG}`,
  };
}

/**
 * What was thrown, if it is a ZLinkError: those are meant for the peer.
 *
 * @param mayQuote - whether the peer has sent what the text may quote (2)
 */
export function typedErrorOf(thrown: unknown, mayQuote = false): PeerError | undefined {
  if (!isZLinkError(thrown)) return undefined;
  try {
    const { kind } = thrown;
    const message = (mayQuote ? undefined : recordTextOf(thrown)) ?? thrown.message;
    // Another copy of the package may know kinds that have no number here.
    if (!Object.hasOwn(ErrorKind, kind) || typeof message !== 'string') return undefined;
    const prefix = `[${kind}] `;
    return { kind, text: boundedText(message.startsWith(prefix) ? message.slice(prefix.length) : message, textLimit) };
  } catch {
    return undefined; // 3: a subclass with a getter that throws
  }
}

/** An error reply to a request that was never accepted; holds nothing but a few words. */
export class ErrorReply implements OutboundRecord {
  readonly kind = RecordKind.error;
  readonly name = undefined;
  readonly deadlineAtMs = 0;
  readonly metadata = undefined;
  readonly trace = undefined;
  readonly correlation: number;
  readonly errorNumber: number;
  costBytes = 0;
  readonly #text: string;

  constructor(correlation: number, error: PeerError) {
    this.correlation = correlation;
    this.errorNumber = ErrorKind[error.kind];
    this.#text = error.text;
  }

  encode(sink: PayloadSink): void {
    sink.writeText(this.#text);
  }

  onAdmitted(): void {
    // Nobody waits for it.
  }

  onRefused(): void {
    // The link has ended, and with it the caller's waiting.
  }
}
