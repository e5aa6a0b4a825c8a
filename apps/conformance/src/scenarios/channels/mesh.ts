/** MESH and NODE: nodes, peers and direct calls. */
import assert from 'node:assert/strict';
import { MESH, MESH_CHANNEL } from '../../contracts.ts';
import { codecs, securities, stores } from '../../matrix.ts';
import { nodePlan } from '../../runner/stage-plans.ts';
import type { Scenario } from '../../scenario.ts';

export const mesh: readonly Scenario[] = [
  {
    ids: ['MESH-001', 'NODE-001', 'MSG-006'],
    title: 'three nodes call each other in all directions, each the one that was named',
    over: { store: stores, codec: codecs, security: securities },
    run: async (stage) => {
      const a = await stage.node('a');
      const b = await stage.node('b', [a]);
      const c = await stage.node('c', [a, b]);
      const all = [a, b, c];
      await Promise.all(all.map((node) => node.ask('peers.ready', 2)));
      for (const from of all) {
        for (const to of all.filter((node) => node !== from)) {
          const reply = await from.reply({ to: { rid: to.meshRid } });
          assert.equal(reply.by, to.name);
          assert.ok((await from.call({ to: { rid: to.meshRid }, verb: 'send' })).ok);
        }
      }
      for (const node of all) {
        const begun = (await node.seen(4, 'begun')).filter(({ what }) => what === 'begun');
        assert.ok(begun.every(({ context }) => context?.targetNodeRid === node.meshRid));
        assert.equal(node.facts.listeners.length, 1, 'one port for everything');
      }
    },
  },
  {
    ids: ['MESH-001', 'NODE-001', 'CS-012'],
    title: 'meshes of one host never mix, and nothing is passed on',
    run: async (stage) => {
      const host = await stage.start('host', [
        { role: 'node', mesh: 'one', rid: 'host' },
        { role: 'node', mesh: 'two', rid: 'host' },
      ]);
      const endpointOf = (name: string) => host.facts.listeners.find((row) => row.name === name)?.endpoint ?? '';
      const one = await stage.start('one', [{ role: 'node', mesh: 'one', rid: 'x', connect: [endpointOf('one')] }]);
      const two = await stage.start('two', [{ role: 'node', mesh: 'two', rid: 'y', connect: [endpointOf('two')] }]);
      await Promise.all([one.ask('peers.ready', 1, 'one'), two.ask('peers.ready', 1, 'two')]);
      await one.reply({ to: { mesh: 'one', rid: 'host' } });
      await two.reply({ to: { mesh: 'two', rid: 'host' } });
      const [first, second] = await host.seen(2, 'begun').then((all) => all.filter(({ what }) => what === 'begun'));
      assert.deepEqual([first?.context?.meshName, second?.context?.meshName], ['one', 'two']);
      await one.refusal({ to: { mesh: 'one', rid: 'y' } }, 'NotFound');
      await one.refusal({ to: { mesh: 'two', rid: 'host' } }, 'NotFound');
      await host.refusal({ to: { mesh: 'one', rid: 'y' } }, 'NotFound');
    },
  },
  {
    ids: ['MESH-002', 'NODE-001', 'CALL-005', 'C01'],
    title: 'who is no member is NotFound at once; a member that is not ready is Unavailable after the send timeout',
    run: async (stage) => {
      const gone = await stage.node('gone');
      const node = await stage.start('node', [
        nodePlan(stage, 'node', [gone], {
          sendTimeoutMs: 2_000,
          connect: [gone.meshEndpoint, ['expected', 'tcp://127.0.0.1:1']],
        }),
      ]);
      await node.ask('peers.ready', 1);
      const unknown = await node.refusal({ to: { rid: 'nobody' } }, 'NotFound');
      const self = await node.refusal({ to: { rid: 'node' } }, 'NotFound');
      for (const { ms, submitted } of [unknown, self]) assert.ok(ms < 1_900 && submitted === false);
      await node.refusal({ to: { mesh: 'no mesh', rid: 'gone' } }, 'NotFound');
      await gone.process.kill();
      await node.peers((rows) => rows.every(({ state }) => state !== 'ready'), 'sees that it is gone');
      for (const rid of ['gone', 'expected']) {
        const late = await node.refusal({ to: { rid } }, 'Unavailable');
        assert.ok(late.ms >= 1_900 && late.ms < 20_000, `it took ${late.ms} ms`);
        assert.equal(late.submitted, false);
        await node.refusal({ to: { rid }, timeoutMs: 100 }, 'DeadlineExceeded');
      }
    },
  },
  {
    ids: ['MESH-002', 'NET-004', 'WIRE-001'],
    title: 'a wrong expected RID is not admitted, and says so',
    run: async (stage) => {
      const peer = await stage.node('peer');
      const node = await stage.node('node');
      assert.equal(await node.ask('peers.connect', peer.meshEndpoint, 'another'), undefined);
      await node.peers(([row]) => row?.state === 'rejected' && row.reason !== undefined, 'is rejected with a reason');
      await peer.peers((rows) => rows.length === 0, 'has no peer');
      const clash = await node.ask('peers.connect', peer.meshEndpoint, 'a third');
      assert.equal(clash?.kind, 'AlreadyExists');
      await node.ask('peers.disconnect', peer.meshEndpoint);
      assert.equal(await node.ask('peers.connect', peer.meshEndpoint, 'peer'), undefined);
      await node.ask('peers.ready', 1);
      await node.reply({ to: { rid: 'peer' } });
      for (const endpoint of ['nonsense', 'tcp://127.0.0.1:0', 'tcp://*:7000']) {
        assert.equal((await node.ask('peers.connect', endpoint))?.kind, 'InvalidOperation', endpoint);
      }
    },
  },
  {
    ids: ['MESH-003', 'LOC-060', 'CORE-010'],
    title: 'discovered nodes have one connection for each pair',
    over: { store: ['memory', 'redis'], security: securities },
    run: async (stage) => {
      const nodes = [await stage.node('a'), await stage.node('b'), await stage.node('c')];
      await Promise.all(nodes.map((node) => node.ask('peers.ready', 2)));
      for (const node of nodes) {
        await node.peers(
          (rows) => rows.length === 2 && rows.every(({ state }) => state === 'ready'),
          'has one row for each other node',
        );
        const { ends } = await node.ask('calls.burst', stage.toNodes, 100);
        assert.deepEqual(ends, { ok: 100 });
      }
    },
  },
  {
    ids: ['MESH-004', 'CHAN-002', 'HOSTREG-003'],
    title: 'a channel client calls and is no candidate; a node needs no server membership',
    run: async (stage) => {
      const bare = await stage.node('bare', [], { channels: [] });
      const server = await stage.node('server', [bare]);
      const client = await stage.node('client', [server, bare], { channels: [{}] });
      const { by } = await client.ask('calls.burst', stage.toNodes, 20);
      assert.deepEqual([...new Set(by)], ['server']);
      await server.refusal(stage.toNodes, 'NotFound'); // its own node is no candidate, and nobody else serves
      await client.reply({ to: { rid: 'bare' } });
      const rows = await client.ask('peers.list');
      assert.deepEqual(
        rows.map(({ routingId, channels }) => [routingId, channels.map(({ name, weight }) => `${name} ${weight}`)]),
        [
          ['server', [`${MESH_CHANNEL} 100`]],
          ['bare', []],
        ],
      );
      const noWeight = await client.ask('peers.setWeight', 5);
      assert.equal(noWeight?.kind, 'NotConfigured');
    },
  },
  {
    ids: ['MESH-005', 'CHAN-002', 'WRR-002'],
    title: 'a weight that changes reaches peers at once and disturbs no link and no work',
    over: { store: stores },
    run: async (stage) => {
      const a = await stage.node('a', [], { channels: [{ weight: 100 }] });
      const b = await stage.node('b', [a], { channels: [{ weight: 100 }] });
      const client = await stage.node('client', [a, b], { channels: [{}] });
      await client.ask('peers.ready', 2);
      const held = await client.begin({ to: { rid: a.meshRid }, payload: { act: 'hold' } });
      await a.seen(1, 'begun');
      const weightsOf = (expected: number) =>
        client.peers(
          (rows) => rows.find(({ routingId }) => routingId === a.meshRid)?.channels[0]?.weight === expected,
          `sees weight ${expected}`,
        );
      for (const [weight, share] of [
        [0, 0],
        [300, 75],
        [10_000, 99],
        [100, 50],
      ] as const) {
        assert.equal(await a.ask('peers.setWeight', weight), undefined);
        await weightsOf(weight);
        const { by } = await client.ask('calls.burst', stage.toNodes, 100);
        const count = by.filter((name) => name === 'a').length;
        assert.ok(Math.abs(count - share) <= 1, `weight ${weight} got ${count} of 100`);
      }
      for (const weight of [-1, 10_001, 1.5]) {
        assert.ok((await a.ask('peers.setWeight', weight))?.isConfigurationError, String(weight));
      }
      assert.equal(await a.ask('peers.weight'), 100);
      assert.equal(await a.ask('handlers.release'), 1);
      assert.ok((await held.end).ok, 'work goes on over the same link');
    },
  },
  {
    ids: ['MESH-006', 'FAIL-003', 'CHAN-002'],
    title: 'a node that dies leaves the candidates, and the others and their work are not touched',
    run: async (stage) => {
      const a = await stage.node('a');
      const b = await stage.node('b');
      const client = await stage.node('client', [a, b], { channels: [{}] });
      const held = await client.begin({ to: { rid: 'b' }, payload: { act: 'hold' } });
      await b.seen(1, 'begun');
      await a.process.kill();
      await client.peers((rows) => rows.filter(({ state }) => state === 'ready').length === 1, 'has lost one peer');
      const { ends, by } = await client.ask('calls.burst', stage.toNodes, 50);
      assert.deepEqual([ends, [...new Set(by)]], [{ ok: 50 }, ['b']]);
      await b.ask('handlers.release');
      assert.ok((await held.end).ok);
      assert.equal(await client.ask('running.state'), 'serving');
    },
  },
  {
    ids: ['NODE-001', 'DRAIN-004', 'HOST-007'],
    title: 'a draining node is asked all the same by a direct call, and answers ShuttingDown',
    run: async (stage) => {
      const server = await stage.node('server');
      const client = await stage.node('client', [server], { channels: [{}] });
      const held = await client.begin({ to: { rid: 'server' }, payload: { act: 'hold' } });
      await server.seen(1, 'begun');
      const ending = server.shutdown();
      await client.peers(([row]) => row?.draining === true, 'sees that it drains');
      const refused = await client.refusal({ to: { rid: 'server' } }, 'ShuttingDown');
      assert.equal(refused.submitted, true);
      await client.refusal(stage.toNodes, 'NotFound');
      assert.ok((await client.call({ to: { rid: 'server' }, verb: 'send' })).ok);
      await server.counted(MESH, 'send', ({ dropped }) => Object.values(dropped).reduce((a, b) => a + b, 0) === 1, 'drops the one-way'); // prettier-ignore
      await server.ask('handlers.release');
      assert.ok((await held.end).ok);
      const end = await ending;
      assert.ok(end.ok && end.result.outcome === 'stopped');
    },
  },
  {
    ids: ['MESH-002', 'CORE-010', 'C10', 'CALL-004'],
    title: 'a node that is restarted under its RID is found again, and waiting direct calls reach the new run',
    run: async (stage) => {
      const first = await stage.node('first', [], { rid: 'fixed' });
      const proxy = await stage.proxy(first.meshEndpoint); // the address that stays
      const client = await stage.start('client', [
        nodePlan(stage, 'client', [], { connect: [proxy.address], channels: [{}], sendTimeoutMs: 30_000 }),
      ]);
      await client.ask('peers.ready', 1);
      await first.process.kill();
      await client.peers(([row]) => row?.state !== 'ready', 'sees that it is gone');
      const waiting = await client.begin({ to: { rid: 'fixed' } });
      const second = await stage.node('second', [], { rid: 'fixed' });
      proxy.leadTo(second.meshEndpoint);
      const end = await waiting.end;
      assert.ok(end.ok, 'the call is answered');
      assert.equal(end.reply?.by, 'second');
      assert.equal((await second.counters(MESH, 'request')).accepted, 1);
    },
  },
  {
    ids: ['NODE-001', 'CORE-010', 'C02'],
    title: 'of two live nodes with one RID the one that came last is reached, and the other one says why',
    run: async (stage) => {
      const client = await stage.node('client', [], { channels: [{}] });
      const first = await stage.node('first', [client], { rid: 'twin' });
      assert.equal((await client.reply({ to: { rid: 'twin' } })).by, 'first');
      await stage.node('second', [client], { rid: 'twin' });
      await first.peers(([row]) => row?.state !== 'ready' && row?.reason !== undefined, 'says that it was replaced');
      assert.equal((await client.reply({ to: { rid: 'twin' } })).by, 'second');
    },
  },
];
