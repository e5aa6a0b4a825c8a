/**
 * What went wrong in libzmq, said in the words of this library.
 *
 * Owns the translation of error codes and events. The only file that knows them: no error object, code or engine word
 * leaves the package (ERR-004).
 */
import { ZLinkError } from '@zlink/kernel/errors';

/** Why a connection did not get through its handshake. */
export type HandshakeFault =
  | 'accessRefused' // by the admission check of the accepting side
  | 'handshakeIncomplete' // broken off, or not done in time: libzmq does not tell these apart
  | 'securityMismatch' // one side is secured, the other is not
  | 'wrongKey';

const INTERNAL_FAULT = 'internal fault of this side';
const OUT_OF_DESCRIPTORS = 'too many open connections or files';
export const CONNECTION_LOST = 'connection lost';
export const NOT_CONNECTED = 'no connection: nobody listens there or it cannot be reached';
export const NOT_A_PEER = 'the other side is no peer or is of another version';

/** What a person reads when a dialled connection fails in its handshake. */
export function handshakeText(fault: HandshakeFault): string {
  switch (fault) {
    case 'accessRefused':
      return 'the other side refused access';
    case 'handshakeIncomplete':
      return 'the other side did not complete the handshake';
    case 'securityMismatch':
      return 'one side is secured and the other is not';
    case 'wrongKey':
      return 'keys of the two sides do not fit';
  }
}

export function handshakeFault(eventType: string, error: unknown): HandshakeFault {
  const code = codeOf(error);
  if (eventType === 'handshake:error:auth') return 'accessRefused';
  if (code === 'ERR_ZMTP_MECHANISM_MISMATCH') return 'securityMismatch';
  if (code === 'ERR_ZMTP_CRYPTOGRAPHIC' || code === 'ERR_ZMTP_KEY_EXCHANGE') return 'wrongKey';
  return 'handshakeIncomplete';
}

/** Why a message could not be handed over to a connection. */
export function sendFailureText(error: unknown): string {
  switch (codeOf(error)) {
    case 'EAGAIN':
    case 'EBADF':
    case 'EHOSTUNREACH':
      return CONNECTION_LOST;
    default:
      return 'message could not be handed over to the connection';
  }
}

/** Why a connection could not even be tried. */
export function dialFailureText(error: unknown): string {
  switch (codeOf(error)) {
    case 'EMFILE':
    case 'ENFILE':
      return OUT_OF_DESCRIPTORS;
    default:
      return 'connection could not be tried';
  }
}

/** Why a pipe ends when libzmq errs, or an owner throws, where neither is expected. The error itself goes to the log. */
export function faultText(error: unknown): string {
  switch (codeOf(error)) {
    case 'EMFILE':
    case 'ENFILE':
      return OUT_OF_DESCRIPTORS;
    default:
      return INTERNAL_FAULT;
  }
}

export function bindError(address: string, error: unknown): ZLinkError {
  switch (codeOf(error)) {
    case 'EADDRINUSE':
      return new ZLinkError('AlreadyExists', `address ${address} is in use`);
    case 'EACCES':
      return new ZLinkError('Rejected', `this process may not bind ${address}`);
    case 'EADDRNOTAVAIL':
    case 'EAFNOSUPPORT':
    case 'EINVAL':
    case 'ENODEV':
    case 'EPROTONOSUPPORT':
      return new ZLinkError('InvalidOperation', `${address} is no address of this machine`);
    case 'EMFILE':
    case 'ENFILE':
      return new ZLinkError('CapacityExceeded', `too many open files to bind ${address}`);
    default:
      return new ZLinkError('Unavailable', `${address} cannot be bound`);
  }
}

/** The code for a log record, where it may go (ERR-004). */
export function nativeCode(error: unknown): string {
  return codeOf(error);
}

function codeOf(error: unknown): string {
  // Not `instanceof Error`: a native error may come from another realm.
  const code: unknown = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : '';
}
