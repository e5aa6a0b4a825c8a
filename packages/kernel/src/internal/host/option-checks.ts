/**
 * Checks of options that several topics have: weights, timeouts, hosts, endpoints.
 *
 * Owns the rules and how mistakes are worded. Leaves names of options and plain ranges to internal/options, and which
 * options there are to each topic.
 *
 * 1. What a start checks throws nothing: it reports every mistake together (ERR-002). Only `requireWeight` is for later.
 */
import { isTimeoutMs, MAX_TIMEOUT_MS } from '../../call/index.ts';
import { Problems } from '../../errors/index.ts';
import { checkAdvertiseHost, checkBindHost, isHost, isWildcardHost, parseEndpoint } from '../../identity/index.ts';
import { checkInteger, type ProblemList } from '../options/index.ts';
import type { ValidationContext } from './host-parts.ts';

/** What a manual endpoint must be. */
export const DIALABLE_ENDPOINT = 'tcp://host:port, no wildcard, port 1..65535';

const MAX_INT32 = 2_147_483_647;

/** Whether `endpoint` names one place that can be dialled. */
export function isDialable(endpoint: unknown): endpoint is string {
  const parsed = typeof endpoint === 'string' ? parseEndpoint(endpoint) : undefined;
  return parsed !== undefined && parsed.port > 0 && !isWildcardHost(parsed.host);
}

export function checkWeight(option: string, value: unknown, problems: ProblemList): void {
  checkInteger(option, value, 0, 10_000, problems);
}

/** @throws ConfigurationError for a weight out of range, set while the host runs (CS-011, MESH-005) */
export function requireWeight(option: string, value: unknown): void {
  const problems = new Problems();
  checkWeight(option, value, problems);
  problems.throwIfAny();
}

export function checkPort(option: string, value: unknown, problems: ProblemList): void {
  checkInteger(option, value, 0, 65_535, problems);
}

/** Handlers that may overlap (DISP-005). */
export function checkConcurrency(option: string, value: unknown, problems: ProblemList): void {
  checkInteger(option, value, 1, MAX_INT32, problems);
}

/** Undefined stands for the default. */
export function checkTimeoutMs(option: string, value: unknown, problems: ProblemList): void {
  if (value !== undefined && !isTimeoutMs(value)) problems.add(option, value, `integer 1..${MAX_TIMEOUT_MS}`);
}

/** A listener's own overrides; the host reports its own options, once and under their names (NET-001). */
export function checkListenHosts(
  where: string,
  listener: { readonly bindHost: string | undefined; readonly advertiseHost: string | undefined },
  context: ValidationContext,
): void {
  const { problems } = context;
  const { bindHost = context.bindHost, advertiseHost = context.advertiseHost } = listener;
  if (listener.bindHost !== undefined) checkBindHost(`${where} bindHost`, listener.bindHost, problems);
  if (listener.advertiseHost !== undefined) {
    checkAdvertiseHost(`${where} advertiseHost`, listener.advertiseHost, problems);
  }
  if (advertiseHost === undefined && isHost(bindHost) && isWildcardHost(bindHost)) {
    const hint = context.advertiseHint === undefined ? '' : `; ${context.advertiseHint}`;
    problems.note(`${where}: bindHost "${bindHost}" is a wildcard and needs an advertiseHost${hint}`);
  }
}
