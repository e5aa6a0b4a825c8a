import { startRedisServer } from '@zlink/testing';
import { type Child, startChild } from './child.ts';

/** How often each scenario runs: enough for a race to show now and then, or to show if there is one. */
const isLong = process.env['ZLINK_LONG'] === '1';
const rounds = isLong ? 50 : 10;
/** Hosts wait for 5 s for a store that is down. */
const storeRounds = isLong ? 50 : 3;
/** Two processors: more at a time would measure the machine. */
const atATime = 2;

/** On a busy machine. What holds a process holds it for good, or as long as silence: 15 s. */
const exitWithinMs = 10_000;

const stopped = { outcome: 'stopped', reason: 'none' };

const scenarios: readonly [string, string, unknown][] = [
  ['after calls and an orderly end', 'normally', [stopped, stopped]],
  [
    'with an unreachable peer, waiting calls and unsent messages',
    'unreachable',
    [
      stopped,
      stopped,
      { outcome: 'forceStopped', reason: 'deadlineExceeded' },
      { ended: 203, first: ['ShuttingDown', 'ShuttingDown', 'ShuttingDown'] },
    ],
  ],
  [
    'after starts that failed',
    'failedStart',
    ['AlreadyExists', 'stopped', 'InternalFailure', 'stopped', null, 'stopped', 'InternalFailure'],
  ],
  ['after several shutdowns of the same hosts', 'twice', Array(6).fill(stopped)],
  [
    'after a shutdown during the start, at once and before it',
    'duringStart',
    [stopped, 'ShuttingDown', stopped, 'ShuttingDown', stopped],
  ],
];

test.each(scenarios)(
  `[C25] [CORE-011] the process ends by itself %s, ${rounds} of ${rounds} times`,
  async (_, scenario, expected) => {
    let started = 0;
    const worker = async (): Promise<void> => {
      while (started++ < rounds) {
        await expectEnd(startChild('exit.mjs', scenario), expected);
      }
    };
    await Promise.all(Array.from({ length: atATime }, worker));
  },
  rounds * 20_000,
);

test(
  `[C25] [CORE-011] the process ends by itself after everything was used, Redis included, ${rounds} of ${rounds} times`,
  async () => {
    const redis = await startRedisServer();
    for (let round = 0; round < rounds; round++) {
      await expectEnd(startChild('exit.mjs', 'everything', redis.url), [stopped, stopped]);
    }
    await redis.close();
  },
  rounds * 20_000,
);

test(
  `[C25] [LOC-004] the process ends by itself while Redis is down, ${storeRounds} of ${storeRounds} times`,
  async () => {
    const redis = await startRedisServer();
    for (let round = 0; round < storeRounds; round++) {
      const child = startChild('exit.mjs', 'storeDown', redis.url);
      await child.event('ready');
      await redis.stop();
      child.signal('SIGTERM');
      // For 100 ms the client of Redis waits for the end of its sockets, and a call that found none to look again.
      await expectEnd(child, [stopped, stopped, stopped, 'ShuttingDown'], ['Timeout']);
      await redis.start();
    }
    await redis.close();
  },
  storeRounds * 20_000,
);

/** @param briefly - kinds of what may hold the process a moment longer */
async function expectEnd(child: Child, results: unknown, briefly: readonly string[] = []): Promise<void> {
  const down = await child.event('down');
  const end = await child.ended;
  expect(down['results']).toEqual(results);
  const holding = down['resources'] as readonly string[]; // by the fixture
  expect(holding.filter((kind) => !briefly.includes(kind))).toEqual([]);
  expect([end.code, end.signal, child.stderr]).toEqual([0, null, '']);
  expect(end.atMs - down.atMs).toBeLessThan(exitWithinMs);
}
