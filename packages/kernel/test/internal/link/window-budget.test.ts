import fc from 'fast-check';
import { WindowBudget, type WindowShare } from '../../../src/internal/link/window-budget.ts';
import { MIN_WINDOW_BYTES } from '../../../src/internal/wire/limits.ts';

const KIB = 1_024;

/** A window with what its peer was told. */
interface Told {
  readonly share: WindowShare;
  toldBytes: number;
}

function open(budget: WindowBudget): Told {
  const told: Told = { share: budget.open(() => (told.toldBytes = told.share.grantedBytes)), toldBytes: 0 };
  told.toldBytes = told.share.grantedBytes; // with hello or admit
  return told;
}

/** Credit returns, and with it the peer is told of the window. */
function consume(told: Told, bytes: number): void {
  told.share.settle(bytes);
  told.toldBytes = told.share.grantedBytes;
}

const granted = (windows: readonly Told[]): number[] => windows.map(({ share }) => share.grantedBytes);

test('[CORE-007] while the sum fits, every link gets the largest window', () => {
  const budget = new WindowBudget(16 * MIN_WINDOW_BYTES, 4 * MIN_WINDOW_BYTES);
  const windows = [open(budget), open(budget), open(budget), open(budget)];
  expect(granted(windows)).toEqual(new Array(4).fill(4 * MIN_WINDOW_BYTES));
  expect(budget.grantedBytes).toBe(budget.budgetBytes);
});

test('[CORE-007] a newcomer gets the smallest window at once, and its share as credit returns on the others', () => {
  const budget = new WindowBudget(16 * MIN_WINDOW_BYTES, 16 * MIN_WINDOW_BYTES);
  const old = open(budget);
  const young = open(budget);
  expect(granted([old, young])).toEqual([16 * MIN_WINDOW_BYTES, MIN_WINDOW_BYTES]);
  consume(old, 3 * MIN_WINDOW_BYTES);
  expect(granted([old, young])).toEqual([13 * MIN_WINDOW_BYTES, 3 * MIN_WINDOW_BYTES]);
  expect(young.toldBytes).toBe(3 * MIN_WINDOW_BYTES); // growth is announced at once
  consume(old, 100 * MIN_WINDOW_BYTES);
  expect(granted([old, young])).toEqual([8 * MIN_WINDOW_BYTES, 8 * MIN_WINDOW_BYTES]);
  consume(old, MIN_WINDOW_BYTES);
  expect(granted([old, young])).toEqual([8 * MIN_WINDOW_BYTES, 8 * MIN_WINDOW_BYTES]); // no lower than its share
});

test('[CORE-007] a window that ends goes to the others, up to the largest', () => {
  const budget = new WindowBudget(4 * MIN_WINDOW_BYTES, 3 * MIN_WINDOW_BYTES);
  const windows = [open(budget), open(budget), open(budget), open(budget), open(budget)];
  for (const { share } of windows.splice(1)) share.close();
  expect(granted(windows)).toEqual([3 * MIN_WINDOW_BYTES]);
  expect(windows[0]?.toldBytes).toBe(3 * MIN_WINDOW_BYTES);
  windows[0]?.share.close();
  windows[0]?.share.close();
  expect(budget.grantedBytes).toBe(0);
});

test('[CORE-007] a budget below one window still gives every link the smallest', () => {
  const budget = new WindowBudget(1, 1);
  expect(granted([open(budget), open(budget)])).toEqual([MIN_WINDOW_BYTES, MIN_WINDOW_BYTES]);
});

test('[CORE-007] more windows than the budget has room for take nothing from each other', () => {
  const budget = new WindowBudget(4 * MIN_WINDOW_BYTES, 4 * MIN_WINDOW_BYTES);
  const windows = Array.from({ length: 1_000 }, () => open(budget));
  for (const told of windows) consume(told, 4 * MIN_WINDOW_BYTES);
  expect(granted(windows)).toEqual(new Array(1_000).fill(MIN_WINDOW_BYTES));
  for (const { share } of windows.slice(3)) share.close();
  expect(budget.grantedBytes).toBeLessThanOrEqual(budget.budgetBytes);
  expect(granted(windows.slice(0, 3)).every((bytes) => bytes > MIN_WINDOW_BYTES)).toBe(true);
});

type Step =
  | { readonly kind: 'open' }
  | { readonly kind: 'consume'; readonly which: number; readonly bytes: number }
  | { readonly kind: 'close'; readonly which: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.constant({ kind: 'open' as const }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('consume' as const),
      which: fc.nat(99),
      bytes: fc.integer({ min: 1, max: 4_096 * KIB }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('close' as const), which: fc.nat(99) }) },
);

test('[CORE-007] whatever opens, consumes and closes: budget plus minimums is never exceeded, and every peer knows its window', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 16_384 * KIB }),
      fc.integer({ min: 0, max: 4_096 * KIB }),
      fc.array(step, { maxLength: 200, size: 'max' }),
      (budgetBytes, maxWindowBytes, steps) => {
        const budget = new WindowBudget(budgetBytes, maxWindowBytes);
        const largest = Math.max(MIN_WINDOW_BYTES, maxWindowBytes);
        const windows: Told[] = [];
        for (const one of steps) {
          const which = 'which' in one ? one.which % Math.max(1, windows.length) : -1;
          const chosen = windows[which];
          if (one.kind === 'open') windows.push(open(budget));
          if (one.kind === 'close') windows.splice(which, 1)[0]?.share.close();
          if (one.kind === 'consume' && chosen !== undefined) {
            const before = chosen.share.grantedBytes;
            // No more can come back than was granted.
            consume(chosen, Math.min(one.bytes, before));
            expect(chosen.share.grantedBytes).toBeGreaterThanOrEqual(before - one.bytes); // W2
          }
          const sum = granted(windows).reduce((total, bytes) => total + bytes, 0);
          expect(budget.grantedBytes).toBe(sum);
          expect(sum).toBeLessThanOrEqual(budgetBytes + windows.length * MIN_WINDOW_BYTES); // W1
          const wrong = windows.filter(
            ({ share: { grantedBytes }, toldBytes }) =>
              grantedBytes < MIN_WINDOW_BYTES || grantedBytes > largest || toldBytes !== grantedBytes,
          );
          expect(wrong).toEqual([]);
        }
        for (const { share } of windows) share.close();
        expect(budget.grantedBytes).toBe(0);
      },
    ),
  );
});

test('[CORE-007] links that end one after the other are told to the others in steps, not each', () => {
  const budget = new WindowBudget(1_000 * MIN_WINDOW_BYTES, 500 * MIN_WINDOW_BYTES);
  let toldCount = 0;
  const shares = Array.from({ length: 1_000 }, () => budget.open(() => toldCount++));
  for (const share of shares) share.settle(budget.budgetBytes);
  expect(new Set(shares.map(({ grantedBytes }) => grantedBytes))).toEqual(new Set([MIN_WINDOW_BYTES]));
  toldCount = 0;
  while (shares.length > 2) {
    shares.pop()?.close();
    const target = budget.targetBytes();
    const windows = shares.map(({ grantedBytes }) => grantedBytes);
    expect(Math.max(...windows)).toBeLessThanOrEqual(target);
    expect(Math.min(...windows) * 1.125).toBeGreaterThanOrEqual(target - 1);
  }
  expect(shares.map(({ grantedBytes }) => grantedBytes)).toEqual([500 * MIN_WINDOW_BYTES, 500 * MIN_WINDOW_BYTES]);
  expect(toldCount).toBeLessThan(1_000 * 8); // half a million, if each had been told
});

test('[CORE-007] once every window was used, all of them have their share, or too little is missing to be told', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 64, max: 16_384 }), (count, budgetKib) => {
      const budget = new WindowBudget(budgetKib * KIB, 4_096 * KIB);
      const windows = Array.from({ length: count }, () => open(budget));
      for (let round = 0; round < 2; round++) for (const told of windows) consume(told, 4_096 * KIB);
      const target = budget.targetBytes();
      const missing = (bytes: number): number => (target === 4_096 * KIB ? 0 : bytes / 8) + count;
      for (const bytes of granted(windows)) {
        expect(bytes).toBeLessThanOrEqual(target);
        expect(bytes).toBeGreaterThanOrEqual(target - missing(bytes));
      }
    }),
  );
});
