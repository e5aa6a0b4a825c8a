import { ManualClock } from '@zlink/testing';
import { RateLimitedLog } from '../../src/observe/index.ts';

function arrange() {
  const clock = new ManualClock();
  const records: object[] = [];
  const add = (record: object): void => void records.push(record);
  const log = new RateLimitedLog({ debug: add, info: add, warn: add, error: add }, clock);
  return { clock, records, log };
}

test('[C06] one line per key and second: the first record at once, at the end of its second the latest with a count', () => {
  const { clock, records, log } = arrange();
  for (let i = 0; i < 100; i++) log.warn('garbage', { n: i });
  log.error('other', { n: 'other' });
  clock.advance(999);
  log.warn('garbage', { n: 'latest' });
  expect(records).toEqual([{ n: 0 }, { n: 'other' }]);
  clock.advance(1);
  expect(records.slice(2)).toEqual([{ n: 'latest', suppressed: 100 }]);
  expect(log.dropped).toBe(99);
  log.warn('garbage', { n: 'of the next second' });
  expect(records).toHaveLength(3);
  clock.advance(1_000);
  expect(records.slice(3)).toEqual([{ n: 'of the next second', suppressed: 1 }]);
});

test('[C06] each key has a second of its own, and one timer serves them all', () => {
  const { clock, records, log } = arrange();
  log.warn('a', { a: 1 });
  expect(clock.pendingBackgroundTimers).toBe(0); // nothing is held back
  clock.advance(500);
  log.warn('b', { b: 1 });
  log.error('b', { b: 2 });
  log.warn('a', { a: 2 });
  expect([clock.pendingTimers, clock.pendingBackgroundTimers]).toEqual([0, 1]);
  clock.advance(500);
  expect(records.slice(2)).toEqual([{ a: 2, suppressed: 1 }]);
  clock.advance(499);
  expect(records).toHaveLength(3);
  clock.advance(1);
  expect(records.slice(3)).toEqual([{ b: 2, suppressed: 1 }]);
  expect(clock.pendingBackgroundTimers).toBe(0);
  clock.advance(10_000);
  log.warn('a', { a: 3 }); // quiet for more than a second
  expect(records.slice(4)).toEqual([{ a: 3 }]);
});

test('[C06] a flood of any length makes one line a second, and every record of it is counted', () => {
  const { clock, records, log } = arrange();
  for (let i = 0; i < 10_000; i++) {
    log.warn('flood', {});
    clock.advance(1);
  }
  log.close();
  const counted = records.reduce((sum, record) => sum + ((record as { suppressed?: number }).suppressed ?? 1), 0);
  expect([records.length <= 12, counted]).toEqual([true, 10_000]);
});

test('[C06] closing writes what is held back and leaves no timer; what comes later goes out at once', () => {
  const { clock, records, log } = arrange();
  for (const n of [1, 2, 3]) log.warn('key', { n });
  log.close();
  expect(records).toEqual([{ n: 1 }, { n: 3, suppressed: 2 }]);
  expect(clock.pendingBackgroundTimers).toBe(0);
  log.close();
  log.warn('key', { n: 4 });
  log.warn('key', { n: 5 });
  expect(records.slice(2)).toEqual([{ n: 4 }, { n: 5 }]);
  expect(clock.pendingBackgroundTimers).toBe(0);
});

test('[C06] a stalled event loop delays a count but loses none', () => {
  const { clock, records, log } = arrange();
  log.warn('key', { n: 1 });
  log.warn('key', { n: 2 });
  clock.stall(5_000);
  log.warn('key', { n: 3 }); // before the timer has had its turn
  expect(records).toEqual([{ n: 1 }, { n: 3, suppressed: 1 }]);
  expect(log.dropped).toBe(1);
  clock.advance(10_000);
  expect(records).toHaveLength(2);
});

test('[C06] keys are bounded: the one written longest ago is forgotten, and what it held back goes out', () => {
  const { records, log } = arrange();
  log.warn('first', { n: 1 });
  for (let i = 0; i < 1_023; i++) log.warn(`key ${i}`, {});
  log.warn('first', { n: 2 });
  expect(records).toHaveLength(1_024);
  log.warn('one more', { n: 'one more' });
  expect(records.slice(1_024)).toEqual([{ n: 2, suppressed: 1 }, { n: 'one more' }]);
  log.warn('first', { n: 3 });
  expect(records.at(-1)).toEqual({ n: 3 });
});

test('[C11] a throwing logger does not come out', () => {
  const clock = new ManualClock();
  const broken = (): never => {
    throw new Error('logger');
  };
  const log = new RateLimitedLog({ debug: broken, info: broken, warn: broken, error: broken }, clock);
  expect(() => log.warn('key', {})).not.toThrow();
  log.warn('key', {});
  expect(() => clock.advance(1_000)).not.toThrow();
  log.warn('key', {});
  expect(() => log.close()).not.toThrow();
});
