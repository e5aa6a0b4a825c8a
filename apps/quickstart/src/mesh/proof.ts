/**
 * What a run of the mesh proves: the caller's counts against the nodes' own, and shares against weights.
 *
 * Owns every claim of the last page but those about the calls alone. Pure: it gets figures and returns what does not add up.
 * Leaves wording to `summary`.
 *
 * Y1 Shares are exact, not about right, as long as the servers are the same.
 */
import { callProblems, handledProblems } from '../accounts.ts';
import { sum } from '../calls.ts';
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
    ...handledProblems(node, 'channel requests', counts.channel, calls.channel),
    ...handledProblems(node, 'direct requests', counts.direct, calls.direct, greeted),
  ];
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
    if (answered * weights === all * weight) continue; // Y1
    problems.push(`${rid} of weight ${weight} answered ${count(answered)} of ${count(all)} calls`);
  }
  return problems;
}
