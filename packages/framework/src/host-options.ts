/** Options of a host: what applications give and what start makes of it. */
import {
  type CurveSecurity,
  type MessagingMemory,
  curveProblems,
  readMemoryFacts,
  readProcessorFacts,
  resolveMessagingMemory,
} from '@zlink/core-binding';
import { isTimeoutMs, MAX_TIMEOUT_MS } from '@zlink/kernel/call';
import type { ServiceProvider } from '@zlink/kernel/dispatch';
import type { Problems } from '@zlink/kernel/errors';
import { checkAdvertiseHost, checkBindHost } from '@zlink/kernel/identity';
import type { JobPermitLimits } from '@zlink/kernel/internal/execution';
import { guardLogger, guardUnhandled, type Logger, stderrLogger, type UnhandledListener } from '@zlink/kernel/observe';
import { resolveJobQueue } from './job-queue.ts';

/**
 * How much a host takes in before its senders wait: share of memory, and waiting jobs per processor.
 * - `compact`: 5 %, 32 jobs
 * - `lowLatency`: 10 %, 64 jobs
 * - `balanced`: 20 %, 128 jobs
 * - `throughput`: 40 %, 256 jobs
 */
export type Profile = 'compact' | 'lowLatency' | 'balanced' | 'throughput';

export interface HostOptions {
  readonly network?: {
    /** Interface that listeners bind; default `127.0.0.1`. @see NET-001 */
    readonly bindHost?: string;
    /** Name or address under which others reach listeners; default: the bind host, which must then be no wildcard. */
    readonly advertiseHost?: string;
  };
  /** Makes a scope of dependencies per dispatch for handler and filter classes. @see DISP-009 */
  readonly services?: ServiceProvider;
  /** Bounds a whole request in ms; integer 1..2_147_483_647; default 30_000. @see CALL-003 */
  readonly requestTimeoutMs?: number;
  /** Bounds the wait for acceptance in ms; integer 1..2_147_483_647; default 1_000. @see CALL-003 */
  readonly sendTimeoutMs?: number;
  /** Memory and queue limits of received messages. @see JOBQ-001 */
  readonly inboundDispatch?: {
    /** Memory that the messaging budget is a share of, bytes from 1; default: container or V8 heap limit. */
    readonly coreHwmMemoryLimitBytes?: number;
    /** The messaging budget itself, bytes from 1; wins over the limit. */
    readonly coreHwmBudgetBytes?: number;
    /** Share of the limit: 5, 10, 20 or 40 %; default `balanced` (20 %). */
    readonly coreHwmProfile?: Profile;
    /** Waiting jobs per processor: 32, 64, 128 or 256; default `balanced` (128). */
    readonly applicationJobQueueProfile?: Profile;
    /** Waiting jobs of the whole host, replaces the profile's figure; integer 1..2_147_483_647. */
    readonly maxQueuedApplicationJobs?: number;
    /** Receiving pauses at this share of waiting jobs; integer 1..100; default 80. */
    readonly pauseThresholdPercent?: number;
    /** Receiving resumes at this share; integer 0..99, below the pause threshold; default 60. */
    readonly resumeThresholdPercent?: number;
  };
  /** Time that `shutdown` takes at most in ms; integer 1..2_147_483_647; default 30_000. */
  readonly shutdownDeadlineMs?: number;
  /** Whether callers see the text of errors that handlers throw; default false: the kind only. @see DISP-004 */
  readonly exposeErrorMessages?: boolean;
  /** CURVE encryption and identity for all sockets; default: none. @see SEC-001 */
  readonly security?: CurveSecurity;
  /** Receives log records; default: JSON lines on stderr, warnings and errors only. */
  readonly logger?: Logger;
  /** Told about errors of handlers that no caller gets to see. @see DISP-004 */
  readonly onUnhandled?: UnhandledListener;
  /** For tests only. */
  readonly testing?: {
    /** Lets several hosts run in this process (HOSTREG-001). */
    readonly allowSeveralHosts?: boolean;
  };
}

export interface ResolvedHostOptions {
  readonly bindHost: string;
  readonly advertiseHost: string | undefined;
  readonly services: ServiceProvider | undefined;
  readonly requestTimeoutMs: number;
  readonly sendTimeoutMs: number;
  readonly shutdownDeadlineMs: number;
  readonly jobs: JobPermitLimits;
  readonly memory: MessagingMemory;
  readonly exposeErrorMessages: boolean;
  readonly security: CurveSecurity | undefined;
  readonly logger: Logger;
  readonly onUnhandled: UnhandledListener;
  readonly allowSeveralHosts: boolean;
}

export function resolveHostOptions(options: HostOptions, problems: Problems): ResolvedHostOptions {
  const inbound = options.inboundDispatch ?? {};
  const logger = guardLogger(options.logger ?? stderrLogger);
  const resolved: ResolvedHostOptions = {
    bindHost: options.network?.bindHost ?? '127.0.0.1',
    advertiseHost: options.network?.advertiseHost,
    services: options.services,
    requestTimeoutMs: options.requestTimeoutMs ?? 30_000,
    sendTimeoutMs: options.sendTimeoutMs ?? 1_000,
    shutdownDeadlineMs: options.shutdownDeadlineMs ?? 30_000,
    jobs: resolveJobQueue(inbound, readProcessorFacts(), problems),
    memory: resolveMessagingMemory(
      {
        limitBytes: inbound.coreHwmMemoryLimitBytes,
        budgetBytes: inbound.coreHwmBudgetBytes,
        profile: inbound.coreHwmProfile,
      },
      readMemoryFacts(),
      problems,
    ),
    exposeErrorMessages: options.exposeErrorMessages ?? false,
    security: options.security,
    logger,
    onUnhandled: guardUnhandled(options.onUnhandled ?? (() => undefined), logger),
    allowSeveralHosts: options.testing?.allowSeveralHosts ?? false,
  };
  checkTimeouts(resolved, problems);
  checkNetwork(resolved, problems);
  checkParts(options, problems);
  if (resolved.security !== undefined) for (const text of curveProblems(resolved.security)) problems.note(text);
  return Object.freeze(resolved);
}

function checkTimeouts(options: ResolvedHostOptions, problems: Problems): void {
  for (const name of ['requestTimeoutMs', 'sendTimeoutMs', 'shutdownDeadlineMs'] as const) {
    if (!isTimeoutMs(options[name])) problems.add(name, options[name], `integer 1..${MAX_TIMEOUT_MS}`);
  }
}

function checkNetwork(options: ResolvedHostOptions, problems: Problems): void {
  checkBindHost('network.bindHost', options.bindHost, problems);
  if (options.advertiseHost !== undefined) checkAdvertiseHost('network.advertiseHost', options.advertiseHost, problems);
}

/** What plain JavaScript could get wrong and only the first message would show. */
function checkParts(options: HostOptions, problems: Problems): void {
  const { services, logger, onUnhandled } = options;
  if (services !== undefined && !hasMethods(services, ['createScope'])) {
    problems.add('services', services, 'an object with createScope');
  }
  if (logger !== undefined && !hasMethods(logger, ['debug', 'info', 'warn', 'error'])) {
    problems.add('logger', logger, 'an object with debug, info, warn and error');
  }
  if (onUnhandled !== undefined && typeof onUnhandled !== 'function') {
    problems.add('onUnhandled', onUnhandled, 'a function');
  }
}

function hasMethods(value: unknown, names: readonly string[]): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const methods = value as Readonly<Record<string, unknown>>; // any object may be asked for any property
  return names.every((name) => typeof methods[name] === 'function');
}
