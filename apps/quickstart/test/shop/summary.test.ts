import { findProblems } from '../../src/shop/proof.ts';
import { summaryLines } from '../../src/shop/summary.ts';
import { callCounts, evidence } from './figures.ts';

function linesOf(change: Parameters<typeof evidence>[0] = {}, coreCount = 2): readonly string[] {
  const run = evidence(change);
  return summaryLines(run, findProblems(run), coreCount);
}

test('[CALL-004] the last page says what was counted, by whom, and ends with the proof', () => {
  expect(linesOf()).toEqual([
    'What happened',
    '  errors    10 Unavailable: their connection ended before the answer came (all of them had been sent to a server)',
    '  errors    2 Rejected: a draining server refused them and handled none; setWeight(0) before the stop avoids them (all of them had been sent to a server)',
    '  ash       drained: 1,000 requests handled = 1,000 answers that arrived; 2 refused while it drained',
    '  birch     killed: 5,000 answers arrived; the last count it sent before: 4,950 requests handled',
    '  cedar     stopped: 4,000 requests handled = 4,000 answers that arrived',
    '  one-way   1,641 messages sent = 820 handled by ash and cedar + 1 dropped by a draining server + 820 for birch',
    '            the last count birch sent before it was killed: 810 handled; of the rest nobody knows',
    '  weights   100 : 300 : 100 gave shares of 20.0 %, 60.2 %, 19.9 % while all three served',
    '  latency   p50 0.40 ms, p99 12.3 ms over 10,000 quotes; invoices, which take a server 250 ms, are left out',
    '  speed     one server can be as fast as three: the one client and all servers share the 2 cores of this machine',
    '',
    'proof: 10,012 accepted = 10,000 answered + 12 typed errors',
  ]);
});

test('[CALL-004] the last page names what does not add up', () => {
  const lines = linesOf({ calls: callCounts({ accepted: 10_013 }) });
  expect(lines.slice(-2)).toEqual([
    'MISMATCH 10,013 calls accepted, 10,012 ended',
    'proof: 10,013 accepted ≠ 10,000 answered + 12 typed errors',
  ]);
});

test('[CALL-005] the last page names each kind of error, how often, and how many of the calls had been sent', () => {
  const errors = {
    Unavailable: { submitted: 10, notSubmitted: 2 },
    NotFound: { submitted: 0, notSubmitted: 2 },
  };
  expect(linesOf({ calls: callCounts({ errors }) }).filter((line) => line.includes('errors  '))).toEqual([
    '  errors    12 Unavailable: their connection ended before the answer came (10 of them had been sent to a server)',
    '  errors    2 NotFound (none of them had been sent to a server)',
  ]);
});

test('[CS-001] the last page knows a machine with one core', () => {
  expect(linesOf({}, 1).find((line) => line.includes('speed'))).toContain('share the one core of this machine');
});
