/**
 * What a listener may bind and under which name it may be advertised (NET-001, HOSTREG-003).
 *
 * Owns the rules of both options and their wording. Leaves the syntax of a host to `endpoint`, and whether a wildcard has
 * an advertised host beside it to whoever knows the whole listener.
 *
 * 1. Whatever port a listener gets, its advertised endpoint fits into the 255 bytes that the wire has for it.
 */
import type { Problems } from '../errors/index.ts';
import { isHost, isWildcardHost } from './endpoint.ts';

/** 255 bytes without `tcp://` and `:65535`; an IPv6 address, the only host with brackets around it, is far shorter. */
const maxAdvertisedHostBytes = 243;

export function checkBindHost(option: string, value: unknown, problems: Pick<Problems, 'add'>): void {
  if (!isHost(value)) problems.add(option, value, 'a host name, an IP address or *');
}

export function checkAdvertiseHost(option: string, value: unknown, problems: Pick<Problems, 'add'>): void {
  if (!isHost(value) || isWildcardHost(value)) {
    problems.add(option, value, 'a host name or an IP address, no wildcard');
  } else if (value.length > maxAdvertisedHostBytes) {
    problems.add(option, value, `up to ${maxAdvertisedHostBytes} bytes`); // 1: hosts are ASCII
  }
}
