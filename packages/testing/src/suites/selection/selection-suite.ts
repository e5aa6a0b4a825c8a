/**
 * Weighted selection as a caller sees it: the same in every topic that chooses among servers.
 *
 * Owns the orders that are expected. Leaves to each topic how a caller comes to its servers, and which of them are candidates.
 */
import assert from 'node:assert/strict';
import { loopTurns, until } from '../../loop-turns.ts';
import { globalRunner } from '../location/suite-runner.ts';

/** One caller, connected to servers that it may choose. */
interface WeightedServers {
  /** Resolves with the name of the server that answers. */
  request(): Promise<unknown>;
  send(): Promise<void>;
  /** Names of those that what was sent has reached, in this order. */
  readonly notified: readonly string[];
  setWeight(name: string, weight: number): void;
  /** Requests that a server has handled. */
  handledBy(name: string): number | undefined;
  /** How often the caller has built its list of candidates. */
  rebuilds(): number;
}

/** Starts servers of these names and weights, and a caller that is ready to choose among all of them. */
type ArrangeServers = (weights: Readonly<Record<string, number>>) => Promise<WeightedServers>;

/** Registers its tests at the global `describe` and `test`. */
export function selectionSuite(arrange: ArrangeServers): void {
  const runner = globalRunner();
  runner.describe('weighted selection', () => {
    runner.test('[WRR-001] [CHAN-006] weights 100 and 300 choose B, A, B, B', async () => {
      const servers = await arrange({ A: 100, B: 300 });
      assert.deepEqual(await ask(servers, 8), ['B', 'A', 'B', 'B', 'B', 'A', 'B', 'B']);
      assert.deepEqual([servers.handledBy('A'), servers.handledBy('B')], [2, 6]);
    });

    runner.test('[WRR-001] sends and requests share one order', async () => {
      const servers = await arrange({ A: 100, B: 300 });
      assert.deepEqual(await ask(servers, 1), ['B']);
      await servers.send();
      assert.deepEqual(await ask(servers, 1), ['B']);
      await servers.send();
      await until(() => servers.notified.length === 2, 'both notices arrive');
      assert.deepEqual(servers.notified, ['A', 'B']);
    });

    runner.test('[WRR-002] a weight that changes mid-way keeps the accumulators of the survivors', async () => {
      const servers = await arrange({ A: 100, B: 300 });
      assert.deepEqual(await ask(servers, 1), ['B']); // accumulators now: A 100, B -100
      servers.setWeight('A', 300);
      await loopTurns(8);
      // From A 100, B -100 with 300 each: A at 400, B at 200: A; then A 100, B 500: B; then A 400, B 200: A …
      assert.deepEqual(await ask(servers, 4), ['A', 'B', 'A', 'B']);
    });

    runner.test('[WRR-002] a newcomer begins at zero and who has left keeps nothing', async () => {
      const servers = await arrange({ A: 100, B: 300 });
      assert.deepEqual(await ask(servers, 2), ['B', 'A']); // accumulators now: A -200, B 200
      servers.setWeight('A', 0);
      await loopTurns(8);
      assert.deepEqual(await ask(servers, 4), ['B', 'B', 'B', 'B']); // alone: stays at 200
      servers.setWeight('A', 100);
      await loopTurns(8);
      // A 0 again, not -200: A 100, B 500: B; A 200, B 400: B; A 300, B 300: A, the smaller RID …
      assert.deepEqual(await ask(servers, 4), ['B', 'B', 'A', 'B']);
    });

    runner.test('[WRR-003] 100,000 calls build the candidate list not once', async () => {
      const weights = { s0: 100, s1: 250, s2: 7 };
      const servers = await arrange(weights);
      const before = servers.rebuilds();
      const counts = new Map<unknown, number>();
      for (let round = 0; round < 100; round++) {
        const calls = Array.from({ length: 1_000 }, () => servers.request());
        for (const name of await Promise.all(calls)) counts.set(name, (counts.get(name) ?? 0) + 1);
      }
      assert.equal(servers.rebuilds(), before);
      for (const [name, weight] of Object.entries(weights)) {
        const fair = (100_000 * weight) / 357;
        assert.ok(Math.abs((counts.get(name) ?? 0) - fair) < 3, `${name}: ${counts.get(name)}, fair: ${fair}`);
      }
    });
  });
}

/** Names of the servers that `count` requests reach, one after the other. */
async function ask(servers: WeightedServers, count: number): Promise<unknown[]> {
  const names: unknown[] = [];
  for (let i = 0; i < count; i++) names.push(await servers.request());
  return names;
}
