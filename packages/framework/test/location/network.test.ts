import type { HostOptions } from '@zlink/framework';
import { ownAddresses } from '../../src/options/own-addresses.ts';
import { makeHost } from '../hosts.ts';
import { LogRecorder } from '../log-recorder.ts';
import { problems } from '../outcome.ts';
import { Ask, CHANNEL, MESH } from '../packets.ts';
import { sharedStore, Space } from './stores.ts';

const eventId = 'zlink.runtime.network.loopback_advertised';
const addresses = ownAddresses();

/** The warnings of a start with a store that other machines see. */
async function warnings(network: HostOptions['network'], isShared = true): Promise<readonly unknown[]> {
  const log = new LogRecorder();
  const store = new Space().store();
  const host = makeHost({ logger: log, ...(network === undefined ? {} : { network }) });
  host.addLocationStore(isShared ? sharedStore(store) : store);
  host.addRouteMesh(MESH);
  host
    .addClientServerChannel(CHANNEL)
    .server()
    .addRequestHandler(Ask, () => 1);
  await host.start();
  const endpoints = host.query.listeners().map(({ endpoint }) => endpoint);
  const found = log.of(eventId);
  if (found.length > 0) expect(found).toMatchObject([{ endpoints }]);
  return found;
}

test('[NET-001] [C07] a shared store that would spread loopback endpoints is warned of, with what could be bound', async () => {
  const expected = addresses.length === 0 ? [] : [expect.objectContaining({ eventId, addresses })];
  expect(await warnings(undefined)).toEqual(expected);
});

test('[NET-001] [C07] no warning where it was said, or where nobody else reads', async () => {
  expect(await warnings({ bindHost: '127.0.0.1' })).toEqual([]);
  expect(await warnings({ advertiseHost: 'billing-1.example' })).toEqual([]);
  expect(await warnings(undefined, false)).toEqual([]);
});

test('[NET-001] [C07] a wildcard without an advertised host is refused, with the addresses of this machine', async () => {
  const host = new Space().host({ network: { bindHost: '*' } });
  host.addRouteMesh(MESH);
  const [text] = await problems(host.start());
  expect(text).toContain('bindHost "*" is a wildcard and needs an advertiseHost; ');
  for (const address of addresses) expect(text).toContain(address);
});
