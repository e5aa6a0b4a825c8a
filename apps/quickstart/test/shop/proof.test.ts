import { findProblems } from '../../src/shop/proof.ts';
import { callCounts, evidence, serverCounts, soundServers, verbCounts } from './figures.ts';

const { ash, birch, cedar } = soundServers;

test('[CALL-004] a run in which every accepted call has one end proves it', () => {
  expect(findProblems(evidence())).toEqual([]);
});

test('[CALL-004] a call without an end is a mismatch', () => {
  expect(findProblems(evidence({ calls: callCounts({ accepted: 10_013 }) }))).toEqual([
    '10,013 calls accepted, 10,012 ended',
  ]);
});

test('[CALL-004] a call with two ends is a mismatch', () => {
  expect(findProblems(evidence({ calls: callCounts({ accepted: 10_011 }) }))).toHaveLength(1);
});

test('[CS-006] an answer to another call is a mismatch', () => {
  const problems = findProblems(evidence({ calls: callCounts({ accepted: 10_013, wrong: 1 }) }));
  expect(problems).toContain('1 answers belonged to another call');
});

test('[CALL-005] a failure without a kind is a mismatch', () => {
  const calls = callCounts({ accepted: 10_013, untyped: 1 });
  expect(findProblems(evidence({ calls }))).toContain('1 calls failed without a ZLinkError');
  const sends = { accepted: 1_641, errors: {}, untyped: 1 };
  expect(findProblems(evidence({ sends }))).toEqual(['1 sends failed without a ZLinkError']);
});

test('[CALL-004] a run without calls proves nothing', () => {
  const calls = callCounts({ accepted: 0, answered: {}, errors: {} });
  expect(findProblems(evidence({ calls }))).toContain('no call was made');
});

test.each([999, 1_001])(
  '[CS-008] a drained server that handled %i requests, with 1,000 answers, is a mismatch',
  (handled) => {
    const counts = {
      ...ash.counts,
      requests: verbCounts(handled, { accepted: handled + 2, dropped: { shutdown: 2 } }),
    };
    const problems = findProblems(evidence({ servers: [{ ...ash, counts }, birch, cedar] }));
    expect(problems).toEqual([`ash handled ${handled.toLocaleString('en-US')} requests, 1,000 answers came`]);
  },
);

test('[CS-008] a drain that had to be cut off is a mismatch', () => {
  const servers = [{ ...ash, outcome: 'forceStopped' }, birch, cedar];
  expect(findProblems(evidence({ servers }))).toEqual(['ash ended with outcome forceStopped']);
});

test('[CS-008] more rejected calls than servers refused are a mismatch', () => {
  const errors = { Rejected: { submitted: 10, notSubmitted: 2 } };
  const problems = findProblems(evidence({ calls: callCounts({ errors }) }));
  expect(problems).toContain('12 calls were rejected, servers refused 2');
});

test('[CS-006] work that a stopped server neither ended nor dropped is a mismatch', () => {
  const counts = { ...cedar.counts, requests: verbCounts(4_000, { accepted: 4_001, unfinished: 1 }) };
  const problems = findProblems(evidence({ servers: [ash, birch, { ...cedar, counts }] }));
  expect(problems).toEqual(['cedar took 4,001 requests, 4,000 of them ended']);
});

test('[CALL-004] a killed server that had handled more than ended anywhere is a mismatch', () => {
  const withBirch = (handled: number) =>
    findProblems(evidence({ servers: [ash, { ...birch, counts: serverCounts(handled, 810) }, cedar] }));
  expect(withBirch(5_012)).toEqual([]);
  expect(withBirch(5_013)).toEqual(['birch handled 5,013 requests, 5,012 ended']);
});

test('[CS-001] a server that never answered is a mismatch', () => {
  const answered = { birch: 6_000, cedar: 4_000 };
  expect(findProblems(evidence({ calls: callCounts({ answered }) }))).toEqual(['ash answered nothing']);
});

test('[CALL-004] one-way messages that were handled more often than sent are a mismatch', () => {
  const withSends = (accepted: number) => findProblems(evidence({ sends: { accepted, errors: {}, untyped: 0 } }));
  expect(withSends(160 + 1 + 660 + 810)).toEqual([]);
  expect(withSends(160 + 1 + 660 + 809)).toEqual([
    'one-way messages were handled more often than accepted: 1 too many',
  ]);
});

test('[CALL-004] where no server was killed every one-way message is accounted for', () => {
  const alive = { ...birch, end: 'stopped', outcome: 'stopped', counts: serverCounts(5_000, 820) } as const;
  const withSends = (accepted: number) =>
    findProblems(evidence({ sends: { accepted, errors: {}, untyped: 0 }, servers: [ash, alive, cedar] }));
  expect(withSends(1_641)).toEqual([]);
  expect(withSends(1_642)).toEqual(['1 one-way messages are unaccounted for']);
});

test('[WRR-004] shares that are far from the weights are a mismatch', () => {
  const steady = callCounts({ answered: { ash: 2_000, birch: 2_000, cedar: 1_000 } });
  expect(findProblems(evidence({ steady }))).toEqual([
    'ash of weight 100 answered 2,000 of 5,000 calls, not about 1,000',
    'birch of weight 300 answered 2,000 of 5,000 calls, not about 3,000',
  ]);
});
