/** MON-020 to MON-023: what is told of each change, and where. */
import assert from 'node:assert/strict';
import type { MonitoringEvent } from '@zlink/framework';
import { CHANNEL, FEED, MESH } from '../../contracts.ts';
import type { HostHandle } from '../../runner/host-handle.ts';
import { nodePlan, redisStore } from '../../runner/stage-plans.ts';
import type { Scenario } from '../../scenario.ts';

const prefix = 'zlink.runtime.';

export const events: readonly Scenario[] = [
  {
    ids: ['MON-020', 'MON-021'],
    title: 'the life of a host is told in order, each event once in the log under its type',
    run: async (stage) => {
      const host = await stage.describe('host', [{ role: 'server' }]);
      await host.ask('host.describe');
      await host.ask('observing.watch', 'life', 'events');
      assert.ok((await host.tryStart()).ok);
      assert.ok((await host.shutdown()).ok);
      const told = (await host.ask('observing.read', 'life', 100)).flatMap(({ event }) => event ?? []);
      const states = told.flatMap((event) => (event.type === `${prefix}host.state_changed` ? [event.state] : []));
      assert.deepEqual(states, ['starting', 'serving', 'draining', 'stopped']);
      const [end] = told.flatMap((event) => (event.type === `${prefix}host.termination_changed` ? [event] : []));
      assert.deepEqual([end?.outcome, end?.reason, end?.sourceKind], ['stopped', 'none', 'host']);
      for (const [at, event] of told.entries()) {
        assert.equal(event.sequence, BigInt(at + 1));
        assert.ok(event.at instanceof Date && event.lifecycleGeneration > 0n);
        assert.equal(event.error, undefined);
      }
      assert.deepEqual(loggedTypes(host), told.map(({ type }) => type).sort());
    },
  },
  {
    ids: ['MON-020'],
    title: 'a start that fails is told with a bounded error without a stack',
    run: async (stage) => {
      const host = await stage.describe('host', [{ role: 'server' }, { role: 'service', name: 'bad', fails: 'start' }]);
      await host.ask('host.describe');
      await host.ask('observing.watch', 'life', 'events');
      assert.ok(!(await host.tryStart()).ok);
      assert.ok((await host.shutdown()).ok);
      const told = (await host.ask('observing.read', 'life', 100)).flatMap(({ event }) => event ?? []);
      const [failed] = told.filter((event) => 'state' in event && event.state === 'error');
      assert.deepEqual(Object.keys(failed?.error ?? {}).sort(), ['code', 'kind', 'message']);
      const { kind, code, message } = failed!.error!; // its keys are those
      assert.deepEqual([kind, code], ['InternalFailure', 'ZLINK_INTERNAL_FAILURE']);
      assert.ok(message.length <= 256 && !/\n|\bat .*:\d+:\d+/.test(message), message);
      assert.ok(
        told.some((event) => event.type === `${prefix}client_server.state_changed` && event.state === 'failed'),
      );
    },
  },
  {
    ids: ['MON-021', 'MON-020', 'MON-022'],
    title: 'servers, nodes, their channels and publishers: found, ready, changed and gone are told; no message is',
    run: async (stage) => {
      const far = await stage.start('far', [{ role: 'server' }, nodePlan(stage, 'far'), { role: 'publisher' }]);
      const host = await stage.describe('host', [
        { role: 'client', connect: [far.endpoint] },
        nodePlan(stage, 'host', [far], { channels: [{}] }),
        { role: 'subscriber', connect: [far.feedEndpoint] },
      ]);
      await host.ask('host.describe');
      await host.ask('observing.watch', 'all', 'events');
      assert.ok((await host.tryStart()).ok);
      await Promise.all([host.ask('servers.ready', 1), host.ask('peers.ready', 1)]);
      await host.publishers(([row]) => row?.state === 'ready', 'hears the publisher');
      const secret = 'of no concern to anybody else';
      const sequenceOf = async (): Promise<bigint> => {
        await host.ask('observing.watch', `look ${++looks}`, 'events');
        await far.ask('servers.setWeight', 40 + looks);
        const told = await host.eventsUntil(`look ${looks}`, (event) => 'server' in event);
        return told.at(-1)!.sequence; // at least the one that ended the reading
      };
      let looks = 0;
      const before = await sequenceOf();
      for (const to of [stage.toServers, stage.toNodes, { to: { rid: 'far' } }]) {
        const plan = { ...to, payload: { text: secret }, metadata: [['user', secret]] } as const;
        await host.ask('calls.burst', plan, 100);
        await host.ask('calls.burst', { ...plan, verb: 'send' }, 100);
      }
      await far.ask('feeds.publishMany', FEED, { topic: secret, payload: { text: secret } }, 50);
      await host.seen(50, 'ended');
      assert.equal((await sequenceOf()) - before, 1n, 'nothing was told of 650 messages');

      await far.ask('peers.setWeight', 9);
      await host.peers(([row]) => row?.channels[0]?.weight === 9, 'sees the weight');
      const ending = far.shutdown();
      const isGone = { server: false, peer: false, publisher: false };
      const told = await host.eventsUntil('all', (event) => {
        if ('server' in event && event.server.state === 'reconnecting') isGone.server = true;
        if ('peer' in event && event.peer.state === 'reconnecting') isGone.peer = true;
        if ('publisher' in event && event.publisher.state === 'reconnecting') isGone.publisher = true;
        return isGone.server && isGone.peer && isGone.publisher;
      });
      assert.ok((await ending).ok);
      assert.deepEqual(distinct(told.flatMap((event) => ('server' in event ? [event.server.state] : []))), [
        'connecting',
        'ready',
        'reconnecting',
      ]);
      assert.ok(told.some((event) => 'channel' in event && event.channel.members[0]?.weight === 9));
      const names = distinct(told.map(({ type }) => type.slice(prefix.length))).toSorted();
      assert.deepEqual(names, [
        'client_server.server_changed',
        'client_server.state_changed',
        'fanout.publisher_changed',
        'host.state_changed',
        'mesh_node.channel_changed',
        'mesh_node.peer_changed',
        'mesh_node.state_changed',
      ]);
      for (const event of told) assertPlaced(event);
      const text = JSON.stringify(told, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
      assert.ok(!text.includes(secret), 'nothing of a message is told');
      for (const [at, event] of told.entries()) assert.equal(event.sequence, BigInt(at + 1));
    },
  },
  {
    ids: ['MON-021', 'MON-020'],
    title: 'a store that fails and comes back, and a node with the own routing id, are told',
    over: { store: ['redis'] },
    run: async (stage) => {
      const redis = await stage.redis({ keepsData: true });
      const host = await stage.start('host', [{ role: 'node', rid: 'twin' }], { store: 'none' });
      await host.ask('observing.watch', 'twin', 'events');
      const twin = await stage.start('other', [{ role: 'node', rid: 'twin', connect: [host.meshEndpoint] }], {
        store: 'none',
      });
      await twin.ask('observing.watch', 'twin', 'events');
      const conflict = await Promise.race(
        [host, twin].map((one) => one.eventsUntil('twin', ({ type }) => type.endsWith('routing_id_conflict'))),
      );
      assert.ok(conflict.some((event) => 'nodeRid' in event && event.nodeRid === 'twin' && event.meshName === MESH));

      const stored = await stage.start('stored', [{ role: 'server' }], { store: redisStore(stage, redis) });
      await stored.ask('observing.watch', 'store', 'events');
      await redis.stop();
      const storeIs = (state: string) => (event: MonitoringEvent) =>
        'location' in event && event.location.store === state;
      const failed = (await stored.eventsUntil('store', storeIs('degraded'))).at(-1);
      assert.deepEqual([failed?.type, failed?.sourceKind], [`${prefix}location.store_changed`, 'location']);
      assert.ok(failed?.error && failed.error.message.length <= 256, 'the event says what failed');
      await redis.start();
      await stored.eventsUntil('store', storeIs('ready'));
      await stored.logged(`${prefix}location.store_changed`, 2);
    },
  },
  {
    ids: ['MON-023', 'MON-013', 'TRACE-012'],
    title: 'a logger that throws on every line is reported on stderr once, and changes no result',
    run: async (stage) => {
      const failing = { role: 'telemetry', records: 'failing' } as const;
      const setup = { options: { diagnostics: { level: 'normal' } } } as const;
      const host = await stage.start('host', [{ role: 'server' }, failing], setup);
      const client = await stage.client([host]);
      assert.deepEqual((await client.ask('calls.burst', stage.toServers, 200)).ends, { ok: 200 });
      await client.refusal({ ...stage.toServers, payload: { act: 'throw', text: 'x' } }, 'InternalFailure');
      assert.ok((await host.shutdown()).ok);
      host.process.part();
      await host.process.ended; // then all that it wrote is here
      const reports = host.process.errorText.split('\n').filter((line) => line.includes('no disk for the log'));
      assert.equal(reports.length, 1, host.process.errorText);
    },
  },
];

/** Sorted. */
function loggedTypes(host: HostHandle): readonly string[] {
  const all = host.process.logs.flatMap((line) => (line.host === host.name ? [line.record.eventId ?? ''] : []));
  return all.filter((type) => /^zlink\.runtime\.(host|client_server)\..*_changed$/.test(type)).sort();
}

function distinct(values: readonly string[]): readonly string[] {
  return [...new Set(values)];
}

/** What it is about is said by its name. */
function assertPlaced(event: MonitoringEvent): void {
  if (event.sourceKind === 'mesh_node') assert.ok('meshName' in event && event.meshName === MESH);
  if (event.sourceKind === 'client_server') assert.ok('channelName' in event && event.channelName === CHANNEL);
  if (event.sourceKind === 'fanout') assert.ok('channelName' in event && event.channelName === FEED);
  assert.ok(event.type.startsWith(`${prefix}${event.sourceKind}.`));
}
