/**
 * From an address as configured to addresses that libzmq connects or binds without asking a name server.
 *
 * Owns resolving and the canonical spelling. Leaves the syntax to kernel's endpoints.
 *
 * 1. Names are resolved here, at each attempt anew (CORE-009): libzmq would do it on its I/O thread and stop all
 *    traffic of the host meanwhile.
 * 2. Addresses come out as libzmq spells them in its events, IPv4 never in its IPv6 form.
 */
import { lookup } from 'node:dns/promises';
import { isIP, SocketAddress } from 'node:net';
import { type Endpoint, formatEndpoint, isWildcardHost, parseEndpoint } from '@zlink/kernel/identity';

export type DialTargets =
  | { readonly ok: true; readonly addresses: readonly [string, ...string[]] }
  | { readonly ok: false; readonly reason: string };

/** Never rejects and never settles within the calling turn. */
export async function resolveDial(address: string): Promise<DialTargets> {
  const endpoint = parseEndpoint(address);
  if (endpoint === undefined || endpoint.port === 0 || isWildcardHost(endpoint.host)) {
    return { ok: false, reason: `${address} is no address to connect to` };
  }
  const [first, ...others] = await hostAddresses(endpoint);
  if (first === undefined) return { ok: false, reason: `host name "${endpoint.host}" has no address` };
  return { ok: true, addresses: [first, ...others] };
}

/** Undefined: no endpoint at all, or a name that this machine does not know. */
export async function resolveBind(address: string): Promise<string | undefined> {
  const endpoint = parseEndpoint(address);
  if (endpoint === undefined) return undefined;
  if (endpoint.host === '*') return address;
  const [first] = await hostAddresses(endpoint);
  return first;
}

/** An address from libzmq: with IPv6 on, it writes 127.0.0.1 as [::ffff:127.0.0.1]. */
export function plainAddress(address: string): string {
  return address.replace(/^tcp:\/\/\[::ffff:([0-9.]+)\]:/, 'tcp://$1:');
}

async function hostAddresses({ host, port }: Endpoint): Promise<string[]> {
  if (isIP(host) !== 0) return [canonical(host, port)];
  try {
    const found = await lookup(host, { all: true });
    return found.map(({ address }) => canonical(address, port));
  } catch {
    return []; // what exactly the resolver said helps nobody at a call site
  }
}

function canonical(ip: string, port: number): string {
  if (isIP(ip) !== 6) return formatEndpoint(ip, port);
  return plainAddress(formatEndpoint(new SocketAddress({ address: ip, family: 'ipv6' }).address, port));
}
