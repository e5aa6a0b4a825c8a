import { expect, jest, test } from '@jest/globals';
import { createCargo } from '../src/cargo.ts';
import { Meter } from '../src/meter.ts';
import { loadPublishingSide } from '../src/sides/load-side.ts';

jest.setTimeout(60_000); // tells a hang from a success, also on a machine that has no time for the test

/** Built: its peers are processes that run what is built. */
const { Crowd } = (await import(
  new URL('../dist/fanout/crowd.js', import.meta.url).href
)) as typeof import('../src/fanout/crowd.ts');

const cargo = createCargo({ kind: 'json', bodyBytes: [64, 1_024] });

test('[FAN-006] zeromq.js carries each event to every subscriber exactly once', async () => {
  const side = await loadPublishingSide('zeromq.js');
  const publisher = await side.openPublisher(cargo);
  const meters = [1, 2, 3, 4].map(() => new Meter(() => performance.now()));
  const ends = await Promise.all(meters.map((meter) => side.openSubscriber(cargo, publisher.address, meter.tick)));
  await publisher.ready(ends.length);
  for (const meter of meters) meter.arm(500);
  for (let id = 0; id < 500; id++) await publisher.publish(cargo.make(id));
  await Promise.all(meters.map((meter) => meter.finished()));
  expect(meters.map(({ seen }) => seen)).toEqual([500, 500, 500, 500]);
  await Promise.all(ends.map((end) => end.close()));
  await publisher.close();
});

test.each(['framework', 'zeromq.js'])(
  '[FAN-006] a crowd of %s has its processes, loses no event and tells a rate, beside one that stands still, too',
  async (side) => {
    const crowd = await Crowd.open({ side, bodyBytes: 64, readers: 2, stopped: 1 });
    try {
      await crowd.warmUp(20);
      expect(await crowd.measure(20)).toBeGreaterThan(0);
    } finally {
      await crowd.end();
    }
  },
  120_000,
);

test('[FAN-006] an unknown publishing side is an error', async () => {
  await expect(loadPublishingSide('carrier pigeon')).rejects.toThrow('no publishing side is called "carrier pigeon"');
});
