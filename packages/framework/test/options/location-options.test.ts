import { ConfigurationError, Problems } from '@zlink/kernel/errors';
import {
  changeRouteTiming,
  describedRouteTiming,
  type LocationOptions,
  resolveLocation,
} from '../../src/options/location-options.ts';

type Name = keyof LocationOptions;

function problemsOf(work: () => unknown): readonly string[] {
  try {
    work();
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
  return [];
}

function resolve(given: unknown): LocationOptions {
  const problems = new Problems();
  const resolved = resolveLocation(given, problems);
  problems.throwIfAny();
  return resolved;
}

const defaults: LocationOptions = {
  ownerLeaseTtlMs: 15_000,
  ownerLeaseRenewIntervalMs: 5_000,
  ownerLeaseRenewTimeoutMs: 3_000,
  ownerLeaseFencingMarginMs: 5_000,
  pollingIntervalMs: 1_000,
  storeFailureGraceMs: 30_000,
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
};
const names = Object.keys(defaults) as Name[];

test('[HOST-009] what is left out has its default, undefined too', () => {
  expect(resolve(undefined)).toEqual(defaults);
  expect(resolve({})).toEqual(defaults);
  expect(resolve({ pollingIntervalMs: undefined, storeFailureGraceMs: 7 })).toEqual({
    ...defaults,
    storeFailureGraceMs: 7,
  });
  expect(Object.isFrozen(resolve({}))).toBe(true);
});

test.each(names.flatMap((name) => [-1, 1.5, NaN, Infinity, 2 ** 53, '1', 5n].map((value) => [name, value])))(
  '[HOST-009] %s %p is refused',
  (name, value) => {
    expect(problemsOf(() => resolve({ [String(name)]: value }))).toEqual([
      expect.stringMatching(new RegExp(`^location\\.${String(name)}: .* is not allowed, allowed: integer `)),
    ]);
  },
);

const mayBeZero: readonly Name[] = [
  'routeCacheMaxAgeMs',
  'messageFollowDurationMs',
  'relocationInFlightPayloadBudgetBytes',
  'relocationNodeInFlightPayloadBudgetBytes',
];

test('[HOST-009] 0 turns off what can be turned off and is refused elsewhere', () => {
  for (const name of names) {
    const found = problemsOf(() => resolve({ [name]: 0 }));
    expect([name, found.length]).toEqual([name, mayBeZero.includes(name) ? 0 : 1]);
  }
});

test.each<[string, Partial<LocationOptions>]>([
  ['the least of times', { pollingIntervalMs: 1, storeFailureGraceMs: 1, sessionRelocationSealTimeoutMs: 1 }],
  ['the most of times', { pollingIntervalMs: 2_147_483_647, relocationCutoverWaitTimeoutMs: 2_147_483_647 }],
  ['the least lease', { ownerLeaseTtlMs: 4, ownerLeaseRenewIntervalMs: 1, ownerLeaseRenewTimeoutMs: 1, ownerLeaseFencingMarginMs: 1 }],
  ['the longest lease', { ownerLeaseTtlMs: 2_147_483_647 }],
  ['the smallest chunk', { relocationPayloadChunkLimitBytes: 1, relocationInFlightPayloadBudgetBytes: 65 }],
  ['the largest chunk', { relocationPayloadChunkLimitBytes: 4_294_967_295, relocationInFlightPayloadBudgetBytes: 0 }],
  ['a budget for exactly one chunk', { relocationNodeInFlightPayloadBudgetBytes: 262_144 + 64 }],
  ['the longest route', { routeCacheMaxAgeMs: 2_147_478_647, messageFollowDurationMs: 2_147_483_647 }],
])('[HOST-009] %s is allowed', (_, given) => {
  expect(resolve(given)).toEqual({ ...defaults, ...given });
}); // prettier-ignore

test.each<[string, Partial<LocationOptions>, string]>([
  [
    'a lease that ends with the second renewal',
    { ownerLeaseTtlMs: 13_000 },
    'location: ownerLeaseRenewIntervalMs + ownerLeaseRenewTimeoutMs (8000) must be less than ownerLeaseTtlMs - ' +
      'ownerLeaseFencingMarginMs (8000)',
  ],
  [
    'a margin longer than the lease',
    { ownerLeaseFencingMarginMs: 20_000 },
    'location: ownerLeaseRenewIntervalMs + ownerLeaseRenewTimeoutMs (8000) must be less than ownerLeaseTtlMs - ' +
      'ownerLeaseFencingMarginMs (-5000)',
  ],
  [
    'a chunk beyond the frame',
    { relocationPayloadChunkLimitBytes: 4_294_967_296 },
    'location.relocationPayloadChunkLimitBytes: 4294967296 is not allowed, allowed: integer 1..4294967295',
  ],
  [
    'a budget without room for a chunk',
    { relocationInFlightPayloadBudgetBytes: 262_207 },
    'location.relocationInFlightPayloadBudgetBytes: 262207 is not allowed, allowed: 0, or from 262208: a full chunk',
  ],
  [
    'a chunk larger than the budget',
    { relocationPayloadChunkLimitBytes: 16_777_216 },
    'location.relocationInFlightPayloadBudgetBytes: 16777216 is not allowed, allowed: 0, or from 16777280: a full chunk',
  ],
])('[HOST-009] [LOC-050] %s is refused', (_, given, expected) => {
  expect(problemsOf(() => resolve(given))).toEqual([expected]);
});

test('[HOST-009] what depends on a value out of range is not reported beside it', () => {
  expect(problemsOf(() => resolve({ ownerLeaseTtlMs: 0, relocationPayloadChunkLimitBytes: 0 }))).toHaveLength(2);
});

test('[ERR-002] an option that does not exist is found, and a group that is none', () => {
  expect(problemsOf(() => resolve({ poolingIntervalMs: 1 }))).toEqual([
    'location: there is no option "poolingIntervalMs", did you mean "pollingIntervalMs"?',
  ]);
  expect(problemsOf(() => resolve(7))).toEqual(['location: 7 is not allowed, allowed: an object']);
});

describe('routes', () => {
  const current = { routeCacheMaxAgeMs: 15_000, messageFollowDurationMs: 30_000 };

  test.each([
    [25_000, 30_000, true],
    [25_001, 30_000, false],
    [1, 5_001, true],
    [1, 5_000, false],
    [2_147_483_647, 0, true],
    [0, 1, true],
    [0, 0, true],
  ])('[HOST-010] a route of %d ms and following for %d ms: %p', (routeCacheMaxAgeMs, messageFollowDurationMs, isAllowed) => {
    const given = { routeCacheMaxAgeMs, messageFollowDurationMs };
    const allowed = `allowed: up to messageFollowDurationMs - 5000 (${messageFollowDurationMs - 5_000}), or 0`;
    const text = `routeCacheMaxAgeMs: ${routeCacheMaxAgeMs} is not allowed, ${allowed}`;
    expect(problemsOf(() => resolve(given))).toEqual(isAllowed ? [] : [`location.${text}`]);
    expect(problemsOf(() => changeRouteTiming(current, given))).toEqual(isAllowed ? [] : [text]);
  }); // prettier-ignore

  test('[LOC-005] a change moves what it names and leaves the rest', () => {
    expect(changeRouteTiming(current, {})).toEqual(current);
    expect(changeRouteTiming(current, { routeCacheMaxAgeMs: 10_000, messageFollowDurationMs: undefined })).toEqual({
      routeCacheMaxAgeMs: 10_000,
      messageFollowDurationMs: 30_000,
    });
  });

  test.each<[unknown, string]>([
    [{ routeCacheMaxAgeMs: -1 }, 'routeCacheMaxAgeMs: -1 is not allowed, allowed: integer 0..2147483647'],
    [{ messageFollowDurationMs: 1.5 }, 'messageFollowDurationMs: 1.5 is not allowed, allowed: integer 0..2147483647'],
    [{ pollingIntervalMs: 5 }, 'route timing: there is no option "pollingIntervalMs", known: routeCacheMaxAgeMs, messageFollowDurationMs'],
    [undefined, 'route timing: undefined is not allowed, allowed: an object'],
    [null, 'route timing: null is not allowed, allowed: an object'],
    [7, 'route timing: 7 is not allowed, allowed: an object'],
  ])('[LOC-005] the change %p is refused', (given, expected) => {
    expect(problemsOf(() => changeRouteTiming(current, given))).toEqual([expected]);
  }); // prettier-ignore

  test('[LOC-005] before the start a change begins with what was described', () => {
    expect(describedRouteTiming(undefined)).toEqual(current);
    expect(describedRouteTiming({ messageFollowDurationMs: 60_000, pollingIntervalMs: 1 })).toEqual({
      routeCacheMaxAgeMs: 15_000,
      messageFollowDurationMs: 60_000,
    });
  });
});
