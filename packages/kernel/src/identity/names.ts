/**
 * Names that applications choose: of packets, channels, meshes and nodes.
 *
 * Owns the rule for every name. Leaves uniqueness to the registrations that use them.
 *
 * 1. A name is 1..255 bytes of UTF-8 without NUL, case-sensitive (MSG-005), and survives encoding unchanged.
 */

import { describeValue, ZLinkError } from '../errors/index.ts';
import { isWellFormed, utf8ByteLength } from './utf8.ts';

export const maxNameBytes = 255;

/** What a name must be, for people. */
export const nameRule = `1..${maxNameBytes} bytes of UTF-8 without NUL`;

export function isName(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value.length > 0 &&
    value.length <= maxNameBytes && // before the scans: a name can be no shorter in bytes than in units
    !value.includes('\0') &&
    isWellFormed(value) &&
    utf8ByteLength(value) <= maxNameBytes
  );
}

/** @throws ZLinkError `InvalidOperation` if `value` is no name */
export function requirePacketName(value: unknown): string {
  if (isName(value)) return value;
  throw new ZLinkError('InvalidOperation', `packet name ${describeValue(value)} is not ${nameRule}`);
}
