/** A host whose process stands still for so long that the others take it for dead, and then goes on. */
import { jest } from '@jest/globals';
import { type RedisServer, startRedisServer } from '@zlink/testing';
import { endChildren } from '../faults/fault-child.ts';
import { eventually } from './eventually.ts';
import { endHosts, reaches, SERVERS, startHost } from './store-hosts.ts';
import { areBack, StoreView } from './store-view.ts';

jest.setTimeout(120_000);

const location = {
  ownerLeaseTtlMs: 4_000, // and so long a look at what is left of it may take
  ownerLeaseRenewIntervalMs: 500,
  ownerLeaseRenewTimeoutMs: 500,
  ownerLeaseFencingMarginMs: 500,
  pollingIntervalMs: 200,
};
const { ownerLeaseTtlMs: ttlMs, ownerLeaseRenewIntervalMs: renewMs } = location;
const REMOVAL_JITTER_MS = 2_000;
const SLACK_MS = 15_000; // a busy machine is late
const BURST = 20;

let redis: RedisServer;
let view: StoreView;

beforeEach(async () => {
  redis = await startRedisServer();
  view = await StoreView.open(redis.url, 'game');
});

afterEach(async () => {
  await endChildren();
  await view.close();
  await redis.close();
});

test('[LOC-053] [LOC-063] a host that stood still past its lease handles nothing of what came meanwhile, and comes back', async () => {
  const store = { connection: { url: redis.url }, keyPrefix: 'game' };
  const stopped = await startHost({ name: 'stopped', store, location, mesh: 'server', serves: {} });
  const before = await view.published();
  expect(before).toHaveLength(2);
  const finder = await startHost({ name: 'finder', store, location, mesh: 'client', calls: true });
  // Knows no store, so it goes on calling whom the others have left out.
  const stubborn = await startHost({ name: 'stubborn', calls: await stopped.ask('endpoint') });
  await Promise.all([finder.ask('peersReady', 1), finder.ask('serversReady', 1), stubborn.ask('serversReady', 1)]);
  const handledBefore = await stopped.ask('handled');
  await finder.ask('watch');

  stopped.signal('SIGSTOP');
  await eventually(
    async () => (await finder.ask('flaws')).length === 2,
    'the other host leaves out the node and the server',
    ttlMs + renewMs + SLACK_MS,
  );
  expect((await finder.ask('ask', SERVERS, 200)).kind).toBe('NotFound');
  expect(await view.published()).toHaveLength(3);
  await eventually(
    async () => !(await view.published()).some(({ rid }) => before.some((own) => own.rid === rid)),
    'the other host removes its descriptors',
    ttlMs + REMOVAL_JITTER_MS + SLACK_MS,
  );

  redis.pause(); // so that it cannot get its lease back before all of the burst has come
  await stubborn.ask('begin', SERVERS, BURST);
  stopped.signal('SIGCONT');
  expect((await stubborn.ask('ended', SERVERS)).counts).toEqual({ Unavailable: BURST });
  expect(await stopped.ask('handled')).toEqual(handledBefore);

  redis.resume();
  await eventually(async () => areBack(await view.published(), before), 'it is published again');
  for (const own of before) {
    const found = (await view.published()).find(({ rid }) => rid === own.rid);
    expect(found?.revision).toBeGreaterThan(own.revision);
  }
  await Promise.all([finder, stubborn].map((host) => reaches(host, SERVERS, 'stopped')));
  await finder.ask('peersReady', 1);
  await endHosts([stopped, finder, stubborn]);
});
