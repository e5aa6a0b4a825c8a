import { Problems } from '../../src/errors/index.ts';
import { checkAdvertiseHost, checkBindHost } from '../../src/identity/index.ts';

const mistakeOf = (check: typeof checkBindHost, value: unknown): boolean => {
  const problems = new Problems();
  check('host', value, problems);
  try {
    problems.throwIfAny();
    return false;
  } catch {
    return true;
  }
};

const named = (length: number): string =>
  `${'a'
    .repeat(62)
    .concat('.')
    .repeat(4)
    .slice(0, length - 1)}a`;

test('[NET-001] any host can be bound, a wildcard too, and all but a wildcard can be advertised', () => {
  const hosts = [
    '10.0.0.7',
    'fe80::1',
    'billing-1.example',
    '*',
    '0.0.0.0',
    '::',
    '[::1]',
    'no host',
    '',
    7,
    undefined,
  ];
  expect(hosts.filter((host) => !mistakeOf(checkBindHost, host))).toEqual(hosts.slice(0, 6));
  expect(hosts.filter((host) => !mistakeOf(checkAdvertiseHost, host))).toEqual(hosts.slice(0, 3));
});

test('[HOSTREG-003] an advertised host leaves room for any port in the 255 bytes of an endpoint', () => {
  expect(`tcp://${named(243)}:65535`).toHaveLength(255);
  expect([mistakeOf(checkAdvertiseHost, named(243)), mistakeOf(checkAdvertiseHost, named(244))]).toEqual([false, true]);
  expect(mistakeOf(checkBindHost, named(244))).toBe(false); // it is resolved, not advertised
});
