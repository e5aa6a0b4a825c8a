/** The suites for stores, on the stores that there are, and on one that breaks the contract. */
import assert from 'node:assert/strict';
import type { RedisPlace } from '../../roles/probes/suites.ts';
import type { Stage } from '../../runner/stage.ts';
import type { Scenario } from '../../scenario.ts';

const locationIds = Array.from({ length: 10 }, (_, at) => `LOC-01${at}`);
const relocationIds = Array.from({ length: 6 }, (_, at) => `RSTORE-00${at + 1}`);

async function placeOf(stage: Stage): Promise<RedisPlace | undefined> {
  if (stage.cell.store !== 'redis') return undefined;
  return { url: (await stage.redis()).url, keyPrefix: stage.namespace };
}

export const suites: readonly Scenario[] = [
  {
    ids: [...locationIds, 'LOC-021', 'LOC-022', 'REDIS-001', 'REDIS-002'],
    title: 'the suite for Location Stores',
    over: { store: ['memory', 'redis'] },
    limitMs: 180_000,
    isSlow: true,
    run: async (stage) => {
      const host = await stage.start('host', [], { store: 'none' });
      const { cases, failed } = await host.probe('suites.locationSuiteEnd', await placeOf(stage));
      assert.ok(cases > 30, `${cases} cases`);
      assert.deepEqual(failed, []);
    },
  },
  {
    ids: [...relocationIds, 'LOC-021', 'REDIS-009'],
    title: 'the suite for Relocation Stores',
    over: { store: ['memory', 'redis'] },
    limitMs: 180_000,
    isSlow: true,
    run: async (stage) => {
      const host = await stage.start('host', [], { store: 'none' });
      const { cases, failed } = await host.probe('suites.relocationSuiteEnd', await placeOf(stage));
      assert.ok(cases > 10, `${cases} cases`);
      assert.deepEqual(failed, []);
    },
  },
  {
    ids: ['LOC-021', 'LOC-012', 'LOC-013'],
    title: 'a store that ignores conditions does not pass the suite',
    limitMs: 180_000,
    isSlow: true,
    run: async (stage) => {
      const host = await stage.start('host', []);
      const { failed } = await host.probe('suites.brokenSuiteEnd');
      assert.ok(
        failed.some((title) => title.startsWith('[LOC-012]')),
        'it is found out',
      );
    },
  },
];
