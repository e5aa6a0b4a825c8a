/**
 * The closed set of reasons for which a ZLink operation fails.
 *
 * Owns the numbers; they are the same on the wire (ERR-001). Leaves the error object to zlink-error.ts.
 *
 * 1. Numbers are contiguous from 0 and never reused.
 */

export const ErrorKind = Object.freeze({
  /** No such mesh, node, channel, handler, object or session. */
  NotFound: 0,
  /** The name or id is taken. */
  AlreadyExists: 1,
  /** The object exists with another type. */
  TypeMismatch: 2,
  /** This process lacks the role that the operation needs. */
  NotConfigured: 3,
  /** The target refused: seal, filter, policy or drain. */
  Rejected: 4,
  /** The target is known but cannot be used now. */
  Unavailable: 5,
  /** A resource of the source, or placement capacity, is exhausted. */
  CapacityExceeded: 6,
  /** The time of the operation ran out. */
  DeadlineExceeded: 7,
  /** This host is stopping. */
  ShuttingDown: 8,
  /** Bytes, metadata or a payload broke the protocol. */
  ProtocolError: 9,
  /** A wrong argument, a reused call or a wrong state; nothing was sent. */
  InvalidOperation: 10,
  /** State that was promised to be kept is gone. */
  DataLost: 11,
  /** A handler or the framework itself failed. */
  InternalFailure: 12,
} as const);

export type ErrorKindName = keyof typeof ErrorKind;

// keys() keeps the declaration order (1) but not the key type.
const namesByNumber = Object.keys(ErrorKind) as ErrorKindName[];

/** The kind that a number from the wire stands for; `undefined` for a number this version does not know. */
export function errorKindOf(n: number): ErrorKindName | undefined {
  return namesByNumber[n];
}
