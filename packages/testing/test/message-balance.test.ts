import type { MessageCounters } from '@zlink/kernel/observe';
import { createTestCluster, unbalancedCounters, unfinishedCounters } from '@zlink/testing';

const row: MessageCounters = {
  owner: 'billing',
  surface: 'channel',
  verb: 'send',
  accepted: 10,
  handled: 4,
  failed: 1,
  dropped: { no_handler: 1, shutdown: 1 },
  running: 1,
  queued: 2,
};
const done: MessageCounters = { ...row, handled: 7, running: 0, queued: 0 };

test('[CALL-004] every accepted message is at one place: one too few or too many anywhere is told', () => {
  expect(unbalancedCounters([row, done])).toEqual([]);
  const wrong: MessageCounters[] = [
    ...(['accepted', 'handled', 'failed', 'running', 'queued'] as const).flatMap((place) => [
      { ...row, [place]: row[place] + 1 },
      { ...row, [place]: row[place] - 1 },
    ]),
    { ...row, dropped: {} },
    { ...row, dropped: { ...row.dropped, backpressure: 1 } },
  ];
  expect(unbalancedCounters([row, ...wrong, done])).toEqual(wrong.map((each) => JSON.stringify(each)));
});

test('[CALL-004] what still runs or waits is told', () => {
  const [runs, waits] = [
    { ...done, running: 1 },
    { ...done, queued: 1 },
  ];
  expect(unfinishedCounters([done, runs, waits])).toEqual([JSON.stringify(runs), JSON.stringify(waits)]);
});

test('[CALL-004] a cluster that closes tells of messages which got lost or have not ended', async () => {
  const closing = async (counters: MessageCounters, outcome: 'stopped' | 'forceStopped' = 'stopped') => {
    const cluster = createTestCluster();
    await cluster.start({
      query: { counters: () => [counters] },
      start: () => Promise.resolve(),
      shutdown: () => Promise.resolve({ outcome }),
    });
    return cluster.close().then(String, String);
  };
  expect(await closing(done)).toBe('undefined');
  expect(await closing(row)).toMatch(/^Error: test cluster: messages have not ended: \{"owner":"billing"/);
  expect(await closing(row, 'forceStopped')).toBe('undefined'); // its handlers go on, if they like
  expect(await closing({ ...row, accepted: 11 }, 'forceStopped')).toMatch(/do not add up/);
  expect(await closing({ ...done, accepted: 11 })).toMatch(
    /^Error: test cluster: messages do not add up: \{"owner":"billing"/,
  );
});
