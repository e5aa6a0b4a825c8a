/** Hosts on machines of their own: what they bind, what they publish, and who can be reached there. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import { isWildcardHost, parseEndpoint } from '@zlink/kernel/identity';
import { type RedisServer, startRedisServer } from '@zlink/testing';
import { ownAddresses } from '../../src/options/own-addresses.ts';
import { endChildren, startChild } from '../faults/fault-child.ts';
import type { FaultStoreHost, StoreHostOptions } from '../fixtures/fault-store-host.ts';
import { makeSites, type Site, type Sites } from './sites.ts';
import { endHosts, reaches, SERVERS, type StoreHost } from './store-hosts.ts';
import { StoreView } from './store-view.ts';

jest.setTimeout(120_000);

type Network = NonNullable<StoreHostOptions['network']>;

const NAMES = ['IPv4', 'IPv6', 'name', 'bound to IPv4', 'bound to IPv6'] as const;
const SEEN_WITHIN_MS = 20_000; // a busy machine is late

let folder: string;
let redis: RedisServer;
let view: StoreView;
let sites: Sites;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'zlink-sites-'));
  // A socket in the file system leads out of every network.
  redis = await startRedisServer({ args: ['--unixsocket', join(folder, 'redis')] });
  view = await StoreView.open(redis.url, 'game');
  sites = makeSites(NAMES.length);
});

afterEach(endChildren);

afterAll(async () => {
  sites.remove();
  await view.close();
  await redis.close();
  rmSync(folder, { recursive: true, force: true });
});

function networkOf(name: (typeof NAMES)[number], { ipv4, ipv6, hostName }: Site): Network {
  if (name === 'IPv4') return { bindHost: '*', advertiseHost: ipv4 };
  if (name === 'IPv6') return { bindHost: ipv6.includes(':') ? '::' : '0.0.0.0', advertiseHost: ipv6 };
  if (name === 'name') return { bindHost: '0.0.0.0', advertiseHost: hostName };
  return { bindHost: name === 'bound to IPv4' ? ipv4 : ipv6 };
}

async function startAt(site: Site, name: string, network: Network): Promise<StoreHost> {
  const host = await startChild<FaultStoreHost>('store-host', { within: site.within });
  const store = { connection: { path: join(folder, 'redis') }, keyPrefix: 'game' };
  const location = { pollingIntervalMs: 200 };
  await host.ask('start', { name, store, location, network, mesh: 'server', serves: {}, calls: true });
  return host;
}

test('[C07] [NET-001] [NET-002] hosts that advertise IPv4, IPv6 or a name, or what they are bound to, all reach each other', async () => {
  const networks = NAMES.map((name, at) => networkOf(name, sites.all[at]!));
  const hosts = await Promise.all(NAMES.map((name, at) => startAt(sites.all[at]!, name, networks[at]!)));
  const startedAtMs = performance.now();
  await Promise.all(
    hosts.flatMap((host) => [host.ask('peersReady', NAMES.length - 1), host.ask('serversReady', NAMES.length)]),
  );
  expect(performance.now() - startedAtMs).toBeLessThan(SEEN_WITHIN_MS);

  const endpoints = (await view.published()).map(({ endpoint }) => endpoint);
  expect(endpoints).toHaveLength(2 * NAMES.length);
  for (const endpoint of endpoints) {
    const { host = '*', port = 0 } = parseEndpoint(endpoint) ?? {};
    expect([isWildcardHost(host), port > 0]).toEqual([false, true]);
  }
  const hostsOf = (all: readonly string[]): string[] => all.map((endpoint) => endpoint.replace(/:\d+$/, '')).sort();
  const advertised = networks.map(({ bindHost, advertiseHost = bindHost ?? '' }) => advertiseHost);
  const expected = advertised.map((host) => `tcp://${host.includes(':') ? `[${host}]` : host}`);
  expect(hostsOf(endpoints)).toEqual([...expected, ...expected].sort());

  for (const caller of hosts) {
    for (const [at, by] of NAMES.entries()) {
      await reaches(caller, SERVERS, by);
      const rid = await hosts[at]!.ask('meshRid');
      if (caller !== hosts[at]) await reaches(caller, { verb: 'request', to: { rid } }, by);
    }
  }
  await endHosts(hosts);
});

test.each(['*', '0.0.0.0', '::'])(
  '[C07] [NET-001] bound to %s, with nothing to advertise: no start, the addresses are named',
  async (bindHost) => {
    const site = sites.all[0]!;
    const failure = startAt(site, 'silent', { bindHost });
    await expect(failure).rejects.toThrow(`bindHost "${bindHost}" is a wildcard and needs an advertiseHost; `);
    const addresses = site.addresses ?? ownAddresses();
    const candidates = addresses.length === 0 ? 'no address but its own loopback' : addresses.join(', ');
    await expect(failure).rejects.toThrow(candidates);
    expect(await view.traces()).toEqual([]);
  },
);
