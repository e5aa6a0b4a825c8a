/**
 * What a run of the fleet proves: the caller's counts against the hosts' own, and that the store was missed by no call.
 *
 * Owns every claim of the last page but those about the calls alone. Pure: it gets figures and returns what does not add up.
 * Leaves wording to `summary`; how long discoveries took is shown there, and no claim.
 */
import { callProblems, handledProblems } from '../accounts.ts';
import { type CallCounts, sum } from '../calls.ts';
import { count } from '../numbers.ts';
import type { Evidence, HostEvidence, Outage } from './evidence.ts';
import type { CallerCounts } from './reports.ts';

/** Empty if everything adds up. */
export function findProblems({ calls, callerOutcome, hosts, outage }: Evidence): readonly string[] {
  const problems = [
    ...callProblems(calls.rides).map((problem) => `rides: ${problem}`),
    ...callProblems(calls.loads).map((problem) => `loads: ${problem}`),
    ...hosts.flatMap((host) => hostProblems(host, calls)),
    ...refusalProblems('rides', calls.rides, hosts),
    ...refusalProblems('loads', calls.loads, hosts),
    ...outageProblems(outage),
  ];
  if (callerOutcome !== 'stopped') problems.push(`the caller ended with outcome ${callerOutcome}`);
  return problems;
}

function hostProblems(host: HostEvidence, { rides, loads }: CallerCounts): string[] {
  const { name, end, outcome, counts } = host;
  const problems: string[] = [];
  if ((rides.answered[name] ?? 0) === 0) problems.push(`${name} answered no ride`);
  if ((loads.answered[name] ?? 0) === 0) problems.push(`${name} answered no load`);
  if (end !== 'killed' && outcome !== 'stopped') problems.push(`${name} ended with outcome ${outcome ?? 'unknown'}`);
  return [
    ...problems,
    ...handledProblems(host, 'rides', counts.rides, rides),
    ...handledProblems(host, 'loads', counts.loads, loads),
  ];
}

/** A refusal that no host counted would be an invented one; one whose reply was lost is another kind of error. */
function refusalProblems(what: 'loads' | 'rides', calls: CallCounts, hosts: readonly HostEvidence[]): string[] {
  const refused = hosts.reduce((total, { counts }) => total + sum(counts[what].dropped), 0);
  const { Rejected, ShuttingDown } = calls.errors;
  const told = (Rejected?.submitted ?? 0) + (ShuttingDown?.submitted ?? 0);
  return told > refused ? [`${count(told)} ${what} ended with a refusal, hosts refused ${count(refused)}`] : [];
}

function outageProblems({ storeName, answered, failed }: Outage): string[] {
  const problems: string[] = [];
  if (answered === 0) problems.push(`no call was answered while ${storeName} was away`);
  if (failed > 0) problems.push(`${count(failed)} calls failed while ${storeName} was away`);
  return problems;
}
