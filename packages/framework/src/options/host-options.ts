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
import { checkAdvertiseHost, checkBindHost, isName } from '@zlink/kernel/identity';
import type { JobPermitLimits } from '@zlink/kernel/internal/execution';
import { type HostSurroundings, surroundingsIn, type TestSurroundings } from '@zlink/kernel/internal/host';
import { checkOptionNames, isObject } from '@zlink/kernel/internal/options';
import { systemClock } from '@zlink/kernel/internal/time';
import { maxVersion } from '@zlink/kernel/location';
import {
  guardLogger,
  guardUnhandled,
  type Logger,
  logUnhandled,
  RateLimitedLog,
  stderrLogger,
  type UnhandledListener,
} from '@zlink/kernel/observe';
import type { TelemetryOptions } from '@zlink/telemetry';
import { type DiagnosticsOptions, resolveDiagnostics } from './diagnostics-options.ts';
import { type Profile, resolveJobQueue } from './job-queue.ts';
import { type LocationOptions, resolveLocation } from './location-options.ts';
import { checkFlag, checkMethods } from './option-kinds.ts';
import { resolveTelemetry } from './telemetry-options.ts';

/** Of a shutdown without options: a host that never started has no resolved ones. */
export const DEFAULT_SHUTDOWN_DEADLINE_MS = 30_000;

/**
 * All optional. Values are checked when the host starts, all mistakes together (`ConfigurationError`); a name that is no
 * option is a mistake, too.
 *
 * @see HOSTREG-003, ERR-002
 */
export interface HostOptions {
  /** Where listeners are bound and reached, unless they say so themselves. @see NET-001 */
  readonly network?: {
    /** Interface that listeners bind: a host name, an IP address or `*`; default `127.0.0.1`. @see NET-001 */
    readonly bindHost?: string;
    /**
     * Host name or IP address under which others reach listeners, up to 243 bytes, no wildcard; default: the bind host,
     * which must then be no wildcard.
     *
     * @see NET-001
     */
    readonly advertiseHost?: string;
  };
  /**
   * Makes a scope of dependencies per dispatch for handler and filter classes. Default: none; a class with a
   * `static inject` is a mistake then.
   *
   * @see DISP-009
   */
  readonly services?: ServiceProvider;
  /**
   * Bounds a whole request in ms, then it ends with `DeadlineExceeded`; integer 1..2_147_483_647; default 30_000. A client
   * role and a call may have their own.
   *
   * @see CALL-003
   */
  readonly requestTimeoutMs?: number;
  /**
   * Bounds the wait until the queue of the chosen server's link accepts a message, in ms, then the call ends with
   * `DeadlineExceeded`; integer 1..2_147_483_647; default 1_000. A client role may have its own.
   *
   * @see CALL-003
   */
  readonly sendTimeoutMs?: number;
  /** Memory and queue limits of received messages. @see JOBQ-001 */
  readonly inboundDispatch?: {
    /**
     * Memory that the messaging budget is a share of, integer bytes from 1 up to the limit of this process; default: the
     * smaller one of container and V8 heap limit, else the memory of the machine.
     *
     * @see JOBQ-002
     */
    readonly coreHwmMemoryLimitBytes?: number;
    /** The messaging budget itself, integer bytes from 1 up to the limit of this process; wins over limit and profile. */
    readonly coreHwmBudgetBytes?: number;
    /** Share of the limit: 5, 10, 20 or 40 %; default `balanced` (20 %). */
    readonly coreHwmProfile?: Profile;
    /** Waiting jobs per processor: 32, 64, 128 or 256; default `balanced` (128). */
    readonly applicationJobQueueProfile?: Profile;
    /** Waiting jobs of the whole host; integer 1..2_147_483_647; default: the profile's figure times processors. */
    readonly maxQueuedApplicationJobs?: number;
    /** Receiving pauses at this share of waiting jobs, in percent; integer 1..100; default 80. @see JOBQ-005 */
    readonly pauseThresholdPercent?: number;
    /** Receiving resumes at this share, in percent; integer 0..99, below the pause threshold; default 60. @see JOBQ-005 */
    readonly resumeThresholdPercent?: number;
  };
  /** Times and budgets around the stores; without a store they mean nothing. @see LOC-005, HOST-009 */
  readonly location?: Partial<LocationOptions>;
  /** Of the application that this process runs; 1n..2n ** 63n - 1n; default 1n. @see HOST-009 */
  readonly applicationVersion?: bigint;
  /** Hosts of one wave are maintained together; 1..255 bytes of UTF-8 without NUL; default: none. @see HOST-009 */
  readonly maintenanceWave?: string;
  /** Time that `shutdown` takes at most, in ms; integer 1..2_147_483_647; default 30_000. @see DRAIN-006 */
  readonly shutdownDeadlineMs?: number;
  /**
   * Whether callers see the text of errors that handlers throw; default false: `InternalFailure` alone. A `ZLinkError` that
   * a handler throws is meant for its caller and always seen, a `ConfigurationError` never.
   *
   * @see DISP-004, ERR-005
   */
  readonly exposeErrorMessages?: boolean;
  /** CURVE encryption and identity for all sockets; default: none. @see SEC-001 */
  readonly security?: CurveSecurity;
  /** How much is recorded of messages. @see TRACE-010, TRACE-011 */
  readonly diagnostics?: DiagnosticsOptions;
  /**
   * Where metrics and spans go; default: what is registered globally with `@opentelemetry/api` when the host starts, and
   * without that nowhere.
   *
   * @see METRIC-001, TRACE-025
   */
  readonly telemetry?: TelemetryOptions;
  /** Receives log records; default: JSON lines on stderr, warnings and errors only. What it throws changes nothing. */
  readonly logger?: Logger;
  /**
   * Gets every error, as it was thrown, of handlers, filters, disposals and stopping services that no caller gets to see;
   * `where` names the place. What it throws is logged and changes nothing. Default: one log record
   * `zlink.runtime.unhandled_error` with the first frames of the stack, per second and place.
   *
   * @see DISP-004, SVC-001, TRACE-004
   */
  readonly onUnhandled?: UnhandledListener;
  /** For tests only. */
  readonly testing?: {
    /** Lets this host start beside others of the same process; default false. @see HOSTREG-001 */
    readonly allowSeveralHosts?: boolean;
    /** Network and time of a test cluster, in the place of sockets and the system's clock. @see HOSTREG-005 */
    readonly surroundings?: TestSurroundings;
  };
}

export interface ResolvedHostOptions {
  readonly bindHost: string;
  readonly advertiseHost: string | undefined;
  readonly services: ServiceProvider | undefined;
  readonly requestTimeoutMs: number;
  readonly sendTimeoutMs: number;
  readonly shutdownDeadlineMs: number;
  readonly location: LocationOptions;
  readonly diagnostics: Required<DiagnosticsOptions>;
  readonly telemetry: TelemetryOptions;
  readonly jobs: JobPermitLimits;
  readonly memory: MessagingMemory;
  readonly exposeErrorMessages: boolean;
  readonly security: CurveSecurity | undefined;
  readonly logger: Logger;
  /** Over that logger, for what can happen often. */
  readonly log: RateLimitedLog;
  readonly onUnhandled: UnhandledListener;
  readonly allowSeveralHosts: boolean;
  /** Undefined: those of the system, and ZeroMQ. */
  readonly surroundings: HostSurroundings | undefined;
}

type Group = 'network' | 'inboundDispatch' | 'security' | 'testing';

const OPTION_NAMES = (
  'network services requestTimeoutMs sendTimeoutMs inboundDispatch location applicationVersion maintenanceWave ' +
  'shutdownDeadlineMs exposeErrorMessages diagnostics telemetry security logger onUnhandled testing'
).split(' ');

const GROUP_NAMES: Readonly<Record<Group, string>> = {
  network: 'bindHost advertiseHost',
  inboundDispatch:
    'coreHwmMemoryLimitBytes coreHwmBudgetBytes coreHwmProfile applicationJobQueueProfile maxQueuedApplicationJobs ' +
    'pauseThresholdPercent resumeThresholdPercent',
  security: 'publicKey secretKey serverPublicKey allowedClientKeys',
  testing: 'allowSeveralHosts surroundings',
};

/** The engine's options by the names of the host's. */
const MEMORY_NAMES = {
  limitBytes: 'inboundDispatch.coreHwmMemoryLimitBytes',
  budgetBytes: 'inboundDispatch.coreHwmBudgetBytes',
  profile: 'inboundDispatch.coreHwmProfile',
} as const;

export function resolveHostOptions(given: HostOptions, problems: Problems): ResolvedHostOptions {
  checkNames(given, problems);
  const options = isObject(given) ? given : {};
  const inbound = options.inboundDispatch ?? {};
  const logger = guardLogger(options.logger ?? stderrLogger);
  const surroundings = surroundingsIn(options.testing?.surroundings);
  const log = new RateLimitedLog(logger, surroundings?.clock ?? systemClock);
  const resolved: ResolvedHostOptions = {
    bindHost: options.network?.bindHost ?? '127.0.0.1',
    advertiseHost: options.network?.advertiseHost,
    services: options.services,
    requestTimeoutMs: options.requestTimeoutMs ?? 30_000,
    sendTimeoutMs: options.sendTimeoutMs ?? 1_000,
    shutdownDeadlineMs: options.shutdownDeadlineMs ?? DEFAULT_SHUTDOWN_DEADLINE_MS,
    location: resolveLocation(options.location, problems),
    diagnostics: resolveDiagnostics(options.diagnostics, problems),
    telemetry: resolveTelemetry(options.telemetry, problems),
    jobs: resolveJobQueue(inbound, readProcessorFacts(), problems),
    memory: resolveMessagingMemory(
      {
        limitBytes: inbound.coreHwmMemoryLimitBytes,
        budgetBytes: inbound.coreHwmBudgetBytes,
        profile: inbound.coreHwmProfile,
      },
      readMemoryFacts(),
      problems,
      MEMORY_NAMES,
    ),
    exposeErrorMessages: options.exposeErrorMessages ?? false,
    security: isObject(options.security) ? options.security : undefined,
    logger,
    log,
    onUnhandled: guardUnhandled(options.onUnhandled ?? logUnhandled(log), log),
    allowSeveralHosts: options.testing?.allowSeveralHosts ?? false,
    surroundings,
  };
  checkTimeouts(resolved, problems);
  checkApplication(options, problems);
  checkNetwork(resolved, problems);
  checkParts(options, problems);
  checkSurroundings(options, problems);
  if (resolved.security !== undefined) for (const text of curveProblems(resolved.security)) problems.note(text);
  return Object.freeze(resolved);
}

function checkNames(given: HostOptions, problems: Problems): void {
  checkOptionNames('options', given, OPTION_NAMES, problems);
  for (const group of isObject(given) ? (Object.keys(GROUP_NAMES) as Group[]) : []) {
    // the keys of that very object
    checkOptionNames(group, given[group], GROUP_NAMES[group].split(' '), problems);
  }
}

function checkTimeouts(options: ResolvedHostOptions, problems: Problems): void {
  for (const name of ['requestTimeoutMs', 'sendTimeoutMs', 'shutdownDeadlineMs'] as const) {
    if (!isTimeoutMs(options[name])) problems.add(name, options[name], `integer 1..${MAX_TIMEOUT_MS}`);
  }
}

function checkApplication({ applicationVersion = 1n, maintenanceWave }: HostOptions, problems: Problems): void {
  // Plain JavaScript may compare a number, which is no version.
  if (typeof applicationVersion !== 'bigint' || applicationVersion < 1n || applicationVersion > maxVersion) {
    problems.add('applicationVersion', applicationVersion, '1n..9223372036854775807n');
  }
  if (maintenanceWave !== undefined && !isName(maintenanceWave)) {
    problems.add('maintenanceWave', maintenanceWave, '1..255 bytes of UTF-8 without NUL');
  }
}

function checkNetwork(options: ResolvedHostOptions, problems: Problems): void {
  checkBindHost('network.bindHost', options.bindHost, problems);
  if (options.advertiseHost !== undefined) checkAdvertiseHost('network.advertiseHost', options.advertiseHost, problems);
}

/** What plain JavaScript could get wrong and only the first message would show. */
function checkParts({ services, logger, onUnhandled, ...flags }: HostOptions, problems: Problems): void {
  const levels = ['debug', 'info', 'warn', 'error'];
  checkMethods('services', services, ['createScope'], 'an object with createScope', problems);
  checkMethods('logger', logger, levels, 'an object with debug, info, warn and error', problems);
  if (onUnhandled !== undefined && typeof onUnhandled !== 'function') {
    problems.add('onUnhandled', onUnhandled, 'a function');
  }
  checkFlag('exposeErrorMessages', flags.exposeErrorMessages, problems);
  checkFlag('testing.allowSeveralHosts', flags.testing?.allowSeveralHosts, problems);
}

function checkSurroundings({ testing, security }: HostOptions, problems: Problems): void {
  const given: unknown = testing?.surroundings;
  if (given === undefined) return;
  if (surroundingsIn(given) === undefined) {
    problems.add('testing.surroundings', given, 'what createTestCluster of @zlink/testing makes');
  } else if (security !== undefined) {
    problems.note('security: the network of a test cluster encrypts nothing; leave security out of such a test');
  }
}
