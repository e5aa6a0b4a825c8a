/**
 * Runs the validators that applications attach to packets.
 *
 * Owns: the Standard Schema contract as far as it is needed, and the translation of its outcome. Leaves to others: when
 * to check, and what becomes of a message that failed (MSG-004).
 *
 * Invariants
 * S1 Validation is synchronous; a promise is refused, and its rejection never becomes an unhandled one.
 * S2 An error names the packet, paths and the validator's own words, bounded. Those words may quote the value: records get
 *    packet and paths alone (TRACE-004).
 */
import { describeValue, ZLinkError } from '../errors/index.ts';
import { setRecordText } from '../errors/record-text.ts';
import { isThenable } from './thenable.ts';

/** The part of the Standard Schema interface, version 1, that is used here. */
export interface StandardSchemaV1<I, O> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    // eslint-disable-next-line @typescript-eslint/no-explicit-any -- validators declare narrower results of their own
    readonly validate: (value: unknown) => any;
    readonly types?: { readonly input: I; readonly output: O } | undefined;
  };
}

type AnySchema = StandardSchemaV1<unknown, unknown>;

const issuesShown = 3;
const issueTextLimit = 120;

export function isSchema(value: unknown): value is AnySchema {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  const standard = (value as { '~standard'?: unknown })['~standard'];
  if (typeof standard !== 'object' || standard === null) return false;
  const { version, validate } = standard as { version?: unknown; validate?: unknown };
  return version === 1 && typeof validate === 'function';
}

/**
 * Checks a value before it is encoded. Only checks: the value given is the one that is sent, so what a schema would
 * change is for the receiving side to change.
 *
 * @throws ZLinkError `InvalidOperation`
 */
export function validateOutbound(schema: AnySchema, value: unknown, packetName: string): void {
  runSchema(schema, value, packetName, 'InvalidOperation');
}

/**
 * Checks a decoded value and returns what the schema makes of it.
 *
 * @throws ZLinkError `ProtocolError`
 */
export function validateInbound(schema: AnySchema, value: unknown, packetName: string): unknown {
  return runSchema(schema, value, packetName, 'ProtocolError');
}

type FailureKind = 'InvalidOperation' | 'ProtocolError';

function runSchema(schema: AnySchema, value: unknown, packetName: string, kind: FailureKind): unknown {
  let outcome: unknown;
  try {
    outcome = schema['~standard'].validate(value);
  } catch (cause) {
    throw new ZLinkError(kind, `schema of packet ${describeValue(packetName)} threw`, { cause });
  }
  if (typeof outcome !== 'object' || outcome === null) {
    throw new ZLinkError(kind, `schema of packet ${describeValue(packetName)} gave no result`);
  }
  if (isThenable(outcome)) {
    Promise.resolve(outcome).catch(ignore); // S1
    throw new ZLinkError(
      kind,
      `schema of packet ${describeValue(packetName)} answered with a promise; validation is synchronous`,
    );
  }
  const { issues, value: output } = outcome as { issues?: unknown; value?: unknown };
  if (issues !== undefined) {
    const what = `value of packet ${describeValue(packetName)} does not fit`;
    const error = new ZLinkError(kind, `${what}: ${describeIssues(issues, describeIssue)}`);
    setRecordText(error, `[${kind}] ${what}: ${describeIssues(issues, describeIssuePath)}`); // S2
    throw error;
  }
  return output;
}

function ignore(): void {}

function describeIssues(issues: unknown, describe: (issue: unknown) => string): string {
  if (!Array.isArray(issues) || issues.length === 0) return 'no reason given';
  const shown = issues.slice(0, issuesShown).map(describe);
  if (issues.length > issuesShown) shown.push(`and ${issues.length - issuesShown} more`);
  return shown.join('; ');
}

function describeIssue(issue: unknown): string {
  if (typeof issue !== 'object' || issue === null) return 'no reason given';
  const { message } = issue as { message?: unknown };
  const text = typeof message === 'string' && message !== '' ? message : 'no reason given';
  const where = pathOf(issue);
  return shorten(where === '' ? text : `${where}: ${text}`);
}

function describeIssuePath(issue: unknown): string {
  const where = typeof issue === 'object' && issue !== null ? pathOf(issue) : '';
  return shorten(where === '' ? 'the whole of it' : where);
}

function pathOf(issue: { path?: unknown }): string {
  return Array.isArray(issue.path) ? describePath(issue.path) : '';
}

/** A path segment is a key, or an object that has it as `key`. */
function describePath(path: readonly unknown[]): string {
  let text = '';
  for (const segment of path) {
    const key: unknown = typeof segment === 'object' && segment !== null ? (segment as { key?: unknown }).key : segment;
    if (typeof key === 'number') text += `[${key}]`;
    else text += `${text === '' ? '' : '.'}${String(key)}`;
    if (text.length > issueTextLimit) break;
  }
  return text;
}

function shorten(text: string): string {
  return text.length <= issueTextLimit ? text : `${text.slice(0, issueTextLimit)}…`;
}
