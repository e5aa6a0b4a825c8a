/**
 * What a run of the mesh proves: the caller's counts against the nodes' own, and shares against weights.
 *
 * Owns every claim of the last page but those about the calls alone. Pure: it gets figures and returns what does not add up.
 * Leaves wording to `summary`.
 *
 * Y1 A node that ended in order handled exactly the requests whose answers others have.
 * Y2 Of a killed node only the last counts that it sent are known: what it handled was answered or ended with an error.
 * Y3 Shares are exact, not about right, as long as the servers are the same.
 */
import { callProblems, verbProblems } from '../accounts.ts';
import { type CallCounts, sum, sumSubmitted, type VerbCounts } from '../calls.ts';
import { count } from '../numbers.ts';
import { answeredByRid, type Evidence, type NodeEvidence, serversOf } from './evidence.ts';

/** What weights 100 and 300 make of four calls: the smaller RID comes second. */
const wantedOrder = ['play-2', 'play-1', 'play-2', 'play-2'];

/** Empty if everything adds up. */
export function findProblems(evidence: Evidence): readonly string[] {
  return [
    ...callProblems(evidence.calls.channel).map((problem) => `channel: ${problem}`),
    ...callProblems(evidence.calls.direct).map((problem) => `direct: ${problem}`),
    ...evidence.nodes.flatMap((node) => nodeProblems(node, evidence)),
    ...shareProblems(evidence),
  ];
}

function nodeProblems(node: NodeEvidence, { calls, greetings }: Evidence): string[] {
  const { name, end, outcome, weight, counts } = node;
  const greeted = greetings.filter((answer) => answer.name === name).length;
  const problems: string[] = [];
  if (greeted === 0) problems.push(`${name} was not reached by its RID`);
  if (weight > 0 && (calls.channel.answered[name] ?? 0) === 0) problems.push(`${name} answered no call to the channel`);
  if (end === 'stopped' && outcome !== 'stopped') problems.push(`${name} ended with outcome ${outcome ?? 'unknown'}`);
  return [
    ...problems,
    ...handledProblems(node, 'channel requests', counts.channel, calls.channel, 0),
    ...handledProblems(node, 'direct requests', counts.direct, calls.direct, greeted),
  ];
}

/** @param others - answers that are not among `calls` */
function handledProblems(
  { name, end }: NodeEvidence,
  what: string,
  counts: VerbCounts,
  calls: CallCounts,
  others: number,
): string[] {
  const answered = (calls.answered[name] ?? 0) + others;
  if (end === 'killed') {
    const possible = answered + sumSubmitted(calls.errors); // Y2
    if (counts.handled <= possible) return [];
    return [`${name} handled ${count(counts.handled)} ${what}, ${count(possible)} ended`];
  }
  const problems = verbProblems(name, what, counts);
  if (counts.handled === answered) return problems; // Y1
  return [`${name} handled ${count(counts.handled)} ${what}, ${count(answered)} answers came`, ...problems];
}

function shareProblems(evidence: Evidence): string[] {
  const { rounds } = evidence.calls;
  const problems: string[] = [];
  const order = evidence.order.join(', ');
  if (order !== wantedOrder.join(', ')) problems.push(`the first calls went to ${order}`);
  if (rounds.even === 0) problems.push('no round was shared out by weight');
  if (rounds.uneven > 0) problems.push(`${count(rounds.uneven)} rounds were not shared out by weight`);
  const servers = serversOf(evidence);
  const [all, weights] = [sum(rounds.answered), servers.reduce((total, { weight }) => total + weight, 0)];
  for (const { rid, weight } of servers) {
    const answered = answeredByRid(evidence, rid);
    if (answered * weights === all * weight) continue; // Y3
    problems.push(`${rid} of weight ${weight} answered ${count(answered)} of ${count(all)} calls`);
  }
  return problems;
}
