/**
 * The one error class of ZLink operations.
 *
 * Owns kind, code and the brand by which copies of this package know each other's errors. Leaves configuration
 * mistakes to configuration-error.ts, and the translation of foreign errors to the adapter that meets them.
 *
 * 1. The message is `[Kind] text` and the code is derived from the kind: neither can disagree with it.
 * 2. Recognition is by brand, never by `instanceof`: two installed copies of the package must agree.
 */

import { ErrorKind, type ErrorKindName } from './error-kind.ts';

const brand: unique symbol = Symbol.for('zlink.ZLinkError');

const codes: ReadonlyMap<string, `ZLINK_${string}`> = new Map(
  Object.keys(ErrorKind).map((kind) => [kind, `ZLINK_${kind.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase()}`]),
);

export class ZLinkError extends Error {
  /** What went wrong, as a name; the number is `ErrorKind[kind]`. */
  readonly kind: ErrorKindName;
  /** `ZLINK_NOT_FOUND` …: the kind in the form that Node.js errors use. */
  readonly code: `ZLINK_${string}`;
  /** True when the request had left this process, so the remote handler may have run. */
  readonly submitted: boolean;

  /**
   * @param kind - a name of `ErrorKind`
   * @param message - names the thing and the limit; `[kind] ` is put before it
   * @throws ZLinkError `InvalidOperation` if the kind is none of `ErrorKind`
   * @see ERR-001, ERR-002
   */
  constructor(kind: ErrorKindName, message: string, options?: { cause?: unknown; submitted?: boolean }) {
    const code = codes.get(kind);
    // Plain JavaScript can pass anything; an unknown kind would have no number on the wire.
    if (code === undefined) throw new ZLinkError('InvalidOperation', 'kind of a ZLinkError is no ErrorKind');
    super(`[${kind}] ${message}`, options?.cause === undefined ? undefined : { cause: options.cause });
    this.kind = kind;
    this.code = code;
    this.submitted = options?.submitted ?? false;
  }
}

// On the prototype, so that neither logging nor comparing an error shows them.
Object.defineProperty(ZLinkError.prototype, 'name', { value: 'ZLinkError', configurable: true, writable: true });
Object.defineProperty(ZLinkError.prototype, brand, { value: true });

/** True for a ZLinkError of this or of another copy of the package; never throws, whatever a handler threw. */
export function isZLinkError(x: unknown): x is ZLinkError {
  if (typeof x !== 'object' || x === null) return false;
  try {
    return (x as { readonly [brand]?: unknown })[brand] === true; // any object may be asked for any property
  } catch {
    return false; // a proxy that refuses to be read is none of ours
  }
}
