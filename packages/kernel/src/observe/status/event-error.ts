/**
 * What an event says of an error (MON-020).
 *
 * 1. At most 256 characters on one line, no stack, no inside of objects.
 */
import { type ErrorKindName, isZLinkError } from '../../errors/index.ts';
import { boundedText, errorText } from '../error-text.ts';

export interface EventError {
  readonly kind: ErrorKindName;
  /** In the words of whoever has failed: `ZLINK_UNAVAILABLE`, `timeout`, `ECONNREFUSED`. */
  readonly code: string;
  /** At most 256 characters, no stack. */
  readonly message: string;
}

const CODE_LIMIT = 64;

/** @param kind - of whatever is no error of ours */
export function eventError(thrown: unknown, kind: ErrorKindName = 'InternalFailure'): EventError {
  const message = errorText(thrown);
  if (isZLinkError(thrown)) return { kind: thrown.kind, code: thrown.code, message };
  return { kind, code: boundedText(readCode(thrown), CODE_LIMIT), message };
}

function readCode(thrown: unknown): string {
  try {
    const { code, name } = thrown as { readonly code?: unknown; readonly name?: unknown }; // any value may be asked
    if (typeof code === 'string') return code;
    return typeof name === 'string' ? name : 'unknown';
  } catch {
    return 'unknown'; // null, a getter or proxy that throws
  }
}
