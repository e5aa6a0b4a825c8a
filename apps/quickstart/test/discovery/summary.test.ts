import { findProblems } from '../../src/discovery/proof.ts';
import { summaryLines } from '../../src/discovery/summary.ts';
import { evidence } from './figures.ts';

function linesOf(change: Parameters<typeof evidence>[0] = {}): readonly string[] {
  const run = evidence(change);
  return summaryLines(run, findProblems(run));
}

test('[CALL-004] the last page of the fleet says what was counted, what was measured, and ends with the proof', () => {
  expect(linesOf()).toEqual([
    'What happened among hosts that knew no address of each other',
    '  errors    9 Unavailable: the host was killed under them (8 of them had been sent to a host)',
    '  errors    1 ShuttingDown: rides that a host refused and did not handle as it was leaving (all of them had been sent to a host)',
    '  errors    2 Rejected: loads that a host refused and did not handle as it was leaving (all of them had been sent to a host)',
    '  crane     stopped: 12,000 rides + 1,200 loads handled = 12,000 + 1,200 answers that arrived',
    '  heron     left: 2,000 rides + 300 loads handled = 2,000 + 300 answers that arrived; 3 refused while it was leaving',
    '  ibis      killed: 1,300 + 180 answers arrived; the last count it sent before: 1,290 + 178 requests handled',
    '  kite      stopped: 3,000 rides + 900 loads handled = 3,000 + 900 answers that arrived',
    '  found     all three hosts, seen by the caller 412 ms after the last one had started',
    '  joined    kite, seen 1.0 s after it had started',
    "  weight    crane's, from 100 to 300, seen 3 ms later",
    '  away      Redis, for 2.0 s: 3,349 calls answered meanwhile, 0 failed',
    '  killed    ibis: connections gone after 19 ms, left out after 3.6 s, what it had published gone after 8.9 s',
    '  left      heron: no new calls 6 ms after it was told, what it had published gone after 1.1 s',
    '',
    'proof: 20,892 accepted = 20,880 answered + 12 typed errors',
  ]);
});

test('[CALL-004] the last page of a fleet of which nobody was killed has no such line', () => {
  const { discoveries } = evidence();
  const lines = linesOf({ discoveries: { ...discoveries, killed: undefined } });
  expect(lines.filter((line) => line.startsWith('  killed'))).toEqual([]);
});

test('[LOC-064] the last page of the fleet names what does not add up', () => {
  const { outage } = evidence();
  expect(linesOf({ outage: { ...outage, failed: 2 } }).slice(-2)).toEqual([
    'MISMATCH 2 calls failed while Redis was away',
    'proof: 20,892 accepted = 20,880 answered + 12 typed errors',
  ]);
});
