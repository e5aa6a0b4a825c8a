import { ManualClock } from '@zlink/testing';
import { FailureLog } from '../../src/dispatch/failure-log.ts';
import { clientServerPlace, MessageFlow, RateLimitedLog } from '../../src/observe/index.ts';

test('[C06] owners share the log of their host, and the second of one is not that of another', () => {
  const clock = new ManualClock();
  const records: object[] = [];
  const keep = (record: object): void => void records.push(record);
  const logger = { debug: keep, info: keep, warn: keep, error: keep };
  const log = new RateLimitedLog(logger, clock);
  const flow = new MessageFlow({ clock, logger, log, nextTurn: (turn) => turn() });
  const [billing, stock] = ['billing', 'stock'].map((owner) => {
    const place = clientServerPlace('target', owner, 'server-1');
    return new FailureLog(owner, `channel "${owner}"`, place, { flow, log, onUnhandled: () => undefined });
  });
  const message = { verb: 'send', packetName: 'order', flow: undefined, link: undefined, correlation: 0 } as const;
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
