/** NET: where listeners are bound, and what others are told. */
import assert from 'node:assert/strict';
import { networkInterfaces } from 'node:os';
import { MESH } from '../../contracts.ts';
import { stores } from '../../matrix.ts';
import { nodePlan } from '../../runner/stage-plans.ts';
import type { Scenario } from '../../scenario.ts';

function hasIpv6Loopback(): boolean {
  return Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === '::1'));
}

export const network: readonly Scenario[] = [
  {
    ids: ['NET-001', 'NET-002'],
    title: 'listeners bind to loopback, take a free port for 0, and are listed with the real one',
    run: async (stage) => {
      const host = await stage.start('host', [{ role: 'server' }, nodePlan(stage, 'host'), { role: 'publisher' }]);
      const { listeners } = host.facts;
      assert.deepEqual(listeners.map(({ kind, name }) => [kind, name]).sort(), [
        ['CLIENT_SERVER', 'conformance'],
        ['FANOUT', 'conformance-feed'],
        ['ROUTE_MESH', MESH],
      ]);
      for (const { endpoint, since } of listeners) {
        assert.match(endpoint, /^tcp:\/\/127\.0\.0\.1:[1-9]\d*$/);
        assert.ok(Math.abs(Date.now() - since.getTime()) < 60_000);
      }
      assert.equal(new Set(listeners.map(({ endpoint }) => endpoint)).size, 3);
    },
  },
  {
    ids: ['NET-001', 'C07'],
    over: { store: ['manual', 'redis'] },
    title: 'a wildcard bind says what it advertises; what one listener overrides is its own',
    run: async (stage) => {
      const server = await stage.start(
        'server',
        [
          { role: 'server', bindHost: '127.0.0.1', advertiseHost: 'localhost' },
          { role: 'server', channel: 'other' },
        ],
        { options: { network: { bindHost: '0.0.0.0', advertiseHost: '127.0.0.1' } } },
      );
      const [own, other] = server.facts.listeners;
      assert.match(own?.endpoint ?? '', /^tcp:\/\/localhost:\d+$/);
      assert.match(other?.endpoint ?? '', /^tcp:\/\/127\.0\.0\.1:\d+$/);
      const client = await stage.client([server]);
      await client.reply(stage.toServers);
    },
  },
  {
    ids: ['NET-001'],
    title: 'IPv6 literals have brackets in endpoints',
    run: async (stage) => {
      const bindHost = hasIpv6Loopback() ? '::1' : '127.0.0.1'; // a machine without IPv6 has no such endpoint
      const server = await stage.server('server', { bindHost });
      if (hasIpv6Loopback()) assert.match(server.endpoint, /^tcp:\/\/\[::1\]:\d+$/);
      const client = await stage.client([server]);
      await client.reply(stage.toServers);
    },
  },
  {
    ids: ['NET-003', 'CS-013', 'LOC-060'],
    title: 'RIDs that are allocated have their prefix and are new at each start',
    over: { store: stores },
    run: async (stage) => {
      const parts = [{ role: 'node' as const, prefix: 'play' }, { role: 'server' as const }];
      const first = await stage.start('first', parts);
      const second = await stage.start('second', parts);
      const pattern = /^play-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
      for (const host of [first, second]) assert.match(host.meshRid, pattern);
      assert.notEqual(first.meshRid, second.meshRid);
      const client = await stage.client([first, second]);
      const rids = (await client.ask('servers.list')).map(({ routingId }) => routingId);
      assert.equal(new Set(rids).size, 2);
      assert.ok(!rids.includes(undefined));
    },
  },
];
