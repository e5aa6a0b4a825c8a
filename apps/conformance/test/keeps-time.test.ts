import { keepsTime } from '../src/runner/keeps-time.ts';

const attempts = (...took: number[]) => {
  const rounds: number[] = [];
  const attempt = (round: number): Promise<number> => {
    rounds.push(round);
    return Promise.resolve(took[round] ?? 0);
  };
  return { rounds, attempt };
};

test('[LOC-061] a time is kept by the first attempt that is quick enough', async () => {
  const { rounds, attempt } = attempts(101, 500, 100, 0);
  await keepsTime(100, 'it comes', attempt);
  expect(rounds).toEqual([0, 1, 2]);
});

test('[LOC-061] what is late each time fails, with what each attempt took', async () => {
  const { attempt } = attempts(101, 500.4, 200, 300, 101, 0);
  await expect(keepsTime(100, 'it comes', attempt)).rejects.toThrow(
    'takes 101, 500, 200, 300, 101 ms instead of 100 ms at most: it comes',
  );
});
