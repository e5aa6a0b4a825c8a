import { createCurveKeys, createHost, type HostOptions, type TestSurroundings } from '@zlink/framework';
import { hostNameOf } from './host-names.ts';
import { makeHost } from './hosts.ts';
import { LogRecorder } from './log-recorder.ts';
import { problems } from './outcome.ts';
import { Collected } from './telemetry/collected.ts';

type Inbound = NonNullable<HostOptions['inboundDispatch']>;

/** All names of a group of options. */
type Group<K extends keyof HostOptions> = Required<NonNullable<HostOptions[K]>>;

/** For plain JavaScript, which may pass anything. */
const anything = (value: unknown): never => value as never;

interface OptionCase {
  readonly name: string;
  readonly set: (value: unknown) => HostOptions;
  readonly good: readonly unknown[];
  readonly bad: readonly unknown[];
}

const timeout = (name: 'requestTimeoutMs' | 'sendTimeoutMs' | 'shutdownDeadlineMs'): OptionCase => ({
  name,
  set: (value) => ({ [name]: value }),
  good: [1, 2_147_483_647, undefined],
  bad: [0, -1, 1.5, NaN, Infinity, 2_147_483_648, '1000', 10n],
});

const inbound = (
  name: keyof Inbound,
  good: readonly unknown[],
  bad: readonly unknown[],
  other: Inbound = {},
): OptionCase => ({
  name: `inboundDispatch.${name}`,
  set: (value) => ({ inboundDispatch: { ...other, [name]: value } }),
  good: [...good, undefined],
  bad,
});

const profiles = ['compact', 'lowLatency', 'balanced', 'throughput'];
const noProfiles = ['', 'Balanced', 'huge', 'toString', '__proto__', 7];

const cases: readonly OptionCase[] = [
  timeout('requestTimeoutMs'),
  timeout('sendTimeoutMs'),
  timeout('shutdownDeadlineMs'),
  inbound('coreHwmMemoryLimitBytes', [1, 1_073_741_824], [0, -1, 0.5, NaN, Infinity, 1e18, '1']),
  inbound('coreHwmBudgetBytes', [1, 67_108_864], [0, -1, 0.5, NaN, Infinity, 1e18, '1']),
  inbound('coreHwmProfile', profiles, noProfiles),
  inbound('applicationJobQueueProfile', profiles, noProfiles),
  inbound('maxQueuedApplicationJobs', [1, 2_147_483_647], [0, -1, 1.5, NaN, Infinity, 2_147_483_648, '1']),
  inbound('pauseThresholdPercent', [1, 100], [0, -1, 101, 50.5, NaN, '80'], { resumeThresholdPercent: 0 }),
  inbound('resumeThresholdPercent', [0, 99], [-1, 100, 50.5, NaN, '60'], { pauseThresholdPercent: 100 }),
  {
    name: 'applicationVersion',
    set: (applicationVersion) => ({ applicationVersion: anything(applicationVersion) }),
    good: [1n, 2n ** 63n - 1n, undefined],
    bad: [0n, -1n, 2n ** 63n, 1, '1', true],
  },
  {
    name: 'maintenanceWave',
    set: (maintenanceWave) => ({ maintenanceWave: anything(maintenanceWave) }),
    good: ['a', 'é'.repeat(127), 'x'.repeat(255), undefined],
    bad: ['', 'x'.repeat(256), 'é'.repeat(128), 'a\0b', '\ud800', 7],
  },
  {
    name: 'network.bindHost',
    set: (bindHost) => ({ network: { bindHost: anything(bindHost) } }),
    good: ['127.0.0.1', '::1', 'localhost', '*', '0.0.0.0', undefined],
    bad: ['', 'no host', '[::1]', '127.0.0.1:7200', '1.2.3.256', 7],
  },
  {
    name: 'network.advertiseHost',
    set: (advertiseHost) => ({ network: { advertiseHost: anything(advertiseHost) } }),
    good: ['billing-1.example', '10.0.0.7', 'fe80::1', hostNameOf(243), undefined],
    bad: ['', '*', '0.0.0.0', '::', '0:0:0:0:0:0:0:0', 'no host', hostNameOf(244), 7],
  },
];

const each = (values: 'good' | 'bad') =>
  cases.flatMap((one) => one[values].map((value) => [one.name, value, one] as const));

test.each(each('bad'))('[HOSTREG-003] [JOBQ-001] [HOST-009] %s %p is refused', async (name, value, { set }) => {
  const found = await problems(makeHost(set(value)).start());
  expect(found).toEqual([expect.stringMatching(/ is not allowed, allowed: ./)]);
  expect(found[0]).toContain(`${name}: `);
});

test.each(each('good'))('[HOSTREG-003] [JOBQ-001] [HOST-009] %s %p is allowed', async (_, value, { set }) => {
  const host = makeHost(set(value));
  await host.start();
  expect(host.state).toBe('serving');
});

test.each<[string, unknown, string]>([
  [
    'a name in other letters',
    { requestTimeoutMS: 5 },
    'options: there is no option "requestTimeoutMS", did you mean "requestTimeoutMs"?',
  ],
  ['a name cut short', { sendTimeout: 5 }, 'options: there is no option "sendTimeout", did you mean "sendTimeoutMs"?'],
  [
    'a name of network',
    { network: { bindhost: '::1' } },
    'network: there is no option "bindhost", did you mean "bindHost"?',
  ],
  [
    'a name of inboundDispatch',
    { inboundDispatch: { coreHwmProfil: 'compact' } },
    'inboundDispatch: there is no option "coreHwmProfil", did you mean "coreHwmProfile"?',
  ],
  [
    'a name of testing',
    { testing: { allowSeveralHost: true } },
    'testing: there is no option "allowSeveralHost", did you mean "allowSeveralHosts"?',
  ],
  [
    'a name like no other',
    { network: { colour: 1 } },
    'network: there is no option "colour", known: bindHost, advertiseHost',
  ],
  ['a group that is none', { network: '127.0.0.1' }, 'network: "127.0.0.1" is not allowed, allowed: an object'],
  ['null for a group', { inboundDispatch: null }, 'inboundDispatch: null is not allowed, allowed: an object'],
  ['null for keys', { security: null }, 'security: null is not allowed, allowed: an object'],
  [
    'a text for a flag',
    { exposeErrorMessages: 'false' },
    'exposeErrorMessages: "false" is not allowed, allowed: true or false',
  ],
  [
    'a number for a flag',
    { testing: { allowSeveralHosts: 1 } },
    'testing.allowSeveralHosts: 1 is not allowed, allowed: true or false',
  ],
  [
    'a meter for a meter provider',
    { telemetry: { meterProvider: { createCounter: () => undefined } } },
    'telemetry.meterProvider: object is not allowed, allowed: an object with getMeter',
  ],
  [
    'a function for a tracer provider',
    { telemetry: { tracerProvider: () => undefined } },
    'telemetry.tracerProvider: function tracerProvider is not allowed, allowed: an object with getTracer',
  ],
  [
    'half a propagator',
    { telemetry: { propagator: { inject: () => undefined } } },
    'telemetry.propagator: object is not allowed, allowed: an object with inject, extract and fields',
  ],
  [
    'a name of telemetry',
    { telemetry: { meterprovider: {} } },
    'telemetry: there is no option "meterprovider", did you mean "meterProvider"?',
  ],
  ['a number for all', 7, 'options: 7 is not allowed, allowed: an object'],
  ['null for all', null, 'options: null is not allowed, allowed: an object'],
])('[HOSTREG-003] [ERR-002] %s is found by the start', async (_, options, expected) => {
  const host = createHost(anything(options)); // as it is: nothing here may be added to it
  expect(await problems(host.start())).toEqual([expected]);
  expect(host.state).toBe('error');
});

test('[HOSTREG-003] [SEC-003] a mistyped key option is named, its value is not', async () => {
  const security = { publickey: 'x'.repeat(40), secretKey: 'y'.repeat(40) };
  const found = await problems(createHost(anything({ security })).start());
  expect(found).toContain('security: there is no option "publickey", did you mean "publicKey"?');
  expect(found.join()).not.toMatch(/xxx|yyy/);
});

test('[HOSTREG-003] every option of the type is known, with each name of its groups', async () => {
  const key = createCurveKeys();
  const all: Required<HostOptions> = {
    network: { bindHost: '127.0.0.1', advertiseHost: '127.0.0.1' } satisfies Group<'network'>,
    services: { createScope: () => ({ get: anything, dispose: () => undefined }) },
    requestTimeoutMs: 1,
    sendTimeoutMs: 1,
    inboundDispatch: {
      coreHwmMemoryLimitBytes: 1_000_000,
      coreHwmBudgetBytes: 1_000_000,
      coreHwmProfile: 'compact',
      applicationJobQueueProfile: 'compact',
      maxQueuedApplicationJobs: 1,
      pauseThresholdPercent: 2,
      resumeThresholdPercent: 1,
    } satisfies Group<'inboundDispatch'>,
    location: {
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
      relocationPayloadChunkLimitBytes: 1,
      relocationInFlightPayloadBudgetBytes: 0,
      relocationNodeInFlightPayloadBudgetBytes: 0,
      maxActiveOutboundRelocations: 1,
      maxActiveInboundRelocations: 1,
      maxConcurrentRelocationCaptures: 1,
      maxConcurrentRelocationRestores: 1,
      maxRelocationPayloadInFlightBytes: 1,
    } satisfies Group<'location'>,
    applicationVersion: 7n,
    maintenanceWave: 'blue',
    shutdownDeadlineMs: 1_000,
    exposeErrorMessages: true,
    diagnostics: { level: 'normal', sampleRate: 0.5, includeMessageSizes: true } satisfies Group<'diagnostics'>,
    telemetry: {
      meterProvider: new Collected().provider,
      tracerProvider: { getTracer: anything },
      propagator: { inject: anything, extract: anything, fields: () => [] },
    } satisfies Group<'telemetry'>,
    security: { ...key, serverPublicKey: key.publicKey, allowedClientKeys: [] } satisfies Group<'security'>,
    logger: new LogRecorder(),
    onUnhandled: () => undefined,
    testing: { allowSeveralHosts: true, surroundings: {} as TestSurroundings } satisfies Group<'testing'>,
  };
  expect(await problems(createHost(all).start())).toEqual([
    'testing.surroundings: object is not allowed, allowed: what createTestCluster of @zlink/testing makes',
  ]);
  const host = makeHost(all); // which has no surroundings
  await host.start();
  expect(host.state).toBe('serving');
});

test.each([
  [80, 80],
  [1, 1],
  [50, 99],
])(
  '[JOBQ-001] pause %d and resume %d: resuming is below pausing',
  async (pauseThresholdPercent, resumeThresholdPercent) => {
    const host = makeHost({ inboundDispatch: { pauseThresholdPercent, resumeThresholdPercent } });
    expect(await problems(host.start())).toEqual([
      `inboundDispatch.resumeThresholdPercent: ${resumeThresholdPercent} is not allowed, ` +
        `allowed: below pauseThresholdPercent (${pauseThresholdPercent})`,
    ]);
  },
);

test('[JOBQ-001] a default threshold counts like a given one', async () => {
  const host = makeHost({ inboundDispatch: { pauseThresholdPercent: 60 } });
  expect(await problems(host.start())).toEqual([
    'inboundDispatch.resumeThresholdPercent: 60 is not allowed, allowed: below pauseThresholdPercent (60)',
  ]);
});

test('[JOBQ-001] the effective figure is the given one, else profile times processors, and cannot be set', async () => {
  const given = makeHost({
    inboundDispatch: { maxQueuedApplicationJobs: 3, applicationJobQueueProfile: 'throughput' },
  });
  const compact = makeHost({ inboundDispatch: { applicationJobQueueProfile: 'compact' } });
  const balanced = makeHost({ inboundDispatch: { coreHwmProfile: 'compact' } }); // profiles are independent
  const standard = makeHost();
  const hosts = [given, compact, balanced, standard];
  expect(hosts.map((host) => host.effectiveMaxQueuedApplicationJobs)).toEqual([0, 0, 0, 0]);
  await Promise.all(hosts.map((host) => host.start()));
  const processors = compact.effectiveMaxQueuedApplicationJobs / 32;
  expect(Number.isInteger(processors) && processors >= 1).toBe(true);
  expect(hosts.map((host) => host.effectiveMaxQueuedApplicationJobs)).toEqual([
    3,
    32 * processors,
    128 * processors,
    128 * processors,
  ]);
  expect(hosts.map((host) => host.query.inboundDispatch().max)).toEqual(
    hosts.map((host) => host.effectiveMaxQueuedApplicationJobs),
  );
  expect(() => Object.assign(given, { effectiveMaxQueuedApplicationJobs: 9 })).toThrow(TypeError);
});
