import type { NetworkInterfaceInfo } from 'node:os';
import { networkInterfaces } from 'node:os';
import { Problems } from '@zlink/kernel/errors';
import { checkAdvertiseHost, isLoopbackHost } from '@zlink/kernel/identity';
import { advertiseHint, ownAddresses } from '../../src/options/own-addresses.ts';

const v4 = (address: string, internal = false): NetworkInterfaceInfo => ({
  address,
  netmask: '255.255.255.0',
  family: 'IPv4',
  mac: '00:00:00:00:00:00',
  internal,
  cidr: `${address}/24`,
});
const v6 = (address: string, internal = false): NetworkInterfaceInfo => ({
  ...v4(address, internal),
  family: 'IPv6',
  scopeid: 0,
});

test('[NET-001] [C07] addresses that others can dial, IPv4 first, each once', () => {
  expect(
    ownAddresses({
      lo: [v4('127.0.0.1', true), v6('::1', true)],
      eth0: [v6('fd00::2'), v4('10.0.0.2'), v6('fe80::fc:ff:fe00:1'), v4('169.254.7.7')],
      eth1: [v4('192.168.1.5'), v4('10.0.0.2')],
      down: undefined,
    }),
  ).toEqual(['10.0.0.2', '192.168.1.5', 'fd00::2']);
  expect(ownAddresses({ lo: [v4('127.0.0.1', true)] })).toEqual([]);
});

test('[NET-001] [C07] what this machine has can be advertised as it stands', () => {
  const known = Object.values(networkInterfaces()).flatMap((infos) => infos?.map(({ address }) => address) ?? []);
  for (const address of [...ownAddresses(), ...ownAddresses({ eth0: [v6('fd00::2'), v4('10.0.0.2')] })]) {
    const problems = new Problems();
    checkAdvertiseHost('advertiseHost', address, problems);
    expect(() => problems.throwIfAny()).not.toThrow();
    expect(isLoopbackHost(address)).toBe(false);
  }
  for (const address of ownAddresses()) expect(known).toContain(address);
});

test('[NET-001] the hint lists them, and says so if there are none', () => {
  expect(advertiseHint(['10.0.0.2', 'fd00::2'])).toBe('addresses of this machine: 10.0.0.2, fd00::2');
  expect(advertiseHint([])).toBe('this machine has no address but its own loopback');
});
