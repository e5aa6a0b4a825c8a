/**
 * How many received messages may wait for their handler: from options and processors (JOBQ-001, JOBQ-003).
 *
 * Owns the table of profiles. Leaves what the machine has to the engine, and taking and returning permits to JobPermits.
 */
import type { ProcessorFacts } from '@zlink/core-binding';
import type { Problems } from '@zlink/kernel/errors';
import type { JobPermitLimits } from '@zlink/kernel/internal/execution';
import { checkInteger } from '@zlink/kernel/internal/options';

/**
 * How much a host takes in before its senders wait: share of memory, and waiting jobs per processor.
 * - `compact`: 5 %, 32 jobs
 * - `lowLatency`: 10 %, 64 jobs
 * - `balanced`: 20 %, 128 jobs
 * - `throughput`: 40 %, 256 jobs
 */
export type Profile = 'compact' | 'lowLatency' | 'balanced' | 'throughput';

export interface JobQueueOptions {
  readonly applicationJobQueueProfile?: Profile;
  readonly maxQueuedApplicationJobs?: number;
  readonly pauseThresholdPercent?: number;
  readonly resumeThresholdPercent?: number;
}

const JOBS_PER_PROCESSOR: Readonly<Record<Profile, number>> = {
  compact: 32,
  lowLatency: 64,
  balanced: 128,
  throughput: 256,
};

const MAX_JOBS = 2_147_483_647;

export function resolveJobQueue(options: JobQueueOptions, facts: ProcessorFacts, problems: Problems): JobPermitLimits {
  const pauseThresholdPercent = options.pauseThresholdPercent ?? 80;
  const resumeThresholdPercent = options.resumeThresholdPercent ?? 60;
  const pauses = checkInteger('inboundDispatch.pauseThresholdPercent', pauseThresholdPercent, 1, 100, problems);
  const resumes = checkInteger('inboundDispatch.resumeThresholdPercent', resumeThresholdPercent, 0, 99, problems);
  if (pauses && resumes && resumeThresholdPercent >= pauseThresholdPercent) {
    const allowed = `below pauseThresholdPercent (${pauseThresholdPercent})`;
    problems.add('inboundDispatch.resumeThresholdPercent', resumeThresholdPercent, allowed);
  }
  return { max: resolveMax(options, facts, problems), pauseThresholdPercent, resumeThresholdPercent };
}

function resolveMax(options: JobQueueOptions, facts: ProcessorFacts, problems: Problems): number {
  const profile = options.applicationJobQueueProfile ?? 'balanced';
  // Plain JavaScript may name anything, also what every object inherits.
  const jobs = Object.hasOwn(JOBS_PER_PROCESSOR, profile) ? JOBS_PER_PROCESSOR[profile] : undefined;
  if (jobs === undefined) {
    problems.add('inboundDispatch.applicationJobQueueProfile', profile, Object.keys(JOBS_PER_PROCESSOR).join(', '));
  }
  const manual = options.maxQueuedApplicationJobs;
  if (manual !== undefined) {
    checkInteger('inboundDispatch.maxQueuedApplicationJobs', manual, 1, MAX_JOBS, problems);
    return manual;
  }
  const max = (jobs ?? 1) * effectiveProcessors(facts);
  if (max > MAX_JOBS) problems.add('inboundDispatch.maxQueuedApplicationJobs (computed)', max, `up to ${MAX_JOBS}`);
  return max;
}

export function effectiveProcessors(facts: ProcessorFacts): number {
  const known = [facts.parallelism, facts.affinity, facts.quota].filter((n) => n !== undefined && n >= 1);
  return known.length === 0 ? 1 : Math.min(...(known as number[]));
}
