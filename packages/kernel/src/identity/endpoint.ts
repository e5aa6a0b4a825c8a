/**
 * Endpoints: `tcp://host:port` as text and as parts.
 *
 * Owns the syntax. Leaves to its callers whether a wildcard or port 0 is allowed where the endpoint is used
 * (HOSTREG-003), and name resolution to the operating system.
 *
 * 1. One spelling in, one out: lower-case scheme, decimal port without leading zeros, no path, user or zone.
 * 2. An IPv6 literal is bracketed in text and bare in the parts (NET-001).
 */

/** `host` is `*`, an IPv4 address, a bare IPv6 address or a DNS name. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

const endpointText = /^tcp:\/\/(?:\[([^\]]*)\]|([^:[\]]+)):(0|[1-9][0-9]{0,4})$/;
const ipv4 = /^(?:(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])(?:\.(?!$)|$)){4}$/;
const ipv6Group = /^[0-9A-Fa-f]{1,4}$/;
// Container hosts carry underscores, so they are let through.
const dnsLabel = /^[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?$/;
const maxDnsNameLength = 253;
const maxPort = 65_535;

export function parseEndpoint(text: string): Endpoint | undefined {
  const match = endpointText.exec(text);
  if (match === null) return undefined;
  const [, bracketed, plain, portText] = match;
  const port = Number(portText);
  if (port > maxPort) return undefined;
  if (bracketed !== undefined) return isIpv6(bracketed) ? { host: bracketed, port } : undefined;
  return plain !== undefined && isHost(plain) ? { host: plain, port } : undefined;
}

export function formatEndpoint(host: string, port: number): string {
  return `tcp://${host.includes(':') ? `[${host}]` : host}:${port}`; // 2
}

/** True for what a bind or advertise host may be; an IPv6 address bare. */
export function isHost(value: unknown): value is string {
  return typeof value === 'string' && (value === '*' || ipv4.test(value) || isIpv6(value) || isDnsName(value));
}

/** True if a listener bound to `host` listens on every interface. */
export function isWildcardHost(host: string): boolean {
  return host === '*' || host === '0.0.0.0' || (/^[0:]+$/.test(host) && isIpv6(host));
}

/** True if `host` reaches this machine only. */
export function isLoopbackHost(host: string): boolean {
  const lower = host.toLowerCase();
  if (lower === 'localhost' || (lower.startsWith('127.') && ipv4.test(lower))) return true;
  return isIpv6(lower) && (/^[0:]*:0*1$/.test(lower) || /^(?:0*:)+ffff:127\.[0-9.]+$/.test(lower));
}

function isDnsName(host: string): boolean {
  if (host.length > maxDnsNameLength) return false;
  const labels = host.split('.');
  // A last label of digits only is a mistyped IPv4 address: resolvers read `127.1` and `1` as addresses.
  return labels.every((label) => dnsLabel.test(label)) && !/^[0-9]+$/.test(labels.at(-1) ?? '');
}

function isIpv6(host: string): boolean {
  const halves = host.split('::');
  if (halves.length > 2) return false;
  let groups = 0;
  for (const [at, half] of halves.entries()) {
    if (half === '' && halves.length === 2) continue;
    const parts = half.split(':');
    const last = parts.at(-1) ?? '';
    if (at === halves.length - 1 && ipv4.test(last)) {
      parts.pop();
      groups += 2; // an IPv4 tail stands for two groups
    }
    if (!parts.every((part) => ipv6Group.test(part))) return false;
    groups += parts.length;
  }
  return halves.length === 2 ? groups <= 7 : groups === 8;
}
