/**
 * Under which addresses other machines could reach this one, for what is said about hosts that bind or advertise badly.
 *
 * Owns the list. Leaves the choice to the application: of several addresses none is picked for it (NET-001).
 *
 * 1. Addresses of this machine alone and of one link alone are none: others cannot dial them.
 * 2. Each stands in the form in which `setAdvertiseHost` takes it, IPv6 without brackets.
 */
import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os';

type Interfaces = NodeJS.Dict<NetworkInterfaceInfo[]>;

/** IPv4 first. */
export function ownAddresses(interfaces: Interfaces = networkInterfaces()): readonly string[] {
  const all = Object.values(interfaces).flatMap((infos) => infos ?? []);
  const reached = all.filter(({ internal, address }) => !internal && !isLinkLocal(address)); // 1
  const ofFamily = (family: string): string[] => reached.filter((info) => info.family === family).map(addressOf);
  return [...new Set([...ofFamily('IPv4'), ...ofFamily('IPv6')])];
}

/** For a listener that has to say what it advertises. */
export function advertiseHint(addresses = ownAddresses()): string {
  return addresses.length === 0
    ? 'this machine has no address but its own loopback'
    : `addresses of this machine: ${addresses.join(', ')}`;
}

function addressOf({ address }: NetworkInterfaceInfo): string {
  return address;
}

function isLinkLocal(address: string): boolean {
  return address.startsWith('169.254.') || /^fe[89ab][0-9a-f]:/i.test(address);
}
