/** LOC-050 to LOC-074 without objects: leases, views, and a store that is away. */
import assert from 'node:assert/strict';
import { CHANNEL, MESH_CHANNEL } from '../../contracts.ts';
import { eventually } from '../../runner/eventually.ts';
import type { HostHandle } from '../../runner/host-handle.ts';
import { keepsTime, timed } from '../../runner/keeps-time.ts';
import { quickLocation, redisStore, shortLease } from '../../runner/stage-plans.ts';
import type { Stage } from '../../runner/stage.ts';
import type { Scenario } from '../../scenario.ts';
import { waitLimitMs } from '../../wait-limit.ts';

const visibleMs = quickLocation.pollingIntervalMs + 1_000;
const withShortLease = { options: { location: shortLease } } as const;

const noKeys: readonly string[] = [];

/** A host that serves a channel and is a node of the mesh, and one that calls both. */
async function pair(
  stage: Stage,
  setup: Parameters<Stage['start']>[2] = {},
): Promise<readonly [HostHandle, HostHandle]> {
  const host = await stage.start('host', [{ role: 'server' }, { role: 'node', prefix: 'host', channels: [{ weight: 100 }] }], setup); // prettier-ignore
  const caller = await stage.start('caller', [{ role: 'client' }, { role: 'node', prefix: 'caller', channels: [{}] }], setup); // prettier-ignore
  await Promise.all([caller.ask('servers.ready', 1), caller.ask('peers.ready', 1)]);
  return [host, caller];
}

const kindOf = async (caller: HostHandle, channel: string): Promise<string> => {
  const end = await caller.call({ to: { channel }, timeoutMs: 5_000 }); // one that is lost is not the last
  return end.ok ? 'ok' : (end.error.kind ?? end.error.name);
};

export const discovery: readonly Scenario[] = [
  {
    ids: ['LOC-061', 'LOC-060', 'LOC-062', 'CS-005', 'MESH-003'],
    title: 'a new host, a changed weight and a host that leaves are seen within a poll and a second',
    over: { store: ['memory', 'redis'] },
    run: async (stage) => {
      const [first, caller] = await pair(stage);
      await keepsTime(visibleMs, 'a changed weight is seen', async (round) => {
        const weight = 300 + round;
        await first.ask('servers.setWeight', weight);
        return timed(caller.servers(([row]) => row?.weight === weight, 'sees the weight'));
      });
      const sees = (count: number) =>
        Promise.all([
          caller.servers((rows) => rows.length === count, `knows ${count} servers`),
          caller.peers((rows) => rows.length === count, `knows ${count} nodes`),
        ]);
      await keepsTime(visibleMs, 'a new host is seen, and that it has left', async (round) => {
        const name = `guest-${round}`;
        const node = { role: 'node', prefix: name, channels: [{ weight: 0 }] } as const;
        const guest = await stage.start(name, [{ role: 'server' }, node]);
        const cameAfterMs = await timed(sees(2));
        await Promise.all([caller.ask('servers.ready', 2), caller.ask('peers.ready', 2)]);
        assert.ok((await guest.shutdown()).ok);
        return Math.max(cameAfterMs, await timed(sees(1)));
      });
      await caller.reply({ to: { rid: first.meshRid } });
    },
  },
  {
    ids: ['LOC-062', 'CS-004'],
    title: 'kinds and names never mix in one namespace',
    over: { store: ['memory', 'redis'] },
    run: async (stage) => {
      const host = await stage.start('host', [
        { role: 'server', channel: 'same' },
        { role: 'node', mesh: 'same', prefix: 'host' },
        { role: 'publisher', channel: 'events' },
      ]);
      const other = await stage.start('other', [
        { role: 'client', channel: 'same' },
        { role: 'node', mesh: 'same', prefix: 'other' },
        { role: 'client', channel: 'another' },
        { role: 'subscriber', channel: 'events' },
      ]);
      await Promise.all([other.ask('servers.ready', 1, 'same'), other.ask('peers.ready', 1, 'same')]);
      assert.ok((await host.ask('feeds.subscribersReady', 'events', 1)).ok);
      assert.equal((await other.ask('servers.list', 'same')).length, 1);
      assert.equal((await other.ask('peers.list', 'same')).length, 1);
      assert.equal((await other.ask('feeds.publishers', 'events')).length, 1);
      assert.deepEqual(await other.ask('servers.list', 'another'), []);
      await other.refusal({ to: { channel: 'another' }, timeoutMs: 300 }, 'NotFound');
    },
  },
  {
    ids: ['LOC-055', 'DRAIN-002', 'LOC-063'],
    title: 'an orderly end leaves neither record nor lease; another start under the same names is at once the only one',
    over: { store: ['redis'] },
    run: async (stage) => {
      const server = await stage.redis();
      const setup = { store: redisStore(stage, server) };
      const host = await stage.start(
        'host',
        [{ role: 'server' }, { role: 'node', prefix: 'host' }, { role: 'publisher' }],
        setup,
      );
      const recordsOf = async () =>
        (await server.command(`KEYS {${stage.namespace}}:L:r:*`)).match(/L:r:[^\r\n]+/g) ?? noKeys;
      const records = await recordsOf();
      for (const kind of ['l', 'd/m', 'd/c', 'd/f']) {
        assert.equal(
          records.filter((key) => key.startsWith(`L:r:${kind}/`)).length,
          1,
          `${kind} of ${records.join(' ')}`,
        );
      }
      assert.ok((await host.shutdown()).ok);
      assert.deepEqual(
        (await recordsOf()).filter((key) => /^L:r:(l|d)\//.test(key)),
        [],
      );
    },
  },
  {
    ids: ['LOC-063', 'LOC-050', 'FAIL-003', 'C13'],
    title: 'a host that is killed is no target at once, and is forgotten when its lease has ended',
    over: { store: ['redis'] },
    isSlow: true,
    run: async (stage) => {
      const staying = await stage.server('staying', {}, withShortLease);
      const [host, caller] = await pair(stage, withShortLease);
      await caller.ask('servers.ready', 2);
      await host.process.kill();
      await caller.servers((rows) => rows.filter(({ state }) => state === 'ready').length === 1, 'has lost the link');
      const { ends } = await caller.ask('calls.burst', stage.toServers, 50);
      assert.deepEqual(ends, { ok: 50 });
      const limitMs = 2 * shortLease.ownerLeaseTtlMs + waitLimitMs; // its descriptor outlives its lease by a whole one
      await caller.servers((rows) => rows.length === 1, 'has forgotten the server', limitMs);
      await caller.peers((rows) => rows.length === 0, 'has forgotten the node', limitMs);
      assert.equal((await caller.reply(stage.toServers)).by, staying.name);
    },
  },
  {
    ids: ['LOC-052', 'CS-010', 'FAIL-014', 'FAIL-015', 'LOC-050', 'LOC-051', 'LOC-064', 'LOC-053'],
    title:
      'the store stands still: links stay and meshes go on, servers refuse past their lease; back, all go on as before',
    over: { store: ['redis'] },
    isSlow: true,
    run: async (stage) => {
      const server = await stage.redis();
      const [host, caller] = await pair(stage, { store: redisStore(stage, server), ...withShortLease });
      const rowsOf = async () =>
        [...(await caller.ask('servers.list')), ...(await caller.ask('peers.list'))].map(
          ({ endpoint, routingId, state }) => `${routingId} ${endpoint} ${state}`,
        );
      const before = await rowsOf();
      const held = await caller.begin({ ...stage.toServers, payload: { act: 'hold' } });
      await host.seen(1, 'begun');
      server.pause();
      assert.equal(await kindOf(caller, CHANNEL), 'ok', 'at first nothing changes');
      await eventually(async () => (await kindOf(caller, CHANNEL)) === 'Unavailable', 'the server refuses');
      const refused = await caller.refusal(stage.toServers, 'Unavailable');
      assert.equal(refused.submitted, true);
      assert.ok((await caller.call({ ...stage.toServers, verb: 'send' })).ok);
      await host.counted(CHANNEL, 'send', ({ dropped }) => dropped['not_serving'] === 1, 'drops a one-way');
      assert.equal(await kindOf(caller, MESH_CHANNEL), 'ok', 'the mesh goes on');
      await caller.reply({ to: { rid: host.meshRid } });
      assert.equal(await host.ask('handlers.release'), 1);
      assert.ok((await held.end).ok, 'what was accepted is answered');
      assert.deepEqual(await rowsOf(), before, 'nobody was added, removed or closed');
      server.resume();
      await eventually(async () => (await kindOf(caller, CHANNEL)) === 'ok', 'the server takes calls again');
      assert.deepEqual(await rowsOf(), before, 'the same runs over the same links');
    },
  },
  {
    ids: ['LOC-064', 'LOC-065', 'LOC-053', 'FAIL-014', 'FAIL-015', 'REDIS-007', 'LOC-073'],
    title:
      'the store dies with all its data: no link closes, nobody is lost, and a newcomer appears only when it is back',
    over: { store: ['redis'] },
    isSlow: true,
    run: async (stage) => {
      const server = await stage.redis();
      const setup = { store: redisStore(stage, server) };
      const [host, caller] = await pair(stage, setup);
      const rids = async () =>
        (await caller.ask('servers.list')).map(({ routingId, state }) => `${routingId} ${state}`);
      const before = await rids();
      await server.stop();
      const newcomer = await stage.describe('newcomer', [{ role: 'server' }], setup);
      await caller.logged('zlink.runtime.location.store_changed');
      const starting = newcomer.tryStart(); // it tries the store for 10 s
      assert.deepEqual(await rids(), before);
      await server.start(); // empty
      assert.ok((await starting).ok, 'the newcomer starts');
      await caller.ask('servers.ready', 2);
      assert.ok((await rids()).includes(before[0] ?? ''), 'the one of before is still there');
      await eventually(async () => (await kindOf(caller, CHANNEL)) === 'ok', 'calls go on');
      await eventually(
        async () =>
          /L:r:d\/c\//.test(await server.command(`KEYS {${stage.namespace}}:L:r:d/c/*/${before[0]?.split(' ')[0]}`)),
        'its record is back',
      );
      const { ends } = await caller.ask('calls.burst', stage.toNodes, 20);
      assert.deepEqual(ends, { ok: 20 });
      assert.equal(await host.ask('running.state'), 'serving');
    },
  },
  {
    ids: ['REDIS-003', 'REDIS-007', 'LOC-071', 'LOC-073'],
    title:
      'SCRIPT FLUSH, FLUSHALL and a restart under load: service recovers by itself and calls never fail on the mesh',
    over: { store: ['redis'] },
    isSlow: true,
    run: async (stage) => {
      const server = await stage.redis({ keepsData: true });
      const [host, caller] = await pair(stage, { store: redisStore(stage, server) });
      const recordsOf = async () =>
        (await server.command(`KEYS {${stage.namespace}}:L:r:*`)).match(/L:r:(l|d)[^\r\n]+/g) ?? noKeys;
      const isWhole = async () => (await recordsOf()).length >= 5; // two leases, two nodes, a server
      for (const disturb of [
        () => server.command('SCRIPT FLUSH'),
        () => server.command('FLUSHALL'),
        async () => {
          await server.stop();
          await server.start();
        },
      ]) {
        await eventually(isWhole, 'all records are there');
        const load = caller.ask('calls.burst', { ...stage.toNodes, payload: { act: 'spin', text: '1' } }, 300);
        await disturb();
        assert.deepEqual((await load).ends, { ok: 300 });
        await host.ask('servers.setWeight', 50);
        await eventually(isWhole, 'all records are there again');
        await eventually(async () => (await kindOf(caller, CHANNEL)) === 'ok', 'the server answers');
      }
    },
  },
  {
    ids: ['LOC-053', 'LOC-054', 'C13', 'C15', 'LOC-065'],
    title: 'a host that was stopped past its lease comes back as the same run and serves again',
    over: { store: ['redis'] },
    isSlow: true,
    run: async (stage) => {
      const [host, caller] = await pair(stage, withShortLease);
      const staying = await stage.server('staying', {}, withShortLease);
      await caller.ask('servers.ready', 2);
      const rid = host.meshRid;
      host.process.signal('SIGSTOP');
      try {
        // Once its lease has ended it is left out of the channel, while its link may still be there.
        const isLeftOut = async () => {
          const rows = await caller.ask('servers.list');
          return rows.some((row) => row.endpoint === host.endpoint && row.reason?.includes('lease') === true);
        };
        await eventually(isLeftOut, 'it is left out');
        const { by } = await caller.ask('calls.burst', stage.toServers, 10);
        assert.deepEqual([...new Set(by)], [staying.name]);
      } finally {
        host.process.signal('SIGCONT');
      }
      await caller.ask('servers.ready', 2);
      await eventually(
        async () => (await caller.ask('calls.burst', stage.toServers, 10)).by.includes('host'),
        'it answers again',
      );
      assert.equal((await caller.reply({ to: { rid } })).by, 'host');
    },
  },
  {
    ids: ['LOC-070', 'LOC-018', 'LOC-016'],
    title: 'replies of the store that get lost change nothing: a start, a weight and an end have one effect each',
    over: { store: ['redis'] },
    isSlow: true,
    run: async (stage) => {
      const server = await stage.redis();
      const caller = await stage.start('caller', [{ role: 'client' }], { store: redisStore(stage, server) });
      const proxy = await stage.proxy(server.address);
      const behind = {
        kind: 'redis',
        connection: { url: proxy.address.replace('tcp:', 'redis:') },
        keyPrefix: stage.namespace,
      } as const;
      const host = await stage.start('host', [{ role: 'server' }], { store: behind });
      await caller.ask('servers.ready', 1);
      const recordsOf = async () =>
        (await server.command(`KEYS {${stage.namespace}}:L:r:d/c/*`)).match(/L:r:[^\r\n]+/g) ?? noKeys;
      proxy.blackhole('toClient'); // commands arrive, answers do not
      await host.ask('servers.setWeight', 7);
      await host.logged('zlink.runtime.location.store_changed');
      proxy.restore();
      const weightOf = async () => server.command(`HGET {${stage.namespace}}:${(await recordsOf())[0]} v`);
      await eventually(async () => (await weightOf()).includes('"weight":7'), 'the weight is in the store');
      assert.equal((await recordsOf()).length, 1);
      await eventually(async () => (await kindOf(caller, CHANNEL)) === 'ok', 'the server answers');
      assert.ok((await host.shutdown()).ok);
      assert.deepEqual(await recordsOf(), []);
    },
  },
  {
    ids: ['REDIS-010', 'REDIS-011', 'LOC-003'],
    title: 'both stores lie in one namespace under the documented keys, and the documented permissions suffice',
    over: { store: ['redis'] },
    run: async (stage) => {
      const server = await stage.redis();
      const prefix = stage.namespace;
      const commands =
        '+evalsha +eval +script|load +time +get +set +del +unlink +hmget +hset +hdel +zadd +zrem +zrangebylex ' +
        '+pexpireat +persist +info +ping +wait +cluster|slots';
      await server.command(`ACL SETUSER zlink on >secret ~{${prefix}}:L:* ~${prefix}:B:* ${commands}`);
      const url = server.url.replace('redis://', 'redis://zlink:secret@');
      const store = { kind: 'redis', connection: { url }, keyPrefix: prefix, relocation: true } as const;
      const host = await stage.start('host', [{ role: 'server' }, { role: 'client' }, { role: 'node', prefix: 'n' }], {
        store,
      });
      await host.ask('servers.ready', 1);
      await host.reply(stage.toServers);
      const keys = (await server.command('KEYS *')).match(/^[^\r\n*$][^\r\n]*$/gm) ?? noKeys;
      assert.ok(keys.includes(`{${prefix}}:L:meta`), keys.join(' '));
      for (const key of keys) assert.ok(key.startsWith(`{${prefix}}:L:`) || key.startsWith(`${prefix}:B:`), key);
      assert.ok((await host.shutdown()).ok);
      assert.deepEqual((await server.command('ACL LOG')).trim(), '*0', 'nothing was forbidden');
    },
  },
  {
    ids: ['LOC-061', 'MESH-003', 'LOC-063'],
    title: 'hosts with other prefixes or names never meet',
    over: { store: ['redis'] },
    run: async (stage) => {
      const url = await stage.redisUrl();
      const apart = { store: { kind: 'redis', connection: { url }, keyPrefix: `${stage.namespace}-apart` } } as const;
      const [host, caller] = await pair(stage);
      const stranger = await stage.start('stranger', [{ role: 'server' }, { role: 'node', prefix: 'stranger' }], apart);
      const friend = await stage.start('friend', [{ role: 'client' }, { role: 'node', prefix: 'friend' }], apart);
      await Promise.all([friend.ask('servers.ready', 1), friend.ask('peers.ready', 1)]);
      assert.equal((await caller.ask('servers.list')).length, 1);
      assert.equal((await caller.ask('peers.list')).length, 1);
      await caller.refusal({ to: { rid: stranger.meshRid } }, 'NotFound');
      assert.equal((await friend.ask('servers.list'))[0]?.endpoint, stranger.endpoint);
      assert.equal((await caller.ask('servers.list'))[0]?.endpoint, host.endpoint);
    },
  },
];
