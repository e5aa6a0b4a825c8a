/**
 * The last page of the fleet.
 *
 * Owns its wording: it says what is counted, and by whom, and what was measured. Pure. Leaves to `proof` whether it adds up.
 */
import { errorLines, proofLine, row } from '../accounts.ts';
import { sum } from '../calls.ts';
import { count, span } from '../numbers.ts';
import { allCalls, type Discoveries, type Evidence, type HostEvidence, type Outage } from './evidence.ts';
import type { CallerCounts } from './reports.ts';

export function summaryLines(evidence: Evidence, problems: readonly string[]): readonly string[] {
  const { calls, hosts, discoveries, outage } = evidence;
  const all = allCalls(calls);
  return [
    'What happened among hosts that knew no address of each other',
    ...errorLines(all.errors, { reasons, target: 'host' }),
    ...hosts.map((host) => hostLine(host, calls)),
    ...discoveryLines(discoveries, outage),
    '',
    ...problems.map((problem) => `MISMATCH ${problem}`),
    proofLine(all),
  ];
}

const reasons: Readonly<Record<string, string>> = {
  Rejected: 'loads that a host refused and did not handle as it was leaving',
  ShuttingDown: 'rides that a host refused and did not handle as it was leaving',
  Unavailable: 'the host was killed under them',
  DeadlineExceeded: 'their time ran out',
};

function hostLine({ name, end, counts }: HostEvidence, { rides, loads }: CallerCounts): string {
  const answers = `${count(rides.answered[name] ?? 0)} + ${count(loads.answered[name] ?? 0)} answers`;
  if (end === 'killed') {
    const handled = `${count(counts.rides.handled)} + ${count(counts.loads.handled)} requests handled`;
    return row(name, `killed: ${answers} arrived; the last count it sent before: ${handled}`);
  }
  const handled = `${count(counts.rides.handled)} rides + ${count(counts.loads.handled)} loads handled`;
  const refused = sum(counts.rides.dropped) + sum(counts.loads.dropped);
  const more = refused === 0 ? '' : `; ${count(refused)} refused while it was leaving`;
  return row(name, `${end}: ${handled} = ${answers} that arrived${more}`);
}

function discoveryLines({ foundMs, weight, joined, left, killed }: Discoveries, outage: Outage): string[] {
  const { storeName, answered, failed } = outage;
  const lines = [
    row('found', `all three hosts, seen by the caller ${span(foundMs)} after the last one had started`),
    row('joined', `${joined.name}, seen ${span(joined.seenMs)} after it had started`),
    row('weight', `${weight.name}'s, from ${weight.from} to ${weight.to}, seen ${span(weight.seenMs)} later`),
    row(
      'away',
      `${storeName}, for ${span(outage.ms)}: ${count(answered)} calls answered meanwhile, ${count(failed)} failed`,
    ),
  ];
  if (killed !== undefined) {
    const { name, lostMs, leftOutMs, forgottenMs } = killed;
    const lease = `left out after ${span(leftOutMs)}, what it had published gone after ${span(forgottenMs)}`;
    lines.push(row('killed', `${name}: connections gone after ${span(lostMs)}, ${lease}`));
  }
  const { name, outMs, forgottenMs } = left;
  const forgotten = `what it had published gone after ${span(forgottenMs)}`;
  lines.push(row('left', `${name}: no new calls ${span(outMs)} after it was told, ${forgotten}`));
  return lines;
}
