/** Publishers that subscribers find through Redis, each in a process of its own: killed, replaced by strangers, restarted. */
import { createZmqEngine } from '@zlink/core-binding';
import { beaconParts } from '@zlink/kernel/internal/wire';
import { createFaultProxy, type FaultProxy, type RedisServer, startRedisServer } from '@zlink/testing';
import { quietPort } from '@zlink/testing/internal';
import { setTimeout as rest } from 'node:timers/promises';
import { endChildren } from '../faults/fault-child.ts';
import { eventually } from '../redis/eventually.ts';
import { StoreView } from '../redis/store-view.ts';
import { establishedTo } from '../redis/tcp-links.ts';
import { endHosts, type FanoutHost, reaches, shows, startHost, whole } from './fanout-processes.ts';

const LIMIT_MS = 240_000;
const TTL_MS = 8_000; // long enough that a busy machine renews in time
const REMOVAL_MS = 2 * TTL_MS + 2_000 + 15_000; // to its end, a whole one more, jitter of who removes it, slack

const location = {
  ownerLeaseTtlMs: TTL_MS,
  ownerLeaseRenewIntervalMs: 700,
  ownerLeaseRenewTimeoutMs: 3_000,
  ownerLeaseFencingMarginMs: 1_000,
  pollingIntervalMs: 100,
};

let redis: RedisServer;
let proxy: FaultProxy | undefined;

beforeEach(async () => {
  redis = await startRedisServer();
});

afterEach(async () => {
  await endChildren();
  await proxy?.close();
  proxy = undefined;
  await redis.close();
});

const storeAt = (url: string) => ({ connection: { url }, keyPrefix: 'game' });

function startPublisher(name: string, port?: number, store = storeAt(redis.url)): Promise<FanoutHost> {
  return startHost({ name, store, location, publishes: port === undefined ? {} : { port } });
}

function startSubscriber(name: string, store = storeAt(redis.url)): Promise<FanoutHost> {
  return startHost({ name, store, location, subscribes: 'found' });
}

/** Of the run that the store shows there. */
async function generationAt(port: number): Promise<bigint> {
  const view = await StoreView.open(redis.url, 'game');
  const found = (await view.published()).find(({ endpoint }) => endpoint.endsWith(`:${port}`));
  await view.close();
  if (found === undefined) throw new Error(`nobody is published at port ${port}`);
  return found.generation;
}

test(
  '[FAN-005] a publisher that is killed is forgotten, a new one is found, and the other one is heard without a gap',
  async () => {
    const [killed, steady] = await Promise.all([startPublisher('killed'), startPublisher('steady')]);
    const subscribers = await Promise.all([startSubscriber('one'), startSubscriber('two')]);
    await Promise.all([killed.ask('ready', 2), steady.ask('ready', 2)]);
    const endpoint = await killed.ask('endpoint');
    await killed.ask('publish', 100);
    await steady.ask('publish', 100);
    for (const subscriber of subscribers) await reaches(subscriber, 'killed', 100);
    await killed.kill();
    for (const subscriber of subscribers) {
      const isKilled = (row: { readonly endpoint: string }): boolean => row.endpoint === endpoint;
      await shows(subscriber, (rows) => rows.find(isKilled)?.state !== 'ready', 'it is not ready');
      await shows(subscriber, (rows) => !rows.some(isKilled), 'it is forgotten', REMOVAL_MS);
    }
    const restarted = await startPublisher('restarted');
    await restarted.ask('ready', 2);
    await restarted.ask('publish', 100);
    await steady.ask('publish', 100);
    for (const subscriber of subscribers) {
      await reaches(subscriber, 'restarted', 100);
      await reaches(subscriber, 'steady', 200);
      expect(await subscriber.ask('seen')).toEqual({
        killed: whole(1, 100),
        steady: whole(1, 200),
        restarted: whole(1, 100),
      });
      const rows = await subscriber.ask('publishers');
      expect(rows.map(({ state, missedEvents }) => [state, missedEvents])).toEqual(Array(2).fill(['ready', 0]));
    }
    await endHosts([restarted, steady, ...subscribers]);
  },
  LIMIT_MS,
);

test(
  '[LIVE-003] [FAN-005] who has taken the address of a dead publisher and sends malformed beacons is closed, and only that one',
  async () => {
    const port = await quietPort();
    const [killed, steady] = await Promise.all([startPublisher('killed', port), startPublisher('steady')]);
    const subscriber = await startSubscriber('one');
    await Promise.all([killed.ask('ready', 1), steady.ask('ready', 1)]);
    const generation = await generationAt(port);
    await killed.kill();
    const engine = createZmqEngine();
    try {
      const stranger = await engine.bind({ bindAddress: `tcp://127.0.0.1:${port}`, generation });
      await eventually(async () => stranger.subscriptions === 1, 'the subscriber has dialled it');
      stranger.send([...beaconParts(), Uint8Array.of(0)]); // one part too many
      const refused = (row: { readonly state: string; readonly reason?: string }): boolean =>
        row.state === 'rejected' && row.reason === 'malformed beacon';
      await shows(subscriber, (rows) => rows.some(refused), 'the stranger is refused');
      await steady.ask('publish', 100);
      await reaches(subscriber, 'steady', 100);
      const heard = (await subscriber.ask('publishers')).filter(({ state }) => state === 'ready');
      expect(heard).toMatchObject([{ endpoint: await steady.ask('endpoint'), missedEvents: 0, firstEvent: 1 }]);
    } finally {
      await engine.close();
    }
    await shows(subscriber, (rows) => rows.length === 1, 'the dead one is forgotten', REMOVAL_MS);
    await endHosts([steady, subscriber]);
  },
  LIMIT_MS,
);

const RUNS_IN_PLACE = 5;

test(
  '[C08] a publisher that is killed and restarted at its port counts only who looks for the new run, and loses nothing to them',
  async () => {
    const port = await quietPort();
    const slow = { ...location, pollingIntervalMs: 1_000 }; // who looks so seldom dials the former run again and again
    const find = (name: string) => startHost({ name, store: storeAt(redis.url), location: slow, subscribes: 'found' });
    const subscribers = await Promise.all([find('one'), find('two')]);
    for (let run = 1; run <= RUNS_IN_PLACE; run++) {
      const publisher = await startPublisher(`run ${run}`, port);
      await publisher.ask('ready', 2);
      await publisher.ask('publish', 1_000);
      for (const subscriber of subscribers) {
        await reaches(subscriber, `run ${run}`, 1_000);
        expect((await subscriber.ask('seen'))[`run ${run}`]).toEqual(whole(1, 1_000));
        const rows = (await subscriber.ask('publishers')).filter(({ state }) => state === 'ready');
        expect(rows).toMatchObject([{ missedEvents: 0, firstEvent: 1 }]);
      }
      if (run < RUNS_IN_PLACE) await publisher.kill();
      else await endHosts([publisher, ...subscribers]);
    }
  },
  LIMIT_MS,
);

const ROUNDS = 20;
const RESTART_EVERY = 4;
const BURST = 500;
const EVENTS = 20_000;
const REFUSED_MS = 200;
const CUT_MS = 100;

test(
  '[C10] a publisher restarts while connections to Redis break, 20 rounds long: no event is handled twice, none of the other is lost',
  async () => {
    const broken = (proxy = await createFaultProxy({ target: redis.address }));
    const store = storeAt(broken.address.replace('tcp:', 'redis:'));
    const [steady, one, two] = await Promise.all([
      startPublisher('steady', undefined, store),
      startSubscriber('one', store),
      startSubscriber('two', store),
    ]);
    const subscribers = [one, two];
    let run = 1;
    let restarting = await startPublisher(`run ${run}`, undefined, store);
    await Promise.all([steady.ask('ready', 2), restarting.ask('ready', 2)]);
    const connected = (): Promise<unknown> =>
      eventually(async () => broken.connections === 4, 'each host has one connection');
    const publish = (): Promise<unknown> =>
      Promise.all([steady, restarting].map((host) => host.ask('publish', BURST, { perTurn: 50 })));

    for (let round = 1; round <= ROUNDS; round++) {
      broken.refuse();
      broken.cut();
      await Promise.all([publish(), rest(REFUSED_MS)]);
      broken.restore();
      if (round % RESTART_EVERY === 0) {
        if (round % (2 * RESTART_EVERY) === 0) await restarting.kill();
        else await endHosts([restarting]);
        restarting = await startPublisher(`run ${++run}`, undefined, store);
        await restarting.ask('ready', 2);
      }
      await connected();
      broken.truncateAfter(32 << (round % 10)); // within the greeting, behind it, and behind the first commands
      await Promise.all([publish(), rest(CUT_MS)]);
      broken.restore();
      await connected();
    }

    const last = 2 * ROUNDS * BURST;
    for (const subscriber of subscribers) {
      await reaches(subscriber, 'steady', last);
      const { steady: all, ...runs } = await subscriber.ask('seen');
      expect(all).toEqual(whole(1, last));
      expect(Object.keys(runs)).toHaveLength(run);
      expect(Object.values(runs).filter(({ repeated, inOrder }) => repeated.length > 0 || !inOrder)).toEqual([]);
      const events = Object.values(runs).reduce((sum, { count }) => sum + count, last);
      expect(events).toBeGreaterThan(EVENTS);
      const rows = await shows(subscriber, ({ length }) => length === 2, 'dead runs are forgotten', REMOVAL_MS);
      expect(rows.map(({ state, missedEvents }) => [state, missedEvents])).toEqual(Array(2).fill(['ready', 0]));
      await connected();
    }
    const endpoints = await Promise.all([steady, restarting].map((host) => host.ask('endpoint')));
    const isOneEach = async (): Promise<boolean> => (establishedTo(endpoints) ?? 4) === 4;
    await eventually(isOneEach, 'one subscription of each subscriber to each publisher');
    await endHosts([steady, restarting, ...subscribers]);
  },
  LIMIT_MS,
);
