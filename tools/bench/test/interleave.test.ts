import { expect, test } from '@jest/globals';
import { interleave } from '../src/interleave.ts';

test('[CORE-001] every contestant is measured once per round, and each round begins with another one', async () => {
  const order: string[] = [];
  const contestants = ['A', 'B', 'C'].map((name) => ({
    name,
    measure: async () => order.push(name),
  }));
  const figures = await interleave(contestants, 4);
  expect(order.join('')).toBe('ABC' + 'BCA' + 'CAB' + 'ABC');
  expect(Object.fromEntries(figures)).toEqual({ A: [1, 6, 8, 10], B: [2, 4, 9, 11], C: [3, 5, 7, 12] });
});

test('[CORE-001] a measurement waits for the one before it', async () => {
  let running = 0;
  let most = 0;
  const contestants = ['A', 'B'].map((name) => ({
    name,
    measure: async () => {
      most = Math.max(most, ++running);
      await Promise.resolve();
      return --running;
    },
  }));
  await interleave(contestants, 3);
  expect(most).toBe(1);
});

test('[CORE-001] a failing measurement ends the run', async () => {
  const contestants = [{ name: 'A', measure: () => Promise.reject(new Error('peer ended')) }];
  await expect(interleave(contestants, 5)).rejects.toThrow('peer ended');
});
