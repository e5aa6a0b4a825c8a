import { isRid, isRidPrefix, newGeneration, newRid } from '../../src/identity/index.ts';

test('[NET-003] an automatic RID is prefix, hyphen and a lowercase uuid v4, new each time', () => {
  const v4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
  const rid = newRid('game');
  expect(rid.startsWith('game-')).toBe(true);
  expect(rid.slice('game-'.length)).toMatch(v4);
  expect(newRid('game')).not.toBe(rid);
  expect(isRid(newRid('x'.repeat(64)))).toBe(true);
});

test('[HOSTREG-003] a RID prefix is 1..64 of letters, digits, dot, underscore and hyphen', () => {
  for (const prefix of ['a', 'Zone-1_b.c', 'x'.repeat(64)]) expect(isRidPrefix(prefix)).toBe(true);
  for (const prefix of ['', 'x'.repeat(65), 'a b', 'a\n', 'é', 'a/b', undefined, 1]) {
    expect(isRidPrefix(prefix)).toBe(false);
  }
  expect(() => newRid('a b')).toThrow('[InvalidOperation] RID prefix "a b"');
});

test('[WIRE-001] a generation is random, 64 bit and never zero', () => {
  const drawn = [0n, 0n, 9n];
  expect(newGeneration(() => drawn.shift() ?? 1n)).toBe(9n);
  expect(newGeneration(() => -1n)).toBe(2n ** 64n - 1n);
  const generations = Array.from({ length: 200 }, () => newGeneration());
  expect(new Set(generations).size).toBe(200);
  for (const generation of generations) expect(generation > 0n && generation < 2n ** 64n).toBe(true);
  expect(generations.some((generation) => generation >= 2n ** 63n)).toBe(true); // the top bit is used
});
