/**
 * What a run proves: the client's counts against the servers' own.
 *
 * Owns every claim of the last page. Pure: it gets figures and returns lines and problems.
 *
 * Y1 Every accepted call has exactly one end, an answer or a typed error; anything else is a problem.
 * Y2 A server that ended in order handled exactly the requests whose answers the client has.
 * Y3 Of a killed server only its last report is known: what it handled was answered or ended with an error, and more
 *    cannot be claimed.
 */
import {
  type CallCounts,
  type ErrorCounts,
  type Latency,
  type SendCounts,
  type ServerCounts,
  sum,
  sumErrors,
  type VerbCounts,
} from './reports.ts';
import { count, ms } from './scene.ts';

export interface ServerEvidence {
  readonly name: string;
  readonly weight: number;
  /** `drained` and `stopped` ended in order, the first of them while calls went on. */
  readonly end: 'drained' | 'killed' | 'stopped';
  /** How its shutdown went; a killed one has none. */
  readonly outcome: string | undefined;
  /** Its last report. */
  readonly counts: ServerCounts;
}

export interface Evidence {
  readonly calls: CallCounts;
  /** The client's counts when all servers had served for a while. */
  readonly steady: CallCounts;
  readonly sends: SendCounts;
  readonly latency: Latency;
  readonly servers: readonly ServerEvidence[];
}

export interface Summary {
  readonly lines: readonly string[];
  /** Empty if everything adds up. */
  readonly problems: readonly string[];
}

export function summarize(evidence: Evidence): Summary {
  const problems = [
    ...callProblems(evidence.calls),
    ...refusalProblems(evidence),
    ...evidence.servers.flatMap((server) => serverProblems(server, evidence.calls)),
    ...sendProblems(evidence),
    ...weightProblems(evidence),
  ];
  const lines = [
    'What happened',
    ...errorLines(evidence.calls.errors),
    ...evidence.servers.map((server) => serverLine(server, evidence.calls)),
    ...sendLines(evidence),
    weightLine(evidence),
    row('latency', `p50 ${ms(evidence.latency.p50Ms)}, p99 ${ms(evidence.latency.p99Ms)} of all quick calls`),
    '',
    ...problems.map((problem) => `MISMATCH ${problem}`),
    proofLine(evidence.calls),
  ];
  return { lines, problems };
}

function proofLine(calls: CallCounts): string {
  const [answered, failed] = [sum(calls.answered), sumErrors(calls.errors)];
  const sign = calls.accepted === answered + failed ? '=' : '≠';
  return `proof: ${count(calls.accepted)} accepted ${sign} ${count(answered)} answered + ${count(failed)} typed errors`;
}

function callProblems(calls: CallCounts): string[] {
  const problems: string[] = [];
  const ended = sum(calls.answered) + sumErrors(calls.errors); // Y1
  if (calls.accepted !== ended) problems.push(`${count(calls.accepted)} calls accepted, ${count(ended)} ended`);
  if (calls.wrong > 0) problems.push(`${count(calls.wrong)} answers belonged to another call`);
  if (calls.untyped > 0) problems.push(`${count(calls.untyped)} calls failed without a ZLinkError`);
  if (calls.accepted === 0) problems.push('no call was made');
  return problems;
}

function serverProblems(server: ServerEvidence, calls: CallCounts): string[] {
  const { name, counts, end, outcome } = server;
  const answered = calls.answered[name] ?? 0;
  const { handled } = counts.requests;
  if (answered === 0) return [`${name} answered nothing`];
  if (end === 'killed') {
    const possible = answered + submittedErrors(calls.errors); // Y3
    return handled > possible ? [`${name} handled ${count(handled)} requests, ${count(possible)} ended`] : [];
  }
  const problems: string[] = [];
  if (outcome !== 'stopped') problems.push(`${name} ended with outcome ${outcome ?? 'unknown'}`);
  // Y2
  if (handled !== answered)
    problems.push(`${name} handled ${count(handled)} requests, ${count(answered)} answers came`);
  for (const [verb, one] of Object.entries(counts) as [string, VerbCounts][]) {
    const known = one.handled + one.failed + sum(one.dropped);
    if (known !== one.accepted || one.unfinished !== 0) {
      problems.push(`${name} took ${count(one.accepted)} ${verb}, ${count(known)} of them ended`);
    }
  }
  return problems;
}

/** A rejection that no server counted would be an invented one; one whose reply was lost is another kind of error. */
function refusalProblems({ calls, servers }: Evidence): string[] {
  const refused = servers.reduce((total, { counts }) => total + sum(counts.requests.dropped), 0);
  const { submitted = 0, notSubmitted = 0 } = calls.errors['Rejected'] ?? {};
  const rejected = submitted + notSubmitted;
  return rejected > refused ? [`${count(rejected)} calls were rejected, servers refused ${count(refused)}`] : [];
}

function submittedErrors(errors: Readonly<Record<string, ErrorCounts>>): number {
  return Object.values(errors).reduce((total, { submitted }) => total + submitted, 0);
}

interface SendAccounts {
  readonly handled: number;
  readonly dropped: number;
  /** What is left for the killed server. */
  readonly rest: number;
  readonly killed: ServerEvidence | undefined;
}

function sendAccounts({ sends, servers }: Evidence): SendAccounts {
  const orderly = servers.filter(({ end }) => end !== 'killed').map(({ counts }) => counts.sends);
  const handled = orderly.reduce((total, one) => total + one.handled, 0);
  const dropped = orderly.reduce((total, one) => total + sum(one.dropped), 0);
  return {
    handled,
    dropped,
    rest: sends.accepted - handled - dropped,
    killed: servers.find(({ end }) => end === 'killed'),
  };
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

function weightLine({ steady, servers }: Evidence): string {
  const total = Math.max(1, sum(steady.answered));
  const shares = servers.map(({ name }) => `${(((steady.answered[name] ?? 0) / total) * 100).toFixed(1)} %`);
  const weights = servers.map(({ weight }) => weight).join(' : ');
  return row('weights', `${weights} gave shares of ${shares.join(', ')} while all three served`);
}

const reasons: Readonly<Record<string, string>> = {
  Rejected: 'a draining server refused them, none was handled',
  Unavailable: 'their link ended before the reply',
  DeadlineExceeded: 'their time ran out',
};

function errorLines(errors: Readonly<Record<string, ErrorCounts>>): string[] {
  const kinds = Object.entries(errors);
  if (kinds.length === 0) return [row('errors', 'none')];
  return kinds.map(([kind, { submitted, notSubmitted }]) => {
    const left = submitted === 0 ? 'none had left the client' : `${count(submitted)} had left the client`;
    const reason = reasons[kind];
    return row(
      'errors',
      `${count(submitted + notSubmitted)} ${kind}${reason === undefined ? '' : `: ${reason}`} (${left})`,
    );
  });
}

function serverLine({ name, end, counts }: ServerEvidence, calls: CallCounts): string {
  const answered = count(calls.answered[name] ?? 0);
  const handled = count(counts.requests.handled);
  if (end === 'killed')
    return row(name, `killed: ${answered} answers arrived, its last report said ${handled} handled`);
  const refused = sum(counts.requests.dropped);
  const more = refused === 0 ? '' : `; ${count(refused)} refused while it drained`;
  return row(name, `${end}: ${handled} requests handled = ${answered} answers that arrived${more}`);
}

function sendLines(evidence: Evidence): string[] {
  const { handled, dropped, rest, killed } = sendAccounts(evidence);
  const parts = [`${count(handled)} handled`];
  if (dropped > 0) parts.push(`${count(dropped)} dropped by a draining server`);
  if (killed !== undefined) parts.push(`${count(rest)} for ${killed.name}`);
  const lines = [row('one-way', `${count(evidence.sends.accepted)} accepted = ${parts.join(' + ')}`)];
  const failed = sumErrors(evidence.sends.errors);
  if (failed > 0) lines.push(row('', `${count(failed)} more were refused with a typed error`));
  if (killed !== undefined) {
    const reported = count(killed.counts.sends.handled);
    lines.push(
      row('', `${killed.name} had reported ${reported} handled before it was killed; nobody knows more of them`),
    );
  }
  return lines;
}

function row(label: string, text: string): string {
  return `  ${label.padEnd(9)} ${text}`;
}
