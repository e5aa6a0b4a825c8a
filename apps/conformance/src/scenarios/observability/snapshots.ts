/** MON-001 to MON-007: what a host shows when it is asked. */
import assert from 'node:assert/strict';
import type { RuntimeSnapshot, TopologyStatus } from '@zlink/framework';
import { FEED } from '../../contracts.ts';
import { nodePlan, redisStore } from '../../runner/stage-plans.ts';
import type { Scenario } from '../../scenario.ts';

export const snapshots: readonly Scenario[] = [
  {
    ids: ['MON-001', 'MON-004', 'MON-003'],
    title: 'without its only server a channel is degraded and nothing else is; calls fail; with a server it is ready',
    over: { store: ['manual', 'redis'] },
    run: async (stage) => {
      const first = await stage.server('first');
      const other = await stage.node('other');
      const proxy = await stage.proxy(first.endpoint);
      const connect = stage.isDiscovering ? [] : [proxy.address];
      const caller = await stage.start('caller', [
        { role: 'client', connect },
        nodePlan(stage, 'caller', [other], { channels: [{}] }),
      ]);
      await Promise.all([caller.ask('servers.ready', 1), caller.ask('peers.ready', 1)]);
      const before = await caller.shows(isWhole, 'two topologies that are ready');
      await caller.ask('observing.keep');
      const [kept] = await caller.ask('observing.kept');
      assert.ok((await first.shutdown()).ok);
      const without = await caller.shows(
        ({ clientServerChannels: [row] }) => row?.state === 'degraded',
        'what it lacks',
      );
      assert.deepEqual(statusOf(without.clientServerChannels[0]), ['degraded', 'no_ready_target']);
      assert.deepEqual(statusOf(without.routeMeshes[0]), ['ready']);
      assert.deepEqual([without.host.state, without.host.isReady], ['serving', true]);
      const end = await caller.call({ ...stage.toServers, timeoutMs: 500 });
      assert.ok(!end.ok && end.error.isZLinkError, 'a call without a server fails');
      await caller.reply({ to: { rid: other.meshRid } });
      proxy.leadTo((await stage.server('second')).endpoint);
      const after = await caller.shows(isWhole, 'that the server is back');
      assert.ok(before.sequence < without.sequence && without.sequence < after.sequence, 'sequences grow');
      await caller.reply(stage.toServers);
      const [keptStill] = await caller.ask('observing.kept');
      assert.deepEqual(keptStill, kept);
      assert.equal(keptStill?.isFrozen, true);
    },
  },
  {
    ids: ['MON-002', 'MON-003'],
    title: 'a host can be read in every state, from its description to its end',
    run: async (stage) => {
      const host = await stage.describe('host', [
        { role: 'server' },
        { role: 'service', name: 'slow', holds: 'start' },
      ]);
      const look = async (): Promise<readonly unknown[]> => {
        const { host: own, clientServerChannels } = await host.ask('observing.snapshot');
        return [own.state, own.isReady, ...statusOf(clientServerChannels[0])];
      };
      await host.ask('host.describe');
      assert.deepEqual(await look(), ['configuring', false, 'starting', 'runtime_not_ready']);
      const starting = host.tryStart();
      await host.seen(1, 'begun');
      assert.deepEqual(await look(), ['starting', false, 'starting', 'runtime_not_ready']);
      await host.ask('handlers.release');
      assert.ok((await starting).ok);
      assert.deepEqual(await look(), ['serving', true, 'ready']);
      const client = await stage.client([host]);
      const held = await client.begin({ ...stage.toServers, payload: { act: 'hold', mark: 'held' } });
      await host.shows(({ host: { backlog } }) => backlog.runningHandlers === 1, 'the handler that runs');
      const { host: caller } = await client.ask('observing.snapshot');
      assert.equal(caller.backlog.pendingRequests, 1);
      const ending = host.shutdown();
      await client.servers(([row]) => row?.draining === true, 'sees that it drains');
      assert.deepEqual(await look(), ['draining', false, 'stopping', 'draining']);
      await host.ask('handlers.release');
      assert.ok((await held.end).ok);
      assert.ok((await ending).ok);
      const { host: own } = await host.ask('observing.snapshot');
      assert.deepEqual([own.state, own.shutdownResult], ['stopped', { outcome: 'stopped', reason: 'none' }]);
      assert.equal((await look()).at(2), 'stopped');

      const failing = await stage.describe('failing', [
        { role: 'server' },
        { role: 'service', name: 'failing', fails: 'start' },
      ]);
      assert.ok(!(await failing.tryStart()).ok);
      const failed = await failing.ask('observing.snapshot');
      assert.deepEqual(statusOf(failed.clientServerChannels[0]), ['failed', 'internal_failure']);
    },
  },
  {
    ids: ['MON-003'],
    title: 'while a host drains its topologies are not ready, and its peers are shown as they are',
    run: async (stage) => {
      const peer = await stage.node('peer');
      const host = await stage.node('host', [peer]);
      const held = await peer.begin({ to: { rid: 'host' }, payload: { act: 'hold' } });
      await host.seen(1, 'begun');
      const ending = host.shutdown();
      const { host: own, routeMeshes } = await host.shows(({ host: { state } }) => state === 'draining', 'its drain');
      assert.equal(own.isReady, false);
      assert.ok(own.deadline, 'the end of the shutdown is known');
      assert.deepEqual(statusOf(routeMeshes[0]), ['stopping', 'draining']);
      assert.equal(routeMeshes[0]?.peers[0]?.state, 'ready');
      const seen = await peer.shows(({ routeMeshes: [mesh] }) => mesh?.peers[0]?.draining === true, 'that it drains');
      assert.equal(seen.routeMeshes[0]?.peers[0]?.state, 'ready');
      await host.ask('handlers.release');
      assert.ok((await held.end).ok);
      assert.ok((await ending).ok);
    },
  },
  {
    ids: ['MON-004'],
    title: 'while the store fails what depends on it is degraded, the host serves, and what is known goes on',
    over: { store: ['redis'] },
    run: async (stage) => {
      const redis = await stage.redis({ keepsData: true });
      const setup = { store: redisStore(stage, redis) };
      const host = await stage.start('host', [{ role: 'node', prefix: 'host', channels: [{ weight: 1 }] }], setup);
      const caller = await stage.start('caller', [{ role: 'node', prefix: 'caller', channels: [{}] }], setup);
      await caller.ask('peers.ready', 1);
      await redis.stop();
      const shown = await caller.shows(({ location }) => location.store === 'degraded', 'that the store fails');
      assert.deepEqual(statusOf(shown.routeMeshes[0]), ['degraded', 'location_unavailable']);
      assert.deepEqual([shown.host.state, shown.host.isReady], ['serving', true]);
      await redis.start();
      const healed = await caller.shows(({ location }) => location.store === 'ready', 'that the store works');
      assert.ok(healed.location.leaseValidUntil, 'there is a lease');
      await caller.shows(({ routeMeshes: [mesh] }) => mesh?.state === 'ready', 'that the mesh is ready');
      await caller.reply({ to: { rid: host.meshRid } });
    },
  },
  {
    ids: ['MON-006'],
    title: 'the server of the own process is shown like others; a publisher is ready from its first sign of life',
    run: async (stage) => {
      const far = await stage.server('far');
      const publisher = await stage.publisher();
      const host = await stage.start('host', [
        { role: 'server' },
        { role: 'client', connect: [far.endpoint] },
        { role: 'subscriber', connect: [publisher.feedEndpoint] },
      ]);
      await host.ask('servers.ready', 2);
      const { clientServerChannels } = await host.ask('observing.snapshot');
      const [channel] = clientServerChannels;
      assert.equal(channel?.role, 'client_and_server');
      const byPlace = channel.servers.toSorted((one, other) => Number(one.local) - Number(other.local));
      const rows = byPlace.map(({ endpoint, state, weight, local }) => ({ endpoint, state, weight, local }));
      const ready = { state: 'ready', weight: 100 };
      assert.deepEqual(rows, [
        { endpoint: far.endpoint, ...ready, local: false },
        { endpoint: host.endpoint, ...ready, local: true },
      ]);
      const [remote, local] = byPlace;
      // There is no connection to oneself whose traffic could be shown.
      assert.deepEqual(keysOf(remote).filter((key) => key !== 'traffic'), keysOf(local)); // prettier-ignore
      const heard = ({ fanoutChannels: [feed] }: RuntimeSnapshot): boolean => feed?.publishers[0]?.state === 'ready';
      await host.shows(heard, 'that the publisher is heard');
      await publisher.process.kill();
      await host.shows((snapshot) => !heard(snapshot), 'that the publisher is gone');
    },
  },
  {
    ids: ['MON-007'],
    title: 'a publish leaves no count of whom it reached, in no snapshot, event or metric of its publisher',
    run: async (stage) => {
      const publisher = await stage.start('publisher', [{ role: 'publisher' }, { role: 'telemetry', metrics: 'kept' }]);
      const subscribers = [await stage.subscriber('one', [publisher]), await stage.subscriber('two', [publisher])];
      await publisher.ask('feeds.subscribersReady', FEED, 2);
      await publisher.ask('observing.watch', 'publishing', 'events');
      const before = await factsOf(publisher.ask('observing.snapshot'), publisher.ask('telemetry.metrics'));
      await publisher.ask('feeds.publishMany', FEED, {}, 50);
      for (const subscriber of subscribers) await subscriber.seen(50, 'ended');
      assert.deepEqual(await factsOf(publisher.ask('observing.snapshot'), publisher.ask('telemetry.metrics')), before);
      const [shown] = (await subscribers[0]!.ask('observing.snapshot')).fanoutChannels;
      const allowed = ['publisherRid', 'endpoint', 'intent', 'state', 'missedEvents', 'reason'];
      assert.deepEqual(keysOf(shown?.publishers[0]).filter((key) => !allowed.includes(key)), []); // prettier-ignore
      const reading = publisher.ask('observing.read', 'publishing', 100);
      assert.ok((await publisher.shutdown()).ok);
      for (const { event } of await reading) assert.match(event?.type ?? '', /^zlink\.runtime\.host\./);
    },
  },
];

function isWhole({ clientServerChannels: [channel], routeMeshes: [mesh] }: RuntimeSnapshot): boolean {
  return channel?.state === 'ready' && mesh?.state === 'ready';
}

function statusOf(topology: TopologyStatus | undefined): readonly string[] {
  return topology === undefined ? [] : [topology.state, ...topology.reasons];
}

function keysOf(row: object | undefined): readonly string[] {
  return Object.keys(row ?? {}).sort();
}

/** All that a publisher shows, but for what the moment changes. */
async function factsOf(snapshot: Promise<RuntimeSnapshot>, metrics: Promise<readonly { readonly name: string }[]>) {
  const { host, routeMeshes, clientServerChannels, fanoutChannels } = await snapshot;
  const rows = (await metrics).filter(({ name }) => name !== 'zlink.host.core.queued');
  return { state: host.state, backlog: host.backlog, routeMeshes, clientServerChannels, fanoutChannels, rows };
}
