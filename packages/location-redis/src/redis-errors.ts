/**
 * What ioredis and Redis report, in the words of a store.
 *
 * Owns the table of refusals and every `StoreError` that stems from Redis. Leaves waiting and repeating to redis-calls.ts.
 *
 * 1. `notApplied` only for what is certain: the command was never written, or Redis says that it did not run it.
 * 2. Nothing of a command is shown, be it a key, a value or a password: neither in the message nor in the driver's error,
 *    which is the cause.
 */
import { StoreError, type StoreErrorCode } from '@zlink/kernel/location';
import { boundedText, errorText } from '@zlink/kernel/observe';

/** Redis did not run the command, and may do so later. */
const REFUSALS = new Set([
  'BUSY',
  'CLUSTERDOWN',
  'LOADING',
  'MASTERDOWN',
  'MISCONF',
  'NOAUTH',
  'NOPERM',
  'NOREPLICAS',
  'OOM',
  'READONLY',
  'TRYAGAIN',
  'WRONGPASS',
]);

const LONGEST_REASON = 128;

/** By the state of a client: what it waits for when it has reported no error. */
const NOTHING_REPORTED: Readonly<Record<string, string>> = {
  connecting: 'still connecting',
  connect: 'no answer to the greeting',
  reconnecting: 'the last connection has ended, or was not made',
  ready: 'no time was left for the call',
  end: 'the client has been ended',
};

export type Failure =
  /** Nothing was written to the server: the connection was not there. */
  | { readonly kind: 'notSent' }
  /** The slot is served elsewhere, or on its way there. */
  | { readonly kind: 'moved' }
  | { readonly kind: 'ask'; readonly address: string }
  /** The server has become a replica. */
  | { readonly kind: 'demoted'; readonly error: StoreError }
  | { readonly kind: 'refused'; readonly error: StoreError }
  /** The connection ended with the command under way, or the script failed in a way nobody planned. */
  | { readonly kind: 'lost'; readonly error: StoreError };

export function failureOf(error: unknown): Failure {
  const text = textOf(error);
  if (text.startsWith("Stream isn't writeable")) return { kind: 'notSent' };
  if (!isReply(error)) return { kind: 'lost', error: lost(error) };
  const [code = '', slotOrWord = '', address = ''] = text.split(' ', 3);
  if (code === 'MOVED') return { kind: 'moved' };
  if (code === 'ASK' && slotOrWord !== '') return { kind: 'ask', address };
  const refusal = refusalOf(text);
  if (refusal === 'READONLY') return { kind: 'demoted', error: refused(refusal, error) };
  if (refusal === 'NOPERM' && / script\b/.test(text)) return { kind: 'lost', error: failed('NOPERM', error) };
  if (refusal !== undefined) return { kind: 'refused', error: refused(refusal, error) };
  return { kind: 'lost', error: failed(code, error) };
}

/** The server keeps no script with this hash. */
export function isUnknownScript(error: unknown): boolean {
  return textOf(error).startsWith('NOSCRIPT');
}

/** The server has no database with this number. */
export function isNoDatabase(error: unknown): boolean {
  return /DB index is out of range|invalid DB index/.test(textOf(error));
}

/**
 * @param status - of the client
 * @param cause - what was in the way, if anything was reported
 */
export function notUsable(address: string, status: string, cause: unknown): StoreError {
  const why = cause === undefined ? (NOTHING_REPORTED[status] ?? status) : reasonOf(cause);
  return new StoreError('unavailable', 'notApplied', `Redis at ${address} cannot be used: ${why}`, {
    cause: withoutCommand(cause),
  });
}

/** Reports of a client that say less than those before them. */
export function isVague(error: unknown): boolean {
  return /^(Connection is closed|Failed to refresh slots cache|All sentinels are unreachable)/.test(textOf(error));
}

export function timedOut(limitMs: number): StoreError {
  return new StoreError('timeout', 'unknown', `Redis gave no answer within ${limitMs} ms`);
}

export function abandoned(outcome: 'notApplied' | 'unknown', reason: unknown): StoreError {
  return new StoreError('timeout', outcome, 'aborted by the caller', { cause: reason });
}

export function ended(): StoreError {
  return new StoreError('unavailable', 'notApplied', 'the store is not open');
}

export function tooFewAcks(acked: number, wanted: number): StoreError {
  return new StoreError('unavailable', 'unknown', `${acked} of ${wanted} replicas confirmed the write`);
}

export function unexpectedReply(): StoreError {
  return new StoreError('incompatible', 'unknown', 'Redis answered what no script of this package answers');
}

export function isIncompatible(error: unknown): boolean {
  return error instanceof StoreError && error.code === 'incompatible';
}

/** The server's word for why it did not run the command; from inside a script, older servers wrap it. */
function refusalOf(text: string): string | undefined {
  const [first = ''] = text.split(' ', 1);
  if (REFUSALS.has(first)) return first;
  if (text.includes('max number of clients reached')) return 'maxclients';
  const inside = /@user_script:\s*\d+:\s*-?([A-Z]+)\b/.exec(text)?.[1];
  return inside !== undefined && REFUSALS.has(inside) ? inside : undefined;
}

/** Why there is no connection that can be used. */
function reasonOf(cause: unknown): string {
  const text = textOf(cause);
  if (isReply(cause)) return sayingOf(text);
  if (text.startsWith('Unknown RESP type')) return 'what answers there is no Redis, or wants TLS';
  if (text.startsWith('Connection is closed')) return 'it cannot be reached'; // a Cluster or Sentinel says no more
  return text === '' ? codeOf(cause) : boundedText(text, LONGEST_REASON); // several addresses in vain are an error without a text
}

/** Without what servers and proxies repeat of a command, which may be a password (2). */
function sayingOf(reply: string): string {
  if (reply.startsWith('NOAUTH')) return 'NOAUTH Authentication required'; // there is a text for people who write clients
  return boundedText(reply.split(/[,:]/, 1).join(), LONGEST_REASON);
}

function refused(refusal: string, cause: unknown): StoreError {
  return new StoreError('unavailable', 'notApplied', `Redis refused the command: ${refusal}`, {
    cause: withoutCommand(cause),
  });
}

function lost(cause: unknown): StoreError {
  return new StoreError('unavailable', 'unknown', 'the connection to Redis ended before the answer', {
    cause: withoutCommand(cause),
  });
}

/** A key of another type is data of somebody else; all else may have happened after the first write. */
function failed(code: string, cause: unknown): StoreError {
  const kind: StoreErrorCode = code === 'WRONGTYPE' ? 'incompatible' : 'unavailable';
  return new StoreError(kind, 'unknown', `Redis failed to run the command: ${code}`, { cause: withoutCommand(cause) });
}

/** 2: whoever prints an error prints all that its causes carry. */
function withoutCommand(cause: unknown): unknown {
  if (cause instanceof Error && 'command' in cause) delete cause.command;
  return cause;
}

function isReply(error: unknown): boolean {
  return (error as { readonly name?: unknown } | undefined)?.name === 'ReplyError'; // any value may be asked for a property
}

function codeOf(error: unknown): string {
  const code = (error as { readonly code?: unknown } | undefined)?.code; // as above
  return typeof code === 'string' ? code : errorText(error);
}

function textOf(error: unknown): string {
  const message = (error as { readonly message?: unknown } | undefined)?.message; // as above
  return typeof message === 'string' ? message : '';
}
