/**
 * What a composer may say about an engine.
 *
 * Owns defaults and checks. Leaves key material to curve.ts.
 */
import { ConfigurationError, describeValue } from '@zlink/kernel/errors';
import { type Clock, systemClock } from '@zlink/kernel/internal/time';
import { type AttemptRateLimits, defaultAttemptRate } from './attempt-rate.ts';
import { curveProblems, type CurveSecurity } from './curve.ts';

export interface EngineWarning {
  readonly event: 'bind failed' | 'internal fault' | 'unsecured bind';
  readonly address: string;
  readonly [field: string]: unknown;
}

export interface ZmqEngineOptions {
  /** Threads that move bytes, 1..32; default 1. */
  readonly ioThreads?: number;
  /** Encrypts and authenticates every pipe; default: none. */
  readonly security?: CurveSecurity;
  /** Attempts to connect per address; default: 200 at once and 100 a second, from loopback a hundred times as many. */
  readonly attemptRate?: Partial<AttemptRateLimits>;
  /** Told what an operator should know. */
  readonly warn?: (warning: EngineWarning) => void;
  readonly clock?: Clock;
}

export interface ResolvedEngineOptions {
  readonly ioThreads: number;
  readonly security: CurveSecurity | undefined;
  readonly attemptRate: AttemptRateLimits;
  /** Never throws. */
  readonly warn: (warning: EngineWarning) => void;
  readonly clock: Clock;
}

const maxIoThreads = 32;

/** @throws ConfigurationError with every mistake */
export function resolveEngineOptions(options: ZmqEngineOptions): ResolvedEngineOptions {
  const { ioThreads = 1, security, warn = () => undefined, clock = systemClock } = options;
  const attemptRate = { ...defaultAttemptRate, ...options.attemptRate };
  const problems = security === undefined ? [] : curveProblems(security);
  if (!Number.isInteger(ioThreads) || ioThreads < 1 || ioThreads > maxIoThreads) {
    problems.push(`ioThreads: ${describeValue(ioThreads)} is not allowed, allowed: 1..${maxIoThreads}`);
  }
  for (const [name, value] of Object.entries(attemptRate)) {
    if (typeof value === 'number' && value > 0) continue;
    problems.push(`attemptRate.${name}: ${describeValue(value)} is not allowed, allowed: a number above 0`);
  }
  if (problems.length > 0) throw new ConfigurationError(problems);
  return Object.freeze({ ioThreads, security, attemptRate, warn: guarded(warn), clock });
}

/** An operator that cannot be told is no reason for a connection to fail (WIRE-003). */
function guarded(warn: ResolvedEngineOptions['warn']): ResolvedEngineOptions['warn'] {
  return (warning) => {
    try {
      warn(warning);
    } catch {
      // There is nobody else to tell.
    }
  };
}
