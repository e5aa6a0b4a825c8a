import { randomBytes, randomInputs, seededRandom, strangerInputs } from '../src/index.ts';

test('[WIRE-003] a seed gives the same numbers again, another seed gives others', () => {
  const draw = (seed: number) => Array.from({ length: 100 }, seededRandom(seed));
  expect(draw(7)).toEqual(draw(7));
  expect(draw(7)).not.toEqual(draw(8));
});

test('[WIRE-003] numbers lie in [0, 1) and spread evenly', () => {
  const random = seededRandom(1);
  const buckets = new Array<number>(10).fill(0);
  for (let drawn = 0; drawn < 100_000; drawn++) {
    const value = random();
    expect(value >= 0 && value < 1).toBe(true);
    buckets[Math.floor(value * 10)]!++;
  }
  for (const count of buckets) expect(Math.abs(count - 10_000)).toBeLessThan(500);
});

test('[C06] random inputs have 1 to 4,096 bytes, repeat with their seed and use every byte value', () => {
  const inputs = [...randomInputs(seededRandom(3), 200)];
  expect(inputs).toEqual([...randomInputs(seededRandom(3), 200)]);
  expect(Math.min(...inputs.map((bytes) => bytes.length))).toBeGreaterThanOrEqual(1);
  expect(Math.max(...inputs.map((bytes) => bytes.length))).toBeLessThanOrEqual(4_096);
  expect(new Set(randomBytes(seededRandom(4), 20_000)).size).toBe(256);
});

test('[C06] the inputs of strangers are the ones of the case, each under a name of its own', () => {
  const lengths = Object.fromEntries(strangerInputs.map(({ name, bytes }) => [name, bytes.length]));
  expect(lengths).toMatchObject({
    'typed text': 10,
    'HTTP request': 18,
    'TLS hello': 6,
    '64 bytes ff': 64,
    'no bytes': 0,
    '8192 bytes 00': 8_192,
  });
  expect(new Set(strangerInputs.map(({ name }) => name)).size).toBe(strangerInputs.length);
});
