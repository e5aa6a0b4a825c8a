import { ManualClock } from '@zlink/testing';
import { FailureLog } from '../../src/dispatch/failure-log.ts';
import { RateLimitedLog } from '../../src/observe/index.ts';

test('[C06] owners share the log of their host, and the second of one is not that of another', () => {
  const clock = new ManualClock();
  const records: object[] = [];
  const keep = (record: object): void => void records.push(record);
  const log = new RateLimitedLog({ debug: keep, info: keep, warn: keep, error: keep }, clock);
  const [billing, stock] = ['billing', 'stock'].map(
    (owner) => new FailureLog(owner, `channel "${owner}"`, log, () => undefined),
  );
  const message = { verb: 'send', packetName: 'order' } as const;
  for (let round = 0; round < 3; round++) {
    billing?.threw(message, new Error('no'), true);
    stock?.threw(message, new Error('no'), true);
    stock?.disposeFailed(message, new Error('no'));
  }
  expect(records).toMatchObject([{ owner: 'billing' }, { owner: 'stock' }, { owner: 'stock' }]);
  log.close();
  expect(records.slice(3)).toMatchObject([
    { owner: 'billing', suppressed: 2 },
    { owner: 'stock', suppressed: 2 },
    { owner: 'stock', suppressed: 2 },
  ]);
});
