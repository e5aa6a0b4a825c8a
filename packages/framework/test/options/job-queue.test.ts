import { Problems } from '@zlink/kernel/errors';
import { effectiveProcessors, type JobQueueOptions, resolveJobQueue } from '../../src/options/job-queue.ts';

const facts = { parallelism: 4, affinity: undefined, quota: undefined };

function resolve(options: JobQueueOptions, known: Parameters<typeof effectiveProcessors>[0] = facts) {
  const problems = new Problems();
  const limits = resolveJobQueue(options, known, problems);
  problems.throwIfAny();
  return limits;
}

test.each([
  ['compact', 32],
  ['lowLatency', 64],
  ['balanced', 128],
  ['throughput', 256],
] as const)('[JOBQ-003] profile %s allows %d jobs per processor', (applicationJobQueueProfile, jobs) => {
  expect(resolve({ applicationJobQueueProfile }).max).toBe(4 * jobs);
});

test('[JOBQ-001] balanced and thresholds of 80 and 60 % are the defaults', () => {
  expect(resolve({})).toEqual({ max: 512, pauseThresholdPercent: 80, resumeThresholdPercent: 60 });
});

test('[JOBQ-001] a given figure replaces the profile, whatever the processors', () => {
  for (const max of [1, 2_147_483_647]) {
    expect(resolve({ maxQueuedApplicationJobs: max, applicationJobQueueProfile: 'compact' }).max).toBe(max);
  }
});

test.each([
  ['the smallest counts', { parallelism: 8, affinity: 4, quota: 2 }, 2],
  ['in any place', { parallelism: 3, affinity: 4, quota: 9 }, 3],
  ['what is unknown does not count', { parallelism: undefined, affinity: 6, quota: undefined }, 6],
  ['nor does what is not positive', { parallelism: 0, affinity: -2, quota: 5 }, 5],
  ['none known is 1', { parallelism: undefined, affinity: undefined, quota: undefined }, 1],
])('[JOBQ-003] effective processors: %s', (_, known, expected) => {
  expect(effectiveProcessors(known)).toBe(expected);
  expect(resolve({ applicationJobQueueProfile: 'compact' }, known).max).toBe(32 * expected);
});

test('[JOBQ-003] more jobs than an integer holds are a configuration mistake', () => {
  const most = Math.floor(2_147_483_647 / 256);
  const many = (parallelism: number) => ({ parallelism, affinity: undefined, quota: undefined });
  expect(resolve({ applicationJobQueueProfile: 'throughput' }, many(most)).max).toBe(256 * most);
  expect(() => resolve({ applicationJobQueueProfile: 'throughput' }, many(most + 1))).toThrow(
    `inboundDispatch.maxQueuedApplicationJobs (computed): ${256 * (most + 1)} is not allowed, allowed: up to 2147483647`,
  );
  expect(resolve({ maxQueuedApplicationJobs: 5 }, many(most + 1)).max).toBe(5);
});
