import { ZLinkError, describeValue } from '../errors/index.ts';

/** Longest duration a timer of the platform can carry. */
export const MAX_TIMEOUT_MS = 2_147_483_647;

export function isTimeoutMs(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MAX_TIMEOUT_MS;
}

export function requireTimeoutMs(value: number): number {
  if (isTimeoutMs(value)) return value;
  throw new ZLinkError(
    'InvalidOperation',
    `timeoutMs: ${describeValue(value)} is not allowed, allowed: integer 1..${MAX_TIMEOUT_MS}`,
  );
}
