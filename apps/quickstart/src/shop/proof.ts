/**
 * What a run of the shop proves: the client's counts against the servers' own.
 *
 * Owns every claim of the last page but those about the client's calls alone. Pure: it gets figures and returns what does
 * not add up. Leaves wording to `summary`.
 *
 * Y1 A server that ended in order handled exactly the requests whose answers the client has.
 * Y2 Of a killed server only the last counts that it sent are known: what it handled was answered or ended with an error,
 *    and more cannot be claimed.
 */
import { callProblems, verbProblems } from '../accounts.ts';
import { type CallCounts, sum, sumSubmitted } from '../calls.ts';
import { count } from '../numbers.ts';
import { type Evidence, sendAccounts, type ServerEvidence } from './evidence.ts';

/** Empty if everything adds up. */
export function findProblems(evidence: Evidence): readonly string[] {
  return [
    ...callProblems(evidence.calls),
    ...refusalProblems(evidence),
    ...evidence.servers.flatMap((server) => serverProblems(server, evidence.calls)),
    ...sendProblems(evidence),
    ...weightProblems(evidence),
  ];
}

function serverProblems(server: ServerEvidence, calls: CallCounts): string[] {
  const { name, counts, end, outcome } = server;
  const answered = calls.answered[name] ?? 0;
  const { handled } = counts.requests;
  if (answered === 0) return [`${name} answered nothing`];
  if (end === 'killed') {
    const possible = answered + sumSubmitted(calls.errors); // Y2
    return handled > possible ? [`${name} handled ${count(handled)} requests, ${count(possible)} ended`] : [];
  }
  const problems: string[] = [];
  if (outcome !== 'stopped') problems.push(`${name} ended with outcome ${outcome ?? 'unknown'}`);
  // Y1
  if (handled !== answered)
    problems.push(`${name} handled ${count(handled)} requests, ${count(answered)} answers came`);
  problems.push(...verbProblems(name, 'requests', counts.requests), ...verbProblems(name, 'sends', counts.sends));
  return problems;
}

/** A rejection that no server counted would be an invented one; one whose reply was lost is another kind of error. */
function refusalProblems({ calls, servers }: Evidence): string[] {
  const refused = servers.reduce((total, { counts }) => total + sum(counts.requests.dropped), 0);
  const { submitted = 0, notSubmitted = 0 } = calls.errors['Rejected'] ?? {};
  const rejected = submitted + notSubmitted;
  return rejected > refused ? [`${count(rejected)} calls were rejected, servers refused ${count(refused)}`] : [];
}

function sendProblems(evidence: Evidence): string[] {
  const { rest, killed } = sendAccounts(evidence);
  const problems: string[] = [];
  const reported = killed?.counts.sends.handled ?? 0;
  if (rest < reported) {
    problems.push(`one-way messages were handled more often than accepted: ${count(reported - rest)} too many`);
  }
  if (killed === undefined && rest !== 0) problems.push(`${count(rest)} one-way messages are unaccounted for`);
  if (evidence.sends.untyped > 0) problems.push(`${count(evidence.sends.untyped)} sends failed without a ZLinkError`);
  return problems;
}

/** How far a share may be off: calls in flight are not answered yet, and other messages share the rotation. */
const shareSlack = 0.02;
const countSlack = 60;

function weightProblems({ steady, servers }: Evidence): string[] {
  const [total, weights] = [sum(steady.answered), servers.reduce((all, { weight }) => all + weight, 0)];
  return servers.flatMap(({ name, weight }) => {
    const [wanted, got] = [(total * weight) / weights, steady.answered[name] ?? 0];
    if (Math.abs(got - wanted) <= total * shareSlack + countSlack) return [];
    return [`${name} of weight ${weight} answered ${count(got)} of ${count(total)} calls, not about ${count(wanted)}`];
  });
}
