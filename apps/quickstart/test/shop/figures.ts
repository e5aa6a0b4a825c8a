/** A run in which everything adds up, for tests to break. */
import type { CallCounts, VerbCounts } from '../../src/calls.ts';
import type { Evidence, ServerEvidence } from '../../src/shop/evidence.ts';
import type { ServerCounts } from '../../src/shop/reports.ts';

export function verbCounts(handled: number, change: Partial<VerbCounts> = {}): VerbCounts {
  return { accepted: handled, handled, failed: 0, dropped: {}, unfinished: 0, ...change };
}

export function serverCounts(requests: number, sends: number): ServerCounts {
  return { requests: verbCounts(requests), sends: verbCounts(sends) };
}

export function callCounts(change: Partial<CallCounts> = {}): CallCounts {
  return {
    accepted: 10_012,
    answered: { ash: 1_000, birch: 5_000, cedar: 4_000 },
    errors: { Unavailable: { submitted: 10, notSubmitted: 0 }, Rejected: { submitted: 2, notSubmitted: 0 } },
    wrong: 0,
    untyped: 0,
    ...change,
  };
}

const ash: ServerEvidence = {
  name: 'ash',
  weight: 100,
  end: 'drained',
  outcome: 'stopped',
  counts: {
    requests: verbCounts(1_000, { accepted: 1_002, dropped: { shutdown: 2 } }),
    sends: verbCounts(160, { accepted: 161, dropped: { shutdown: 1 } }),
  },
};

const birch: ServerEvidence = {
  name: 'birch',
  weight: 300,
  end: 'killed',
  outcome: undefined,
  counts: serverCounts(4_950, 810),
};

const cedar: ServerEvidence = {
  name: 'cedar',
  weight: 100,
  end: 'stopped',
  outcome: 'stopped',
  counts: serverCounts(4_000, 660),
};

export const soundServers = { ash, birch, cedar };

export function evidence(change: Partial<Evidence> = {}): Evidence {
  return {
    calls: callCounts(),
    steady: callCounts({ accepted: 5_000, answered: { ash: 990, birch: 2_985, cedar: 985 }, errors: {} }),
    sends: { accepted: 1_641, errors: {}, untyped: 0 },
    latency: { count: 10_000, p50Ms: 0.4, p99Ms: 12.34 },
    servers: [ash, birch, cedar],
    ...change,
  };
}
