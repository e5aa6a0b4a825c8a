/** A subscriber whose process stands still: for long, beside others that do not, or for a moment. */
import { createFaultProxy } from '@zlink/testing';
import { endChildren } from '../faults/fault-child.ts';
import { eventually } from '../redis/eventually.ts';
import { endHosts, reaches, startHost, whole } from './fanout-processes.ts';

const TEXT_BYTES = 60_000; // a message of its own
const COUNT = 5_000;
/** So many go out before those who are not stopped have seen them all: less than may wait, if they are late. */
const AT_ONCE = 500;
/** What may wait for one subscriber, in messages of at most 64 KiB. */
const MARK_COUNT = 1_000;
const MARK_BYTES = MARK_COUNT * 65_536;

afterEach(endChildren);

test('[FAN-004] [CORE-016] a stopped subscriber costs the others nothing, and the publisher no more than its mark', async () => {
  const publisher = await startHost({ name: 'p', publishes: {} }, { flags: ['--expose-gc'] });
  const subscribes = [await publisher.ask('endpoint')];
  const start = (name: string) => startHost({ name, subscribes });
  const [first, second, stopped] = await Promise.all(['first', 'second', 'stopped'].map(start));
  if (first === undefined || second === undefined || stopped === undefined) throw new Error('all were started');
  await publisher.ask('ready', 3);
  const pace = { perTurn: 1, restMs: 1, textBytes: TEXT_BYTES };
  const before = await publisher.ask('publish', 200, pace); // code and buffers grow to their size before they are watched
  for (const subscriber of [first, second, stopped]) await reaches(subscriber, 'p', before);
  const memoryBytes = await publisher.ask('memoryBytes');

  stopped.signal('SIGSTOP');
  let last = before;
  while (last < before + COUNT) {
    last = await publisher.ask('publish', AT_ONCE, pace);
    for (const subscriber of [first, second]) await reaches(subscriber, 'p', last);
  }
  for (const subscriber of [first, second]) {
    expect((await subscriber.ask('seen'))['p']).toEqual(whole(1, last));
    expect(await subscriber.ask('publishers')).toMatchObject([{ state: 'ready', missedEvents: 0 }]);
  }
  const grownBytes = (await publisher.ask('memoryBytes')) - memoryBytes;
  expect(COUNT * TEXT_BYTES).toBeGreaterThan(4 * MARK_BYTES); // so many went by
  expect(grownBytes).toBeLessThan(1.5 * MARK_BYTES);

  stopped.signal('SIGCONT');
  const countsLoss = async (): Promise<boolean> => {
    await publisher.ask('publish', 1); // what was lost is known with the next event that comes
    const [row] = await stopped.ask('publishers');
    return (row?.missedEvents ?? 0) > 0;
  };
  await eventually(countsLoss, 'it counts what it has missed');
  const end = await publisher.ask('publish', 1);
  await reaches(stopped, 'p', end);
  const seen = (await stopped.ask('seen'))['p'];
  const [row] = await stopped.ask('publishers');
  expect(seen).toMatchObject({ first: 1, last: end, repeated: [], inOrder: true });
  expect((seen?.count ?? 0) + (row?.missedEvents ?? 0)).toBe(end);
  expect(seen?.count).toBeGreaterThan(before + MARK_COUNT / 2); // libzmq learns of what was read by half a mark
  await endHosts([first, second, stopped, publisher]);
}, 240_000);

/** A message for each would be several times the mark, also with what the system buffers before a proxy that does not read. */
const turns = { perTurn: 1, textBytes: 500, withinMs: 1_000 };
const TURNS = 20_000;

test('[CORE-016] [FAN-004] a subscriber that reads nothing for a second loses nothing of thousands of turns with one event each', async () => {
  const publisher = await startHost({ name: 'p', publishes: {} });
  const proxy = await createFaultProxy({ target: await publisher.ask('endpoint') });
  try {
    const subscriber = await startHost({ name: 's', subscribes: [proxy.address] });
    await publisher.ask('ready', 1);
    proxy.drip(1, 600_000, 'toClient');
    const [last] = await Promise.all([publisher.ask('publish', TURNS, turns), subscriber.ask('standStill', 1_000)]);
    proxy.restore();
    await publisher.ask('publish', 1); // a gap would be known with it
    await reaches(subscriber, 'p', last + 1);
    expect((await subscriber.ask('seen'))['p']).toEqual(whole(1, last + 1));
    expect(await subscriber.ask('publishers')).toMatchObject([{ state: 'ready', missedEvents: 0, firstEvent: 1 }]);
    await endHosts([publisher, subscriber]);
  } finally {
    await proxy.close();
  }
}, 120_000);
