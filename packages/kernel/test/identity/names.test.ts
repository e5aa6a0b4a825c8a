import { isName, isRid, requirePacketName } from '../../src/identity/index.ts';

const valid = ['a', 'billing.charge', 'x'.repeat(255), '한'.repeat(85), '😀'.repeat(63), ' ', 'A/b c'];
const invalid = [
  '',
  'x'.repeat(256),
  `${'한'.repeat(85)}x`,
  'a\0b',
  '\0',
  '\ud800',
  'a\udc00',
  7,
  undefined,
  null,
  ['a'],
];

test('[MSG-005] a name is 1..255 bytes of well-formed UTF-8 without NUL', () => {
  for (const name of valid) expect(isName(name)).toBe(true);
  for (const name of invalid) expect(isName(name)).toBe(false);
});

test('[HOSTREG-003] a fixed or expected RID follows the rule of names', () => {
  for (const rid of valid) expect(isRid(rid)).toBe(true);
  for (const rid of invalid) expect(isRid(rid)).toBe(false);
});

test('[MSG-005] a required name comes back unchanged or is refused by what it is', () => {
  expect(requirePacketName('billing.charge')).toBe('billing.charge');
  expect(() => requirePacketName('')).toThrow(
    '[InvalidOperation] packet name "" is not 1..255 bytes of UTF-8 without NUL',
  );
  expect(() => requirePacketName(undefined)).toThrow('[InvalidOperation] packet name undefined');
});
