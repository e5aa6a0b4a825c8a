/**
 * The last page of the mesh.
 *
 * Owns its wording: it says what is counted, and by whom. Pure. Leaves to `proof` whether it adds up.
 */
import { errorLines, proofLine, row } from '../accounts.ts';
import { addCalls, type CallCounts } from '../calls.ts';
import { count } from '../numbers.ts';
import { answeredByRid, type Evidence, type NodeEvidence, serversOf } from './evidence.ts';
import type { CallerCounts } from './reports.ts';

export function summaryLines(evidence: Evidence, problems: readonly string[]): readonly string[] {
  const calls = allCalls(evidence.calls);
  return [
    'What happened in the mesh',
    ...errorLines(calls.errors, { reasons, target: 'node' }),
    ...evidence.nodes.map((node) => nodeLine(node, evidence)),
    row('order', `the first four calls went to ${evidence.order.join(', ')}`),
    weightLine(evidence),
    '',
    ...problems.map((problem) => `MISMATCH ${problem}`),
    proofLine(calls),
  ];
}

/** Calls to the channel and direct ones together. */
export function allCalls({ channel, direct }: CallerCounts): CallCounts {
  return addCalls(channel, direct);
}

const reasons: Readonly<Record<string, string>> = {
  Unavailable: 'the node was killed under them, or was not back in time',
  DeadlineExceeded: 'their time ran out',
};

function nodeLine({ name, rid, weight, end, counts }: NodeEvidence, { calls, greetings }: Evidence): string {
  const greeted = greetings.filter((answer) => answer.name === name).length;
  const direct = (calls.direct.answered[name] ?? 0) + greeted;
  if (weight === 0) {
    return row(
      name,
      `${end}: ${count(counts.direct.handled)} direct requests handled = ${direct} answers that arrived`,
    );
  }
  const answers = `${count(calls.channel.answered[name] ?? 0)} + ${count(direct)} answers`;
  if (end === 'killed') {
    const handled = `${count(counts.channel.handled)} + ${count(counts.direct.handled)} requests handled`;
    return row(name, `killed: ${answers} arrived; the last count it sent before: ${handled}`);
  }
  const handled = `${count(counts.channel.handled)} channel + ${count(counts.direct.handled)} direct requests handled`;
  const which = name === rid ? '' : `${rid} in its new process, `;
  return row(name, `${which}${end}: ${handled} = ${answers} that arrived`);
}

function weightLine(evidence: Evidence): string {
  const servers = serversOf(evidence);
  const weights = servers.map(({ weight }) => weight).join(' : ');
  const shares = servers.map(({ rid }) => count(answeredByRid(evidence, rid))).join(' : ');
  return row('weights', `${weights} shared out ${shares} calls while both nodes were ready`);
}
