/**
 * What counts of calls prove, whatever the act, and how they read on its last page.
 *
 * Pure. Leaves what an act proves beyond that to the act.
 *
 * A1 Every accepted call has exactly one end, an answer or a typed error; anything else is a problem.
 * A2 Who ended in order handled exactly the requests whose answers others have.
 * A3 Of who was killed only the last counts that it sent are known: what it handled was answered or ended with an error.
 */
import { type CallCounts, type ErrorCounts, inFlight, sum, sumErrors, sumSubmitted, type VerbCounts } from './calls.ts';
import { count } from './numbers.ts';

export function callProblems(calls: CallCounts): string[] {
  const problems: string[] = [];
  const ended = sum(calls.answered) + sumErrors(calls.errors); // A1
  if (calls.accepted !== ended) problems.push(`${count(calls.accepted)} calls accepted, ${count(ended)} ended`);
  if (calls.wrong > 0) problems.push(`${count(calls.wrong)} answers belonged to another call`);
  if (calls.untyped > 0) problems.push(`${count(calls.untyped)} calls failed without a ZLinkError`);
  if (calls.accepted === 0) problems.push('no call was made');
  return problems;
}

/** Of a host that has ended in order: everything it took has ended. */
export function verbProblems(name: string, messages: string, counts: VerbCounts): string[] {
  const known = counts.handled + counts.failed + sum(counts.dropped);
  if (known === counts.accepted && counts.unfinished === 0) return [];
  return [`${name} took ${count(counts.accepted)} ${messages}, ${count(known)} of them ended`];
}

/**
 * A handler's counts against its callers'.
 *
 * @param others - answers that are not among `calls`
 */
export function handledProblems(
  { name, end }: { readonly name: string; readonly end: string },
  what: string,
  counts: VerbCounts,
  calls: CallCounts,
  others = 0,
): string[] {
  const answered = (calls.answered[name] ?? 0) + others;
  if (end === 'killed') {
    const possible = answered + sumSubmitted(calls.errors); // A3
    if (counts.handled <= possible) return [];
    return [`${name} handled ${count(counts.handled)} ${what}, ${count(possible)} ended`];
  }
  const problems = verbProblems(name, what, counts);
  if (counts.handled === answered) return problems; // A2
  return [`${name} handled ${count(counts.handled)} ${what}, ${count(answered)} answers came`, ...problems];
}

export function proofLine(calls: CallCounts): string {
  const [answered, failed] = [sum(calls.answered), sumErrors(calls.errors)];
  const sign = calls.accepted === answered + failed ? '=' : '≠';
  return `proof: ${count(calls.accepted)} accepted ${sign} ${count(answered)} answered + ${count(failed)} typed errors`;
}

/** In place of the last page when the run was stopped: what the caller had counted, which proves nothing yet. */
export function soFarLine(calls: CallCounts | undefined): string {
  if (calls === undefined) return 'no call was counted yet';
  const [answered, failed] = [sum(calls.answered), sumErrors(calls.errors)];
  const ends = [`${count(answered)} answered`, `${count(failed)} typed errors`];
  if (calls.wrong + calls.untyped > 0) ends.push(`${count(calls.wrong + calls.untyped)} MISMATCHES`);
  return `so far: ${count(calls.accepted)} accepted = ${[...ends, `${count(inFlight(calls))} in flight`].join(' + ')}`;
}

export interface ErrorWording {
  /** By kind. */
  readonly reasons: Readonly<Record<string, string>>;
  /** Who the calls were for. */
  readonly target: 'host' | 'node' | 'server';
}

export function errorLines(errors: Readonly<Record<string, ErrorCounts>>, wording: ErrorWording): string[] {
  const kinds = Object.entries(errors);
  if (kinds.length === 0) return [row('errors', 'none')];
  return kinds.map(([kind, { submitted, notSubmitted }]) => {
    const all = submitted + notSubmitted;
    const reason = wording.reasons[kind];
    const why = reason === undefined ? '' : `: ${reason}`;
    const sent = `(${howMany(submitted, all)} of them had been sent to a ${wording.target})`;
    return row('errors', `${count(all)} ${kind}${why} ${sent}`);
  });
}

function howMany(part: number, all: number): string {
  if (part === 0) return 'none';
  return part === all ? 'all' : count(part);
}

export function row(label: string, text: string): string {
  return `  ${label.padEnd(9)} ${text}`;
}
