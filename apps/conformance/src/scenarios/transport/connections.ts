/** CORE, WIRE and LIVE: how links come about, and how they end. */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:net';
import { openStranger, strangerInputs } from '@zlink/testing';
import { CHANNEL, FEED } from '../../contracts.ts';
import { securities, stores } from '../../matrix.ts';
import { eventually } from '../../runner/eventually.ts';
import { firstServerAnswers } from '../../runner/first-server.ts';
import { nodePlan } from '../../runner/stage-plans.ts';
import type { Scenario } from '../../scenario.ts';

/** Somebody who accepts connections and never says a word. */
async function openMute(): Promise<{ readonly endpoint: string; readonly close: () => Promise<void> }> {
  const sockets = new Set<{ destroy: () => void }>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  return {
    endpoint: `tcp://127.0.0.1:${address.port}`,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export const connections: readonly Scenario[] = [
  {
    ids: ['CORE-009', 'CHAN-007', 'CHAN-003'],
    title: 'an endpoint is dialled until somebody is there, and again whenever the connection is lost',
    over: { security: securities },
    run: async (stage) => {
      const first = await stage.server('first');
      const proxy = await stage.proxy(first.endpoint);
      proxy.refuse();
      const client = await stage.dialing([proxy.address]);
      await client.servers(([row]) => row?.state !== 'ready' && row?.reason !== undefined, 'says why it is not ready');
      await firstServerAnswers(client, stage.toServers, async () => proxy.restore());
      await client.reply(stage.toServers);
      for (let round = 0; round < 3; round++) {
        const { accepted } = proxy;
        proxy.cut();
        await eventually(async () => proxy.accepted > accepted, 'it is dialled again');
        await client.ask('servers.ready', 1);
        await client.reply(stage.toServers);
      }
      assert.ok(proxy.accepted >= 3, `${proxy.accepted} connections`);
    },
  },
  {
    ids: ['CORE-009', 'MESH-002'],
    title: 'a withdrawn endpoint is dialled no more, and can be named again',
    run: async (stage) => {
      const peer = await stage.node('peer');
      const proxy = await stage.proxy(peer.meshEndpoint);
      const node = await stage.start('node', [nodePlan(stage, 'node', [], { connect: [proxy.address] })]);
      await node.ask('peers.ready', 1);
      await node.ask('peers.disconnect', proxy.address);
      await node.peers((rows) => rows.length === 0, 'has no peer');
      const { accepted } = proxy;
      await node.refusal({ to: { rid: 'peer' } }, 'NotFound');
      await peer.peers((rows) => rows.length === 0, 'has no peer either');
      assert.equal(proxy.accepted, accepted);
      assert.equal(await node.ask('peers.connect', proxy.address), undefined);
      await node.ask('peers.ready', 1);
      await node.reply({ to: { rid: 'peer' } });
    },
  },
  {
    ids: ['CORE-009', 'SEC-002'],
    title: 'somebody who never answers a hello is given up after 5 s, and others are served meanwhile',
    isSlow: true,
    run: async (stage) => {
      const mute = await openMute();
      stage.atEnd(() => mute.close());
      const server = await stage.server('server');
      const client = await stage.start('client', [{ role: 'client', connect: [mute.endpoint, server.endpoint] }]);
      await client.ask('servers.ready', 1);
      await client.reply(stage.toServers);
      await client.servers(
        (rows) => rows.find(({ endpoint }) => endpoint === mute.endpoint)?.reason !== undefined,
        'says why the mute one is not ready',
        20_000, // libzmq itself gives it up after 30 s
      );
      await client.reply(stage.toServers);
    },
  },
  {
    ids: ['CORE-010', 'CS-002'],
    title: 'a server under two addresses is one candidate with one link',
    run: async (stage) => {
      const twice = await stage.server('twice');
      const once = await stage.server('once');
      const proxy = await stage.proxy(twice.endpoint);
      const client = await stage.dialing([twice, proxy.address, once]);
      await client.ask('servers.ready', 2);
      await client.servers(
        (rows) =>
          rows.filter(({ state }) => state === 'ready').length === 2 &&
          rows.every((row) => row.routingId !== undefined || row.state === 'closed'),
        'one link of three is not needed',
      );
      const { by } = await client.ask('calls.burst', stage.toServers, 100);
      assert.equal(by.filter((name) => name === 'twice').length, 50);
    },
  },
  {
    ids: ['CORE-010', 'MESH-002'],
    title: 'of two nodes that dial each other one connection stays, and no accepted call is lost',
    run: async (stage) => {
      const a = await stage.node('a');
      const b = await stage.node('b');
      assert.equal(await a.ask('peers.connect', b.meshEndpoint), undefined);
      assert.equal(await b.ask('peers.connect', a.meshEndpoint), undefined);
      await Promise.all([a.ask('peers.ready', 1), b.ask('peers.ready', 1)]);
      const ends = await Promise.all([
        a.ask('calls.burst', { to: { rid: 'b' } }, 200),
        b.ask('calls.burst', { to: { rid: 'a' } }, 200),
      ]);
      for (const { ends: kinds } of ends) assert.deepEqual(kinds, { ok: 200 });
      for (const node of [a, b]) {
        await node.peers((rows) => rows.length === 1 && rows[0]?.state === 'ready', 'shows one peer');
      }
    },
  },
  {
    ids: ['CORE-011', 'MSG-006'],
    title: 'what was accepted leaves before a host ends',
    over: { store: stores, security: securities },
    run: async (stage) => {
      const server = await stage.server('server');
      const client = await stage.client([server]);
      const end = await client.ask(
        'calls.burst',
        { ...stage.toServers, verb: 'send', payload: { text: 'x'.repeat(500) } },
        1_000,
      );
      assert.deepEqual(end.ends, { ok: 1_000 });
      const { ok } = await client.shutdown();
      assert.ok(ok);
      await server.counted(CHANNEL, 'send', ({ handled }) => handled === 1_000, 'handles all of it');
    },
  },
  {
    ids: ['CORE-011', 'MESH-006', 'DRAIN-007'],
    title: 'an orderly end is seen at once, not after liveness',
    run: async (stage) => {
      const server = await stage.node('server');
      const client = await stage.node('client', [server]);
      const { ok } = await server.shutdown();
      assert.ok(ok);
      await client.peers((rows) => rows.every(({ state }) => state !== 'ready'), 'sees it at once', 9_000); // liveness takes longer
    },
  },
  {
    ids: ['WIRE-001', 'NET-004', 'MESH-001', 'CS-004'],
    title: 'a hello of another channel, mesh, kind or RID is rejected, with the reason on both sides’ views',
    run: async (stage) => {
      const host = await stage.start('host', [{ role: 'server' }, nodePlan(stage, 'host'), { role: 'publisher' }]);
      const wrong = await stage.start('wrong', [
        { role: 'client', channel: 'other', connect: [host.endpoint] },
        { role: 'client', channel: 'third', connect: [host.meshEndpoint] },
        { role: 'node', mesh: 'other mesh', rid: 'wrong', connect: [host.meshEndpoint] },
        nodePlan(stage, 'wrong', [], { connect: [['somebody else', host.meshEndpoint]] }),
      ]);
      const rejected = (rows: readonly { state: string; reason?: string }[]): boolean =>
        rows.length === 1 && rows[0]?.state !== 'ready' && rows[0]?.reason !== undefined;
      await eventually(async () => rejected(await wrong.ask('servers.list', 'other')), 'another channel is rejected');
      await eventually(async () => rejected(await wrong.ask('servers.list', 'third')), 'a mesh is no channel');
      await eventually(async () => rejected(await wrong.ask('peers.list', 'other mesh')), 'another mesh is rejected');
      await eventually(async () => rejected(await wrong.ask('peers.list')), 'another RID is rejected');
      const [row] = await wrong.ask('peers.list');
      assert.match(row?.reason ?? '', /rid|somebody else|identity|expected/i);
      await host.peers((rows) => rows.length === 0, 'has no peer');
    },
  },
  {
    ids: ['WIRE-003', 'SEC-002', 'C06'],
    title: 'strangers with arbitrary bytes harm nobody: they are closed, and calls go on',
    over: { security: securities },
    run: async (stage) => {
      const host = await stage.start('host', [{ role: 'server' }, nodePlan(stage, 'host'), { role: 'publisher' }]);
      const caller = await stage.start('caller', [
        { role: 'client', connect: [host.endpoint] },
        nodePlan(stage, 'caller', [host], { channels: [{}] }),
        { role: 'subscriber', connect: [host.feedEndpoint] },
      ]);
      await Promise.all([caller.ask('peers.ready', 1), caller.ask('servers.ready', 1)]);
      const strangers = await Promise.all(
        [host.endpoint, host.meshEndpoint, host.feedEndpoint].flatMap((endpoint) =>
          strangerInputs.map(({ bytes }) => openStranger(endpoint, bytes)),
        ),
      );
      for (let round = 0; round < 5; round++) {
        await caller.reply({ to: { channel: CHANNEL } });
        await caller.reply({ to: { rid: 'host' } });
      }
      await host.ask('feeds.subscribersReady', 'conformance-feed', 1);
      assert.ok((await host.ask('feeds.publish', 'conformance-feed', { payload: { mark: 'heard' } })).ok);
      await eventually(
        async () => (await caller.ask('handlers.journal')).some(({ mark }) => mark === 'heard'),
        'events are heard',
      );
      await Promise.all(strangers.map((stranger) => stranger.close()));
      assert.equal((await host.ask('peers.list')).length, 1);
      assert.equal(await host.ask('running.state'), 'serving');
    },
  },
  {
    ids: ['LIVE-001', 'C03', 'MESH-006'],
    title:
      'a peer that is half open is found dead by its silence after 15 s, in spite of traffic, and no other is touched',
    isSlow: true,
    run: async (stage) => {
      const deaf = await stage.node('deaf');
      const sound = await stage.node('sound');
      const proxy = await stage.proxy(deaf.meshEndpoint);
      const caller = await stage.start('caller', [
        nodePlan(stage, 'caller', [], { connect: [proxy.address, sound.meshEndpoint] }),
      ]);
      await caller.ask('peers.ready', 2);
      await caller.reply({ to: { rid: 'deaf' } }); // it was heard a moment ago
      const startedAtMs = performance.now();
      proxy.blackhole();
      const held = await caller.begin({ to: { rid: 'deaf' }, timeoutMs: 60_000 });
      const end = await held.end;
      const ms = performance.now() - startedAtMs;
      assert.ok(!end.ok);
      assert.deepEqual([end.error.kind, end.error.submitted], ['Unavailable', true]);
      assert.ok(ms > 9_000 && ms < 50_000, `it took ${Math.round(ms)} ms`);
      await caller.reply({ to: { rid: 'sound' } });
      const rows = await caller.ask('peers.list');
      assert.deepEqual(rows.filter(({ state }) => state === 'ready').map(({ routingId }) => routingId), ['sound']); // prettier-ignore
      proxy.restore();
      await caller.ask('peers.ready', 2);
      await caller.reply({ to: { rid: 'deaf' } });
    },
  },
  {
    ids: ['LIVE-002', 'C16', 'C15'],
    title: 'a host whose event loop is blocked is not taken for dead, nor does it take its peers for dead',
    isSlow: true,
    run: async (stage) => {
      const a = await stage.node('a');
      const b = await stage.node('b', [a]);
      const generationOf = async () => (await b.ask('peers.list')).map(({ endpoint, state }) => `${endpoint} ${state}`);
      const before = await generationOf();
      const asked = await b.begin({ to: { rid: 'a' }, payload: { act: 'hold' } });
      await a.seen(1, 'begun');
      await a.ask('process.block', 7_000); // longer than a probe interval
      assert.deepEqual(await generationOf(), before);
      assert.equal(await a.ask('handlers.release'), 1, 'the call of before goes on: the link is the same');
      assert.ok((await asked.end).ok);
      await a.reply({ to: { rid: 'b' } });
    },
  },
  {
    ids: ['LIVE-003', 'FAN-005', 'MON-006', 'MON-004'],
    title:
      'a publisher that is silent for 15 s is not ready, whoever hears no other is degraded, and the other one is not touched',
    isSlow: true,
    run: async (stage) => {
      const silent = await stage.publisher('silent');
      const sound = await stage.publisher('sound');
      const subscriber = await stage.subscriber('subscriber', [silent, sound]);
      const lonely = await stage.subscriber('lonely', [silent]);
      const stateOf = async (endpoint: string) =>
        (await subscriber.ask('feeds.publishers')).find((row) => row.endpoint === endpoint)?.state;
      await eventually(async () => (await stateOf(silent.feedEndpoint)) === 'ready', 'a beacon makes it ready');
      await eventually(async () => (await stateOf(sound.feedEndpoint)) === 'ready', 'both are ready');
      await lonely.shows(({ fanoutChannels: [feed] }) => feed?.state === 'ready', 'that its publisher is heard');
      const publishedAtMs = performance.now();
      assert.ok((await silent.ask('feeds.publish', FEED, { payload: { mark: 'last' } })).ok);
      await subscriber.seen(1, 'begun');
      silent.process.signal('SIGSTOP');
      try {
        await eventually(async () => (await stateOf(silent.feedEndpoint)) !== 'ready', 'silence is noticed', 60_000);
        const ms = performance.now() - publishedAtMs; // it was heard since then, whenever its beacons came
        assert.ok(ms > 14_900, `it took ${Math.round(ms)} ms`);
        assert.equal(await stateOf(sound.feedEndpoint), 'ready');
        const { fanoutChannels } = await subscriber.ask('observing.snapshot');
        assert.deepEqual(fanoutChannels.map(({ state, reasons }) => [state, ...reasons]), [['ready']]); // prettier-ignore
        const isReady = fanoutChannels.flatMap(({ publishers }) =>
          publishers.map(({ endpoint, state }) => [endpoint, state === 'ready'] as const),
        );
        assert.deepEqual(new Map(isReady), new Map([[silent.feedEndpoint, false], [sound.feedEndpoint, true]])); // prettier-ignore
        const shown = await lonely.shows(({ fanoutChannels: [feed] }) => feed?.state === 'degraded', 'what it lacks');
        assert.deepEqual(shown.fanoutChannels[0]?.reasons, ['no_ready_peer']);
        assert.notEqual(shown.fanoutChannels[0]?.publishers[0]?.state, 'ready');
        assert.equal(shown.host.state, 'serving');
      } finally {
        silent.process.signal('SIGCONT');
      }
      await eventually(async () => (await stateOf(silent.feedEndpoint)) === 'ready', 'it is heard again');
      await lonely.shows(({ fanoutChannels: [feed] }) => feed?.state === 'ready', 'that it is heard again');
      assert.deepEqual(
        (await subscriber.ask('handlers.journal')).flatMap(({ what, mark }) => (what === 'begun' ? [mark] : [])),
        ['last'],
        'beacons are shown to no handler',
      );
      assert.equal((await subscriber.counters(FEED, 'send')).accepted, 1);
    },
  },
];
