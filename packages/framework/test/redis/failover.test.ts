/** A failover that loses what Redis had confirmed: the claims of one host. */
import { jest } from '@jest/globals';
import { endChildren } from '../faults/fault-child.ts';
import { eventually } from './eventually.ts';
import { SentinelRedis } from './sentinel.ts';
import { endHosts, expectOnce, MESH_CALLS, reaches, SERVERS, startHost, startProcess } from './store-hosts.ts';
import { areBack, StoreView } from './store-view.ts';

jest.setTimeout(120_000);

const location = {
  ownerLeaseTtlMs: 5_000,
  ownerLeaseRenewIntervalMs: 1_000,
  ownerLeaseRenewTimeoutMs: 1_000,
  ownerLeaseFencingMarginMs: 1_500,
  pollingIntervalMs: 200,
};
/** 5 s, and what a busy machine is late; without the signal it would stay away. */
const BACK_WITHIN_MS = 20_000;
const KEY_PREFIX = 'game';
const SERVER_RID = 'acct-7';

let redis: SentinelRedis;
const views: StoreView[] = [];

beforeEach(async () => {
  redis = await SentinelRedis.start();
});

afterEach(async () => {
  await endChildren();
  await Promise.all(views.splice(0).map((view) => view.close()));
  await redis.close();
});

async function openView(url: string): Promise<StoreView> {
  const view = await StoreView.open(url, KEY_PREFIX);
  views.push(view);
  return view;
}

test('[C14] [LOC-071] the store has lost lease and descriptors of a host: it puts them back after the signal', async () => {
  const store = { connection: redis.connection, keyPrefix: KEY_PREFIX };
  const [finder, owner] = [
    await startHost({ name: 'finder', store, location, mesh: 'client', calls: true }),
    await startProcess(),
  ];
  await redis.cutReplication();
  await owner.ask('start', { name: 'owner', store, location, mesh: 'server', serves: {} });
  await Promise.all([finder.ask('peersReady', 1), finder.ask('serversReady', 1)]);
  const before = await (await openView(redis.primaryUrl)).published();
  expect(before).toHaveLength(3);
  await finder.ask('load', MESH_CALLS);

  await redis.failOver();
  await owner.next('zlink.location.disruption');
  const view = await openView(redis.replica.url);
  await eventually(
    async () => areBack(await view.published(), before),
    'all stands in the new primary',
    BACK_WITHIN_MS,
  );
  await reaches(finder, SERVERS, 'owner');
  await expectOnce([owner], await finder.ask('finish', MESH_CALLS));
  await endHosts([finder, owner]);
});

test('[C14] [CS-013] a claim was lost and taken by another host meanwhile: the store names one server, and that one serves', async () => {
  const store = { connection: redis.connection, keyPrefix: KEY_PREFIX };
  const serves = { routingId: SERVER_RID };
  const [finder, first, second] = [
    await startHost({ name: 'finder', store, location, calls: true }),
    await startProcess(),
    await startProcess(),
  ];
  await redis.cutReplication();
  await first.ask('start', { name: 'first', store, location, serves });
  await reaches(finder, SERVERS, 'first');

  first.signal('SIGSTOP'); // it learns of the failover only when the other one has the place
  await redis.failOver();
  await second.ask('start', { name: 'second', store, location, serves });
  const view = await openView(redis.replica.url);
  const claimed = await view.published();
  expect(claimed).toMatchObject([{ rid: SERVER_RID }]);
  first.signal('SIGCONT');
  await first.next('zlink.location.descriptor_superseded');
  await reaches(finder, SERVERS, 'second');

  await finder.ask('load', [SERVERS]);
  await eventually(async () => (await second.ask('handled')).length > 50, 'many calls are handled');
  const [ends] = await finder.ask('finish', [SERVERS]);
  expect(Object.keys(ends?.by ?? {})).toEqual(['second']);
  expect(areBack(await view.published(), claimed)).toBe(true);
  await endHosts([finder, first, second]);
});
