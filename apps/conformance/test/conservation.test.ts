import type { MessageCounters } from '@zlink/framework';
import { unbalanced, unfinished } from '../src/runner/conservation.ts';

const row: MessageCounters = {
  owner: 'c',
  surface: 'channel',
  verb: 'send',
  accepted: 10,
  handled: 4,
  failed: 1,
  dropped: { no_handler: 1, shutdown: 1 },
  running: 1,
  queued: 2,
};

test('[CALL-004] every accepted message is at one place', () => {
  expect(unbalanced('h', [row])).toEqual([]);
  expect(unbalanced('h', [row, { ...row, accepted: 11 }])).toHaveLength(1);
  expect(unbalanced('h', [{ ...row, handled: 5 }])[0]).toContain('"handled":5');
});

test('[CALL-004] a host that has ended has nothing left', () => {
  expect(unfinished('h', [{ ...row, running: 0, queued: 0 }])).toEqual([]);
  expect(unfinished('h', [row])).toHaveLength(1);
});
