import type { HostOptions } from '@zlink/framework';
import { hostNameOf } from './host-names.ts';
import { makeHost } from './hosts.ts';
import { problems } from './outcome.ts';

type Inbound = NonNullable<HostOptions['inboundDispatch']>;

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

test.each(each('bad'))('[HOSTREG-003] [JOBQ-001] %s %p is refused', async (name, value, { set }) => {
  const found = await problems(makeHost(set(value)).start());
  expect(found).toEqual([expect.stringMatching(/ is not allowed, allowed: ./)]);
  expect(found[0]).toContain(`${name}: `);
});

test.each(each('good'))('[HOSTREG-003] [JOBQ-001] %s %p is allowed', async (_, value, { set }) => {
  const host = makeHost(set(value));
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
