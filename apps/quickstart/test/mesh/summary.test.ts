import { findProblems } from '../../src/mesh/proof.ts';
import { summaryLines } from '../../src/mesh/summary.ts';
import { callerCounts, evidence } from './figures.ts';

function linesOf(change: Parameters<typeof evidence>[0] = {}): readonly string[] {
  const run = evidence(change);
  return summaryLines(run, findProblems(run));
}

test('[CALL-004] the last page of the mesh says what was counted, by whom, and ends with the proof', () => {
  expect(linesOf()).toEqual([
    'What happened in the mesh',
    '  errors    33 Unavailable: the node was killed under them, or was not back in time (31 of them had been sent to a node)',
    '  lobby     stopped: 3 direct requests handled = 3 answers that arrived',
    '  play-1    stopped: 4,000 channel + 64 direct requests handled = 4,000 + 64 answers that arrived',
    '  play-2    killed: 4,510 + 22 answers arrived; the last count it sent before: 4,400 + 21 requests handled',
    '  play-2*   play-2 in its new process, stopped: 4,500 channel + 21 direct requests handled = 4,500 + 21 answers that arrived',
    '  order     the first four calls went to play-2, play-1, play-2, play-2',
    '  weights   100 : 300 shared out 3,000 : 9,000 calls while both nodes were ready',
    '',
    'proof: 13,143 accepted = 13,110 answered + 33 typed errors',
  ]);
});

test('[CALL-004] the last page of the mesh names what does not add up', () => {
  const { channel } = callerCounts();
  const lines = linesOf({ calls: callerCounts({ channel: { ...channel, accepted: 13_041 } }) });
  expect(lines.slice(-2)).toEqual([
    'MISMATCH channel: 13,041 calls accepted, 13,040 ended',
    'proof: 13,144 accepted ≠ 13,110 answered + 33 typed errors',
  ]);
});
