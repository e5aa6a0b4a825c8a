import { ManualClock } from '@zlink/testing';
import { RateLimitedLog } from '../../src/observe/index.ts';

function arrange() {
  const clock = new ManualClock();
  const records: object[] = [];
  const add = (record: object): void => void records.push(record);
  const log = new RateLimitedLog({ debug: add, info: add, warn: add, error: add }, clock);
  return { clock, records, log };
}

test('[C06] one line per key and second, the next one tells how many were suppressed', () => {
  const { clock, records, log } = arrange();
  for (let i = 0; i < 100; i++) log.warn('garbage', { n: i });
  log.error('other', { n: 'other' });
  clock.advance(999);
  log.warn('garbage', { n: 'too early' });
  clock.advance(1);
  log.warn('garbage', { n: 'next' });
  log.warn('garbage', { n: 'suppressed' });
  expect(records).toEqual([{ n: 0 }, { n: 'other' }, { n: 'next', suppressed: 100 }]);
});

test('[C06] keys are bounded: the longest silent one is forgotten', () => {
  const { records, log } = arrange();
  log.warn('first', { n: 1 });
  for (let i = 0; i < 1_023; i++) log.warn(`key ${i}`, {});
  log.warn('first', { n: 2 });
  expect(records).toHaveLength(1_024);
  log.warn('one more', {});
  log.warn('first', { n: 3 });
  expect(records.at(-1)).toEqual({ n: 3 });
});

test('[C11] a throwing logger does not come out', () => {
  const broken = (): never => {
    throw new Error('logger');
  };
  const log = new RateLimitedLog({ debug: broken, info: broken, warn: broken, error: broken }, new ManualClock());
  expect(() => log.warn('key', {})).not.toThrow();
});
