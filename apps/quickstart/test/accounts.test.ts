import { callProblems, soFarLine, verbProblems } from '../src/accounts.ts';
import { callCounts, verbCounts } from './shop/figures.ts';

test('[CALL-004] counts of calls that each have one end have no problems', () => {
  expect(callProblems(callCounts())).toEqual([]);
  expect(callProblems(callCounts({ accepted: 10_013 }))).toEqual(['10,013 calls accepted, 10,012 ended']);
});

test('[CS-006] messages that a stopped host neither ended nor dropped are a problem', () => {
  expect(verbProblems('elm', 'requests', verbCounts(5, { accepted: 7, dropped: { shutdown: 2 } }))).toEqual([]);
  expect(verbProblems('elm', 'requests', verbCounts(5, { accepted: 6 }))).toEqual([
    'elm took 6 requests, 5 of them ended',
  ]);
  expect(verbProblems('elm', 'requests', verbCounts(5, { unfinished: 1 }))).toHaveLength(1);
});

test('[CALL-004] a run that was stopped says what its client had counted, and proves nothing', () => {
  expect(soFarLine(undefined)).toBe('no call was counted yet');
  expect(soFarLine(callCounts({ accepted: 10_052 }))).toBe(
    'so far: 10,052 accepted = 10,000 answered + 12 typed errors + 40 in flight',
  );
  expect(soFarLine(callCounts({ accepted: 10_052, wrong: 1, untyped: 2 }))).toBe(
    'so far: 10,052 accepted = 10,000 answered + 12 typed errors + 3 MISMATCHES + 37 in flight',
  );
});
