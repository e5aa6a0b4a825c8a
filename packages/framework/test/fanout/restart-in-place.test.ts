/** What [C08] asks for, with publishers that are found on a fixed port and restart there while the store shows the former run. */
import type { Host } from '@zlink/framework';
import { jest } from '@jest/globals';
import { loopTurns } from '@zlink/testing';
import { quietPort } from '@zlink/testing/internal';
import { quick, Space } from '../location/stores.ts';
import { NEWS, publish, range, Subscriber } from './fanout-hosts.ts';

jest.setTimeout(240_000);

const RUNS = 50;
/** They share the machine; each has a publisher and three subscribers. */
const AT_ONCE = 5;

/** Who looks for changes so seldom dials the former run again before it hears of the next one. */
const seldom = { ...quick, pollingIntervalMs: 500 };

async function startFinding(space: Space): Promise<Subscriber> {
  const subscriber = new Subscriber(space.host({ location: seldom }), undefined, {});
  await subscriber.host.start();
  return subscriber;
}

async function startPublisher(space: Space, port: number, store = space.store()): Promise<Host> {
  const host = space.host({}, store);
  host.addFanoutChannel(NEWS).enablePublisher(port);
  await host.start();
  return host;
}

/** @returns reasons that subscribers have shown meanwhile */
async function run(): Promise<ReadonlySet<string>> {
  const space = new Space();
  const port = await quietPort();
  const early = [await startFinding(space), await startFinding(space)];
  const store = space.store();
  const before = await startPublisher(space, port, store);
  await before.fanoutClient.ready(NEWS, 2);
  await publish(before, 1, 1_000);
  for (const subscriber of early) await subscriber.reaches(1_000);

  const starting = startFinding(space);
  for (let seq = 1_001; seq <= 2_000; seq += 10) {
    await publish(before, seq, seq + 9);
    await loopTurns(1);
  }
  const late = await starting;
  const all = [...early, late];
  await before.fanoutClient.ready(NEWS, all.length);
  await publish(before, 2_001, 2_001);
  for (const subscriber of all) await subscriber.reaches(2_001);
  const [first = 0] = late.numbers;

  store.inject({ kind: 'fail' }); // so it ends like one that was killed: its descriptor stays
  await before.shutdown({ deadlineMs: 100 });
  const after = await startPublisher(space, port);
  const reasons = new Set<string>();
  const ready = after.fanoutClient.ready(NEWS, all.length);
  for (let isReady = false; !isReady; await loopTurns(1)) {
    void ready.then(() => (isReady = true));
    for (const { reason } of all.flatMap(({ publishers }) => publishers)) if (reason !== undefined) reasons.add(reason);
    await loopTurns(20);
  }
  await publish(after, 3_001, 4_000);
  for (const subscriber of all) await subscriber.reaches(4_000);
  for (const subscriber of early) expect(subscriber.numbers).toEqual([...range(1, 2_001), ...range(3_001, 4_000)]);
  expect(late.numbers).toEqual([...range(first, 2_001), ...range(3_001, 4_000)]);
  for (const subscriber of all) {
    await subscriber.ready(1); // who looks for the former run may have heard a beacon, and is refused in the next moment
    const rows = subscriber.publishers.filter(({ state }) => state === 'ready');
    expect(rows).toMatchObject([{ endpoint: `tcp://127.0.0.1:${port}`, missedEvents: 0, firstEvent: 1 }]);
  }
  await Promise.all([after, ...all.map(({ host }) => host)].map((host) => host.shutdown()));
  return reasons;
}

test(`[C08] after ready nothing is lost to subscribers that find a publisher on a fixed port, behind a restart there, in ${RUNS} runs`, async () => {
  const reasons = new Set<string>();
  const isShown = (): boolean => reasons.has('another run of the publisher'); // the machine may be too busy for it, once
  for (let runs = 0; runs < RUNS || (runs < 3 * RUNS && !isShown()); runs += AT_ONCE) {
    for (const shown of await Promise.all(Array.from({ length: AT_ONCE }, run)))
      shown.forEach((reason) => reasons.add(reason));
  }
  expect(reasons).toContain('another run of the publisher'); // some have dialled the new run while they looked for the former one
});
