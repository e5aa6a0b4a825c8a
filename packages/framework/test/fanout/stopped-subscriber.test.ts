/** A subscriber whose process stands still, beside others that do not. */
import { endChildren } from '../faults/fault-child.ts';
import { eventually } from '../redis/eventually.ts';
import { endHosts, reaches, startHost, whole } from './fanout-processes.ts';

const TEXT_BYTES = 60_000; // a message of its own
const COUNT = 5_000;
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
  const last = await publisher.ask('publish', COUNT, pace);
  for (const subscriber of [first, second]) {
    await reaches(subscriber, 'p', last);
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
  await eventually(countsLoss, 'it counts what it has missed', 10_000);
  const end = await publisher.ask('publish', 1);
  await reaches(stopped, 'p', end);
  const seen = (await stopped.ask('seen'))['p'];
  const [row] = await stopped.ask('publishers');
  expect(seen).toMatchObject({ first: 1, last: end, repeated: [], inOrder: true });
  expect((seen?.count ?? 0) + (row?.missedEvents ?? 0)).toBe(end);
  expect(seen?.count).toBeGreaterThan(before + MARK_COUNT / 2); // libzmq learns of what was read by half a mark
  await endHosts([first, second, stopped, publisher]);
}, 60_000);
