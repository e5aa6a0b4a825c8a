import { findProblems } from '../../src/discovery/proof.ts';
import { callerCounts, evidence, hostCounts, soundHosts } from './figures.ts';

const { crane, heron, ibis, kite } = soundHosts;

test('[CALL-004] a run of the fleet in which everything adds up proves it', () => {
  expect(findProblems(evidence())).toEqual([]);
});

test('[CALL-004] a call of the fleet without an end is a mismatch, of either kind', () => {
  const { rides, loads } = callerCounts();
  const changed = {
    rides: { ...rides, accepted: rides.accepted + 1 },
    loads: { ...loads, accepted: loads.accepted - 1 },
  };
  expect(findProblems(evidence({ calls: changed }))).toEqual([
    'rides: 18,307 calls accepted, 18,306 ended',
    'loads: 2,585 calls accepted, 2,586 ended',
  ]);
});

test.each([1_199, 1_201])('[CALL-004] a host that handled %i loads, with 1,200 answers, is a mismatch', (n) => {
  const hosts = [{ ...crane, counts: hostCounts(12_000, n) }, heron, ibis, kite];
  expect(findProblems(evidence({ hosts }))).toEqual([
    `crane handled ${n.toLocaleString('en-US')} loads, 1,200 answers came`,
  ]);
});

test('[CALL-004] a killed host that had handled more than ended anywhere is a mismatch', () => {
  const withKilled = (rides: number, loads: number) =>
    findProblems(evidence({ hosts: [crane, heron, { ...ibis, counts: hostCounts(rides, loads) }, kite] }));
  expect(withKilled(1_306, 185)).toEqual([]);
  expect(withKilled(1_307, 186)).toEqual([
    'ibis handled 1,307 rides, 1,306 ended',
    'ibis handled 186 loads, 185 ended',
  ]);
});

test('[MESH-003] [CS-005] a host that joined and got no calls is a mismatch', () => {
  const { rides, loads } = callerCounts();
  const calls = {
    rides: { ...rides, answered: { ...rides.answered, crane: 15_000, kite: 0 } },
    loads: { ...loads, answered: { ...loads.answered, crane: 2_100, kite: 0 } },
  };
  const hosts = [{ ...crane, counts: hostCounts(15_000, 2_100) }, heron, ibis, { ...kite, counts: hostCounts(0, 0) }];
  expect(findProblems(evidence({ calls, hosts }))).toEqual(['kite answered no ride', 'kite answered no load']);
});

test('[LOC-064] a call that failed while the store was away is a mismatch, and so is silence', () => {
  const { outage } = evidence();
  expect(findProblems(evidence({ outage: { ...outage, failed: 3 } }))).toEqual(['3 calls failed while Redis was away']);
  expect(findProblems(evidence({ outage: { ...outage, answered: 0 } }))).toEqual([
    'no call was answered while Redis was away',
  ]);
});

test('[CS-008] a refusal that no host of the fleet counted is a mismatch', () => {
  const hosts = [crane, { ...heron, counts: hostCounts(2_000, 300) }, ibis, kite];
  expect(findProblems(evidence({ hosts }))).toEqual([
    '1 rides ended with a refusal, hosts refused 0',
    '2 loads ended with a refusal, hosts refused 0',
  ]);
});

test('[DRAIN-005] a host of the fleet whose end had to be cut off is a mismatch, and so is the caller', () => {
  const hosts = [crane, { ...heron, outcome: 'forceStopped' }, ibis, kite];
  expect(findProblems(evidence({ hosts, callerOutcome: 'forceStopped' }))).toEqual([
    'heron ended with outcome forceStopped',
    'the caller ended with outcome forceStopped',
  ]);
});
