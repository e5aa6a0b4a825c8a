/**
 * What a host does with its stores, in time and bytes: names, defaults and ranges.
 *
 * Owns the rules (LOC-005, HOST-009, HOST-010). Leaves which stores there are to store-options.ts, and what the times mean
 * to discovery, routes and relocation.
 *
 * 1. A host that cannot renew its lease has at least one more try before it has to stop: interval + timeout < ttl - margin.
 * 2. A route is forgotten 5 s before the old owner ceases to forward, so that no message finds nobody.
 */
import { Problems } from '@zlink/kernel/errors';
import { DEFAULT_LOCATION_TIMING } from '@zlink/kernel/internal/discovery';
import { checkInteger, checkOptionNames, isObject } from '@zlink/kernel/internal/options';
import { RECORD_COST_BYTES } from '@zlink/kernel/internal/wire';

/** All in ms or bytes as their names say; integers. Those of a feature that the host does not use are checked all the same. */
export interface LocationOptions {
  /** Life of the host's lease in the store without renewal; 1..2_147_483_647; default 15_000. @see LOC-050 */
  readonly ownerLeaseTtlMs: number;
  /**
   * Between two renewals; 1..2_147_483_647, and with the timeout below ttl - margin; default 5_000.
   *
   * @see LOC-050
   */
  readonly ownerLeaseRenewIntervalMs: number;
  /** Bounds one renewal, and any other call of the store; 1..2_147_483_647; default 3_000. @see LOC-050 */
  readonly ownerLeaseRenewTimeoutMs: number;
  /**
   * So long before its lease could end, a host that cannot renew it stops work that needs it; 1..2_147_483_647; default
   * 5_000.
   *
   * @see LOC-051
   */
  readonly ownerLeaseFencingMarginMs: number;
  /** Between two looks for changed endpoints; 1..2_147_483_647; default 1_000. @see LOC-061 */
  readonly pollingIntervalMs: number;
  /** A link lost while the store is away for so long is dialled again; 1..2_147_483_647; default 30_000. @see LOC-064 */
  readonly storeFailureGraceMs: number;
  /**
   * How long the way to an object is remembered; 0..2_147_483_647, 0: not at all; 5_000 below `messageFollowDurationMs`
   * unless one of both is 0; default 15_000.
   *
   * @see HOST-010
   */
  readonly routeCacheMaxAgeMs: number;
  /** How long the old owner of a moved object forwards; 0..2_147_483_647, 0: not at all; default 30_000. @see HOST-010 */
  readonly messageFollowDurationMs: number;
  /** 1..2_147_483_647; default 3_000. */
  readonly sessionRelocationSealTimeoutMs: number;
  /** 1..2_147_483_647; default 1_000. */
  readonly relocationCutoverWaitTimeoutMs: number;
  /** Largest part of a payload that moves at once; 1..4_294_967_295; default 262_144. */
  readonly relocationPayloadChunkLimitBytes: number;
  /** Payload under way to one peer; 0: no such budget, else a full chunk and 64 bytes at least; default 16_777_216. */
  readonly relocationInFlightPayloadBudgetBytes: number;
  /** Payload under way from this host; 0: no such budget, else a full chunk and 64 bytes at least; default 0. */
  readonly relocationNodeInFlightPayloadBudgetBytes: number;
  /** 1..2_147_483_647; default 64. */
  readonly maxActiveOutboundRelocations: number;
  /** 1..2_147_483_647; default 64. */
  readonly maxActiveInboundRelocations: number;
  /** 1..2_147_483_647; default 8. */
  readonly maxConcurrentRelocationCaptures: number;
  /** 1..2_147_483_647; default 8. */
  readonly maxConcurrentRelocationRestores: number;
  /** From 1; default 268_435_456. */
  readonly maxRelocationPayloadInFlightBytes: number;
}

/** What may change while a host runs. */
export type RouteTiming = Pick<LocationOptions, 'routeCacheMaxAgeMs' | 'messageFollowDurationMs'>;

type Name = keyof LocationOptions;

const DEFAULTS: LocationOptions = Object.freeze({
  ...DEFAULT_LOCATION_TIMING,
  routeCacheMaxAgeMs: 15_000,
  messageFollowDurationMs: 30_000,
  sessionRelocationSealTimeoutMs: 3_000,
  relocationCutoverWaitTimeoutMs: 1_000,
  relocationPayloadChunkLimitBytes: 262_144,
  relocationInFlightPayloadBudgetBytes: 16_777_216,
  relocationNodeInFlightPayloadBudgetBytes: 0,
  maxActiveOutboundRelocations: 64,
  maxActiveInboundRelocations: 64,
  maxConcurrentRelocationCaptures: 8,
  maxConcurrentRelocationRestores: 8,
  maxRelocationPayloadInFlightBytes: 268_435_456,
});

const NAMES = Object.keys(DEFAULTS) as readonly Name[]; // of that very object
const ROUTE_NAMES = ['routeCacheMaxAgeMs', 'messageFollowDurationMs'] as const;

const MAX_INT32 = 2_147_483_647;
/** What the 32 bits of a record's length can say. */
const MAX_FRAME_BYTES = 4_294_967_295;
const ROUTE_LEAD_MS = 5_000;

/** Where another range holds than 1..2_147_483_647; `undefined`: no upper limit. */
const RANGES: { readonly [N in Name]?: readonly [min: number, max: number | undefined] } = {
  routeCacheMaxAgeMs: [0, MAX_INT32],
  messageFollowDurationMs: [0, MAX_INT32],
  relocationPayloadChunkLimitBytes: [1, MAX_FRAME_BYTES],
  relocationInFlightPayloadBudgetBytes: [0, undefined],
  relocationNodeInFlightPayloadBudgetBytes: [0, undefined],
  maxRelocationPayloadInFlightBytes: [1, undefined],
};

/** Complete whatever is wrong with it: then the start ends with the problems. */
export function resolveLocation(given: unknown, problems: Problems): LocationOptions {
  checkOptionNames('location', given, NAMES, problems);
  const options = withChanges(DEFAULTS, given, NAMES);
  const right = inRange('location.', options, NAMES, problems);
  checkLease(options, right, problems);
  checkRoutes('location.', options, right, problems);
  checkBudget('relocationInFlightPayloadBudgetBytes', options, right, problems);
  checkBudget('relocationNodeInFlightPayloadBudgetBytes', options, right, problems);
  return Object.freeze(options);
}

/** What a change before the start begins with; whether it is right is found by the start. */
export function describedRouteTiming(given: unknown): RouteTiming {
  return withChanges(DEFAULTS, given, ROUTE_NAMES);
}

/** @throws ConfigurationError if a name or a value is not allowed; the old times then stay (LOC-005) */
export function changeRouteTiming(current: RouteTiming, given: unknown): RouteTiming {
  const problems = new Problems();
  if (!isObject(given)) problems.add('route timing', given, 'an object');
  else checkOptionNames('route timing', given, ROUTE_NAMES, problems);
  const next = withChanges(current, given, ROUTE_NAMES);
  checkRoutes('', next, inRange('', next, ROUTE_NAMES, problems), problems);
  problems.throwIfAny();
  return next;
}

/** The values of `current` with those of `given` that are not undefined, of these names only. */
function withChanges<N extends Name>(
  current: Pick<LocationOptions, N>,
  given: unknown,
  names: readonly N[],
): Pick<LocationOptions, N> {
  const changes: Partial<LocationOptions> = isObject(given) ? given : {};
  const entries = names.map((name) => [name, changes[name] ?? current[name]]);
  return Object.fromEntries(entries) as Pick<LocationOptions, N>; // one entry for each of the names
}

/** The names whose values are in range; what depends on a wrong one is not checked. */
function inRange<N extends Name>(
  prefix: string,
  options: Pick<LocationOptions, N>,
  names: readonly N[],
  problems: Problems,
): ReadonlySet<Name> {
  return new Set<Name>(
    names.filter((name) => {
      const [min, max] = RANGES[name] ?? [1, MAX_INT32];
      return checkInteger(prefix + name, options[name], min, max, problems);
    }),
  );
}

/** 1 */
function checkLease(options: LocationOptions, right: ReadonlySet<Name>, problems: Problems): void {
  const { ownerLeaseTtlMs, ownerLeaseRenewIntervalMs, ownerLeaseRenewTimeoutMs, ownerLeaseFencingMarginMs } = options;
  const names: readonly Name[] = [
    'ownerLeaseTtlMs',
    'ownerLeaseRenewIntervalMs',
    'ownerLeaseRenewTimeoutMs',
    'ownerLeaseFencingMarginMs',
  ];
  if (!names.every((name) => right.has(name))) return;
  const [renewalMs, usableMs] = [
    ownerLeaseRenewIntervalMs + ownerLeaseRenewTimeoutMs,
    ownerLeaseTtlMs - ownerLeaseFencingMarginMs,
  ];
  if (renewalMs < usableMs) return;
  problems.note(
    `location: ownerLeaseRenewIntervalMs + ownerLeaseRenewTimeoutMs (${renewalMs}) must be less than ` +
      `ownerLeaseTtlMs - ownerLeaseFencingMarginMs (${usableMs})`,
  );
}

/** 2 */
function checkRoutes(prefix: string, timing: RouteTiming, right: ReadonlySet<Name>, problems: Problems): void {
  if (!ROUTE_NAMES.every((name) => right.has(name))) return;
  const { routeCacheMaxAgeMs, messageFollowDurationMs } = timing;
  if (routeCacheMaxAgeMs === 0 || messageFollowDurationMs === 0) return;
  if (routeCacheMaxAgeMs <= messageFollowDurationMs - ROUTE_LEAD_MS) return;
  const allowed = `up to messageFollowDurationMs - ${ROUTE_LEAD_MS} (${messageFollowDurationMs - ROUTE_LEAD_MS}), or 0`;
  problems.add(`${prefix}routeCacheMaxAgeMs`, routeCacheMaxAgeMs, allowed);
}

/** A budget that no chunk fits into would let nothing pass, ever. */
function checkBudget(
  name: 'relocationInFlightPayloadBudgetBytes' | 'relocationNodeInFlightPayloadBudgetBytes',
  options: LocationOptions,
  right: ReadonlySet<Name>,
  problems: Problems,
): void {
  if (!right.has(name) || !right.has('relocationPayloadChunkLimitBytes')) return;
  const chargeBytes = options.relocationPayloadChunkLimitBytes + RECORD_COST_BYTES;
  if (options[name] === 0 || options[name] >= chargeBytes) return;
  problems.add(`location.${name}`, options[name], `0, or from ${chargeBytes}: a full chunk`);
}
