/**
 * The last page of the shop.
 *
 * Owns its wording: it says what is counted, and by whom. Pure. Leaves to `proof` whether it adds up.
 */
import { errorLines, proofLine, row } from '../accounts.ts';
import { type CallCounts, sum, sumErrors } from '../calls.ts';
import { count, ms } from '../numbers.ts';
import { invoiceMs } from './durations.ts';
import { type Evidence, sendAccounts, type ServerEvidence } from './evidence.ts';
import type { Latency } from './reports.ts';

export function summaryLines(evidence: Evidence, problems: readonly string[], coreCount: number): readonly string[] {
  return [
    'What happened',
    ...errorLines(evidence.calls.errors, { reasons, target: 'server' }),
    ...evidence.servers.map((server) => serverLine(server, evidence.calls)),
    ...sendLines(evidence),
    weightLine(evidence),
    latencyLine(evidence.latency),
    speedLine(coreCount),
    '',
    ...problems.map((problem) => `MISMATCH ${problem}`),
    proofLine(evidence.calls),
  ];
}

function weightLine({ steady, servers }: Evidence): string {
  const total = Math.max(1, sum(steady.answered));
  const shares = servers.map(({ name }) => `${(((steady.answered[name] ?? 0) / total) * 100).toFixed(1)} %`);
  const weights = servers.map(({ weight }) => weight).join(' : ');
  return row('weights', `${weights} gave shares of ${shares.join(', ')} while all three served`);
}

function latencyLine({ count: quotes, p50Ms, p99Ms }: Latency): string {
  const figures = `p50 ${ms(p50Ms)}, p99 ${ms(p99Ms)} over ${count(quotes)} quotes`;
  return row('latency', `${figures}; invoices, which take a server ${invoiceMs} ms, are left out`);
}

function speedLine(coreCount: number): string {
  const cores = coreCount === 1 ? 'the one core' : `the ${coreCount} cores`;
  return row(
    'speed',
    `one server can be as fast as three: the one client and all servers share ${cores} of this machine`,
  );
}

const reasons: Readonly<Record<string, string>> = {
  Rejected: 'a draining server refused them and handled none; setWeight(0) before the stop avoids them',
  Unavailable: 'their connection ended before the answer came',
  DeadlineExceeded: 'their time ran out',
};

function serverLine({ name, end, counts }: ServerEvidence, calls: CallCounts): string {
  const answered = count(calls.answered[name] ?? 0);
  const handled = count(counts.requests.handled);
  if (end === 'killed')
    return row(name, `killed: ${answered} answers arrived; the last count it sent before: ${handled} requests handled`);
  const refused = sum(counts.requests.dropped);
  const more = refused === 0 ? '' : `; ${count(refused)} refused while it drained`;
  return row(name, `${end}: ${handled} requests handled = ${answered} answers that arrived${more}`);
}

function sendLines(evidence: Evidence): string[] {
  const { handled, dropped, rest, killed } = sendAccounts(evidence);
  const handlers = evidence.servers.filter(({ end }) => end !== 'killed').map(({ name }) => name);
  const parts = [`${count(handled)} handled by ${handlers.join(' and ')}`];
  if (dropped > 0) parts.push(`${count(dropped)} dropped by a draining server`);
  if (killed !== undefined) parts.push(`${count(rest)} for ${killed.name}`);
  const lines = [row('one-way', `${count(evidence.sends.accepted)} messages sent = ${parts.join(' + ')}`)];
  const failed = sumErrors(evidence.sends.errors);
  if (failed > 0) lines.push(row('', `${count(failed)} more failed with a typed error`));
  if (killed !== undefined) {
    const known = count(killed.counts.sends.handled);
    lines.push(
      row('', `the last count ${killed.name} sent before it was killed: ${known} handled; of the rest nobody knows`),
    );
  }
  return lines;
}
