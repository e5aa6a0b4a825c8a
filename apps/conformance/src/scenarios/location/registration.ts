/** LOC-001 to LOC-006: which stores a host takes, and what it does with them. */
import assert from 'node:assert/strict';
import { MESH } from '../../contracts.ts';
import { redisStore } from '../../runner/stage-plans.ts';
import type { Scenario } from '../../scenario.ts';

export const registration: readonly Scenario[] = [
  {
    ids: ['LOC-001', 'LOC-020', 'LOC-006'],
    title: 'two stores of a kind, none at all, the wrong kind, a missing capability: a start refuses each',
    run: async (stage) => {
      const host = await stage.start('host', []);
      assert.deepEqual(await host.probe('stores.storeMistakes'), {
        twoOfEach: 2,
        sameTwice: 1,
        noStore: 2,
        theOtherKind: 2,
        withoutCompareAndSet: 1,
        withoutStoreClock: 1,
        withoutOperationReplay: 1,
        sharedBesideProcess: 1,
        sound: 0,
      });
    },
  },
  {
    ids: ['LOC-003'],
    title: 'a store is opened once by the start and disposed of once, however the host ends',
    run: async (stage) => {
      const host = await stage.start('host', []);
      assert.deepEqual(await host.probe('stores.storeLives'), {
        served: [1, 1],
        'never started': [0, 1],
        refused: [0, 1],
        'failed service': [1, 1],
      });
    },
  },
  {
    ids: ['LOC-003', 'REDIS-004'],
    title:
      'two stores on one client: each ends with the host, the client is its owner’s, and the process ends by itself',
    over: { store: ['redis'] },
    run: async (stage) => {
      const host = await stage.start('host', [], { store: 'none' });
      assert.equal(await host.probe('stores.sharedClient', await stage.redisUrl(), stage.namespace), 'PONG');
    },
  },
  {
    ids: ['LOC-004', 'DRAIN-007'],
    title: 'a store that cannot be reached is tried for 10 s, then the start is Unavailable and nothing was bound',
    isSlow: true,
    run: async (stage) => {
      const host = await stage.describe('host', [{ role: 'server' }], {
        store: { kind: 'redis', connection: { url: 'redis://127.0.0.1:1' }, keyPrefix: stage.namespace },
      });
      const end = await host.tryStart();
      assert.ok(!end.ok);
      assert.equal(end.error.kind, 'Unavailable');
      assert.ok(end.ms >= 9_000 && end.ms < 40_000, `it took ${end.ms} ms`);
      assert.equal(end.state, 'error');
      assert.deepEqual((await host.ask('running.facts')).listeners, []);
    },
  },
  {
    ids: ['LOC-004', 'HOST-005'],
    title: 'a start that waits for its store gives up when its signal aborts',
    run: async (stage) => {
      const host = await stage.describe('host', [{ role: 'server' }], {
        store: { kind: 'redis', connection: { url: 'redis://127.0.0.1:1' }, keyPrefix: stage.namespace },
      });
      const end = await host.tryStart(300);
      assert.ok(!end.ok && end.error.name === 'TimeoutError');
      assert.ok(end.ms < 9_000); // that of the store is longer
    },
  },
  {
    ids: ['LOC-004', 'REDIS-005'],
    title: 'a Redis that evicts records, or holds what is none of ours, is a ConfigurationError, and nothing was bound',
    run: async (stage) => {
      const evicting = await stage.redis({ args: ['--maxmemory-policy', 'allkeys-lru'] });
      const foreign = await stage.redis();
      await foreign.command(`HSET {${stage.namespace}}:L:meta schema 2 storeId x createdMs 1`);
      for (const server of [evicting, foreign]) {
        const host = await stage.describe(`host ${server.port}`, [{ role: 'server' }], {
          store: redisStore(stage, server),
        });
        const end = await host.tryStart();
        assert.ok(!end.ok && end.error.isConfigurationError, end.ok ? 'started' : end.error.message);
        assert.deepEqual((await host.ask('running.facts')).listeners, []);
      }
    },
  },
  {
    ids: ['REDIS-004', 'LOC-001'],
    title: 'options of a Redis store that are none are refused where it is made',
    run: async (stage) => {
      const host = await stage.start('host', []);
      assert.equal(await host.probe('stores.redisOptionMistakes'), 8);
    },
  },
  {
    ids: ['LOC-006'],
    title: 'a store of one process is warned of once',
    run: async (stage) => {
      const host = await stage.start('host', []);
      assert.equal(await host.probe('stores.processLocalWarnings'), 1);
    },
  },
  {
    ids: ['LOC-033', 'HOSTREG-003'],
    title: 'more channels than a descriptor holds, and a fixed RID beside a store, fail the start',
    over: { store: ['redis', 'memory'] },
    run: async (stage) => {
      const channels = Array.from({ length: 1_025 }, (_, number) => ({ name: `c${number}`, weight: 1 }));
      const full = await stage.failStart('full', [{ role: 'node', prefix: 'x', channels }]);
      assert.ok(full.error.isConfigurationError, full.error.message);
      const fixed = await stage.failStart('fixed', [{ role: 'node', rid: 'fixed' }]);
      assert.ok(fixed.error.isConfigurationError, fixed.error.message);
      assert.match(fixed.error.message, new RegExp(MESH));
      await stage.start('sound', [{ role: 'node', prefix: 'x', channels: channels.slice(0, 200) }]);
    },
  },
];
