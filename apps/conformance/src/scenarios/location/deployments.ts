/** REDIS-006, REDIS-008 and LOC-072: Redis as more than one server, and clocks that are wrong. */
import assert from 'node:assert/strict';
import { CHANNEL } from '../../contracts.ts';
import { shortLease } from '../../runner/stage-plans.ts';
import { eventually } from '../../runner/eventually.ts';
import type { HostHandle } from '../../runner/host-handle.ts';
import { startCluster, startReplica, startSentinel } from '../../runner/redis-deployments.ts';
import type { HostSetup, Stage } from '../../runner/stage.ts';
import type { Scenario } from '../../scenario.ts';

async function pair(stage: Stage, setup: HostSetup): Promise<readonly [HostHandle, HostHandle]> {
  const host = await stage.start('host', [{ role: 'server' }, { role: 'node', prefix: 'host' }], setup);
  const caller = await stage.start('caller', [{ role: 'client' }, { role: 'node', prefix: 'caller' }], setup);
  await Promise.all([caller.ask('servers.ready', 1), caller.ask('peers.ready', 1)]);
  return [host, caller];
}

const answers = (caller: HostHandle): Promise<void> =>
  eventually(async () => (await caller.call({ to: { channel: CHANNEL } })).ok, 'the server answers');

export const deployments: readonly Scenario[] = [
  {
    ids: ['REDIS-006', 'REDIS-007', 'LOC-071', 'LOC-073', 'C14'],
    title:
      'a Sentinel failover that loses the last writes: links stay, records come back, and a newcomer finds everyone',
    over: { store: ['redis'] },
    isSlow: true,
    run: async (stage) => {
      const redis = await startSentinel((options) => stage.redis(options));
      const setup = { store: { kind: 'redis', connection: redis.connection, keyPrefix: stage.namespace } } as const;
      const [host, caller] = await pair(stage, setup);
      const rid = (await caller.ask('servers.list'))[0]?.routingId;
      await redis.cutReplication();
      const unknown = await stage.server('unknown to the replica', {}, setup);
      await caller.ask('servers.ready', 2);
      await redis.failOver();
      const recordsOf = async () =>
        (await redis.replica.command(`KEYS {${stage.namespace}}:L:r:*`)).match(/L:r:(l|d)[^\r\n]+/g) ?? [];
      await eventually(async () => (await recordsOf()).length >= 7, 'the records of all are back');
      const rows = await caller.ask('servers.list');
      assert.equal(rows.filter(({ state }) => state === 'ready').length, 2, 'no link was closed');
      assert.ok(rows.some(({ routingId }) => routingId === rid));
      await answers(caller);
      const newcomer = await stage.start('newcomer', [{ role: 'client' }], setup);
      await newcomer.ask('servers.ready', 2);
      const { by } = await newcomer.ask('calls.burst', stage.toServers, 10);
      assert.deepEqual([...new Set(by)].sort(), [host.name, unknown.name].sort());
    },
  },
  {
    ids: ['REDIS-006', 'REDIS-003', 'REDIS-010'],
    title: 'a Cluster of three: hosts find each other, and all of a namespace lies on one of its nodes',
    over: { store: ['redis'] },
    isSlow: true,
    run: async (stage) => {
      const redis = await startCluster((options) => stage.redis(options));
      const store = {
        kind: 'redis',
        connection: redis.connection,
        keyPrefix: stage.namespace,
        relocation: true,
      } as const;
      const [host, caller] = await pair(stage, { store });
      await caller.reply(stage.toServers);
      const counts = await Promise.all(
        redis.servers.map(async (server) => (await server.command('KEYS *')).match(/:L:/g)?.length ?? 0),
      );
      assert.equal(counts.filter((count) => count > 0).length, 1, `records on the nodes: ${counts.join(', ')}`);
      await Promise.all(redis.servers.map((server) => server.command('SCRIPT FLUSH')));
      await host.ask('servers.setWeight', 7);
      await caller.servers((rows) => rows.some(({ weight }) => weight === 7), 'sees the weight');
      assert.ok((await host.shutdown()).ok);
      await caller.servers((rows) => rows.length === 0, 'has forgotten the host');
    },
  },
  {
    ids: ['REDIS-008'],
    title: 'with replicaAcks a host starts where a replica confirms, and not where there is none',
    over: { store: ['redis'] },
    isSlow: true,
    run: async (stage) => {
      const primary = await stage.redis({ args: ['--repl-diskless-sync', 'yes', '--repl-diskless-sync-delay', '0'] });
      const store = {
        kind: 'redis',
        connection: { url: primary.url },
        keyPrefix: stage.namespace,
        replicaAcks: 1,
      } as const;
      const lone = await stage.describe('lone', [{ role: 'server' }], { store });
      const end = await lone.tryStart(4_000);
      assert.ok(!end.ok, 'no replica confirms its lease');
      assert.deepEqual((await lone.ask('running.facts')).listeners, []);
      const replica = await startReplica((options) => stage.redis(options), primary);
      const [host, caller] = await pair(stage, { store });
      await caller.reply(stage.toServers);
      const records = (await replica.command(`KEYS {${stage.namespace}}:L:r:d/c/*`)).match(/L:r:/g) ?? [];
      assert.equal(records.length, 1, 'what counts as written is on the replica');
      assert.ok((await host.shutdown()).ok);
    },
  },
  {
    ids: ['LOC-072', 'LOC-051'],
    title: 'hosts whose wall clocks are hours apart find each other and keep their leases',
    over: { store: ['redis'] },
    isSlow: true,
    run: async (stage) => {
      const hourMs = 3_600_000;
      const options = { location: shortLease };
      const early = await stage.server('early', {}, { options, clockSkewMs: -hourMs });
      const late = await stage.server('late', {}, { options, clockSkewMs: hourMs });
      const caller = await stage.start('caller', [{ role: 'client' }], { options, clockSkewMs: 5 * hourMs });
      await caller.ask('servers.ready', 2);
      const askedAtMs = performance.now();
      // Longer than a lease: each has been renewed, or somebody would be missing.
      while (performance.now() - askedAtMs < shortLease.ownerLeaseTtlMs + 2_000) {
        const { ends } = await caller.ask(
          'calls.burst',
          { ...stage.toServers, payload: { act: 'spin', text: '5' } },
          10,
        );
        assert.deepEqual(ends, { ok: 10 });
      }
      const rows = await caller.ask('servers.list');
      assert.deepEqual(rows.map(({ state, reason }) => [state, reason]), [['ready', undefined], ['ready', undefined]]); // prettier-ignore
      for (const host of [early, late]) assert.equal(await host.ask('running.state'), 'serving');
    },
  },
];
