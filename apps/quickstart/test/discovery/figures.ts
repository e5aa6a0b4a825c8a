/** A run of the fleet in which everything adds up, for tests to break. */
import type { CallCounts } from '../../src/calls.ts';
import type { Evidence, HostEvidence } from '../../src/discovery/evidence.ts';
import type { CallerCounts, HostCounts } from '../../src/discovery/reports.ts';
import { verbCounts } from '../shop/figures.ts';

function calls(answered: Readonly<Record<string, number>>, errors: CallCounts['errors']): CallCounts {
  const failed = Object.values(errors).reduce(
    (total, { submitted, notSubmitted }) => total + submitted + notSubmitted,
    0,
  );
  const accepted = Object.values(answered).reduce((total, count) => total + count, failed);
  return { accepted, answered, errors, wrong: 0, untyped: 0 };
}

export function callerCounts(change: Partial<CallerCounts> = {}): CallerCounts {
  return {
    rides: calls(
      { crane: 12_000, heron: 2_000, ibis: 1_300, kite: 3_000 },
      { Unavailable: { submitted: 5, notSubmitted: 0 }, ShuttingDown: { submitted: 1, notSubmitted: 0 } },
    ),
    loads: calls(
      { crane: 1_200, heron: 300, ibis: 180, kite: 900 },
      { Unavailable: { submitted: 3, notSubmitted: 1 }, Rejected: { submitted: 2, notSubmitted: 0 } },
    ),
    ...change,
  };
}

export function hostCounts(rides: number, loads: number): HostCounts {
  return { rides: verbCounts(rides), loads: verbCounts(loads) };
}

const crane: HostEvidence = { name: 'crane', end: 'stopped', outcome: 'stopped', counts: hostCounts(12_000, 1_200) };
const kite: HostEvidence = { name: 'kite', end: 'stopped', outcome: 'stopped', counts: hostCounts(3_000, 900) };
const ibis: HostEvidence = { name: 'ibis', end: 'killed', outcome: undefined, counts: hostCounts(1_290, 178) };
const heron: HostEvidence = {
  name: 'heron',
  end: 'left',
  outcome: 'stopped',
  counts: {
    rides: verbCounts(2_000, { accepted: 2_001, dropped: { shutdown: 1 } }),
    loads: verbCounts(300, { accepted: 302, dropped: { draining: 2 } }),
  },
};

export const soundHosts = { crane, heron, ibis, kite };

export function evidence(change: Partial<Evidence> = {}): Evidence {
  return {
    calls: callerCounts(),
    callerOutcome: 'stopped',
    hosts: [crane, heron, ibis, kite],
    discoveries: {
      foundMs: 412,
      weight: { name: 'crane', from: 100, to: 300, seenMs: 3.4 },
      joined: { name: 'kite', seenMs: 999.5 },
      left: { name: 'heron', outMs: 6.2, forgottenMs: 1_080 },
      killed: { name: 'ibis', lostMs: 18.9, leftOutMs: 3_640, forgottenMs: 8_910 },
    },
    outage: { storeName: 'Redis', ms: 2_004, answered: 3_349, failed: 0 },
    ...change,
  };
}
