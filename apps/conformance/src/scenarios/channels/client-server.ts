/** CS: clients and servers. */
import assert from 'node:assert/strict';
import { CHANNEL } from '../../contracts.ts';
import { codecs, stores } from '../../matrix.ts';
import { firstServerAnswers } from '../../runner/first-server.ts';
import type { Scenario } from '../../scenario.ts';

const sum = (dropped: Readonly<Record<string, number>>): number => Object.values(dropped).reduce((a, b) => a + b, 0);

export const clientServer: readonly Scenario[] = [
  {
    ids: ['CS-001', 'CS-012'],
    title: 'several channels of one host have handlers, servers and calls of their own',
    run: async (stage) => {
      const server = await stage.start('server', [
        { role: 'server', channel: 'one' },
        { role: 'server', channel: 'two' },
      ]);
      const [one = '', two = ''] = server.facts.listeners.map(({ endpoint }) => endpoint);
      const client = await stage.start('client', [
        { role: 'client', channel: 'one', connect: [one] },
        { role: 'client', channel: 'two', connect: [two] },
      ]);
      await Promise.all(['one', 'two'].map((channel) => client.ask('servers.ready', 1, channel)));
      for (const channel of ['one', 'two', 'one']) await client.reply({ to: { channel } });
      const journal = (await server.seen(3, 'begun')).filter(({ what }) => what === 'begun');
      assert.deepEqual(
        journal.map(({ context }) => context?.channelName),
        ['one', 'two', 'one'],
      );
      assert.equal((await server.counters('one', 'request')).handled, 2);
      assert.equal((await server.counters('two', 'request')).handled, 1);
    },
  },
  {
    ids: ['CS-002', 'CS-004', 'LOC-060', 'LOC-061'],
    title: 'servers that come later are found and called, without a word about addresses',
    over: { store: ['memory', 'redis'] },
    run: async (stage) => {
      const client = await stage.start('client', [{ role: 'client' }]);
      const first = await stage.describe('first', [{ role: 'server' }]);
      await first.ask('host.describe'); // its process is there: what follows takes a small part of the wait
      await firstServerAnswers(client, stage.toServers, async () => assert.ok((await first.tryStart()).ok));
      assert.equal((await client.reply(stage.toServers)).by, 'first');
      await stage.server('second');
      await client.ask('servers.ready', 2);
      const { by } = await client.ask('calls.burst', stage.toServers, 10);
      assert.equal(by.filter((name) => name === 'second').length, 5);
      const rows = await client.ask('servers.list');
      assert.ok(rows.some(({ endpoint }) => endpoint === first.endpoint));
    },
  },
  {
    ids: ['CS-002'],
    title: 'a server that is named by hand and found as well is one candidate with one link',
    over: { store: ['memory', 'redis'] },
    run: async (stage) => {
      const both = await stage.server('both');
      const found = await stage.server('found');
      const client = await stage.start('client', [{ role: 'client', connect: [both.endpoint] }]);
      await client.ask('servers.ready', 2);
      await client.servers(
        (rows) => rows.length === 2 && rows.every(({ state }) => state === 'ready'),
        'has one row for each',
      );
      const { by } = await client.ask('calls.burst', stage.toServers, 40);
      assert.equal(by.filter((name) => name === found.name).length, 20);
    },
  },
  {
    ids: ['CS-003', 'CS-011', 'CHAN-003'],
    title: 'a weight that changes reaches clients; 0 takes nothing new, keeps its link and comes back',
    over: { store: stores },
    run: async (stage) => {
      const a = await stage.server('a');
      const b = await stage.server('b');
      const client = await stage.client([a, b]);
      const seesWeight = (weight: number) =>
        client.servers(
          (rows) => rows.some((row) => row.endpoint === a.endpoint && row.weight === weight && row.state === 'ready'),
          `sees weight ${weight}`,
        );
      const held = await client.begin({ ...stage.toServers, payload: { act: 'hold' } });
      for (const [weight, share] of [
        [0, 0],
        [300, 75],
        [100, 50],
      ] as const) {
        assert.equal(await a.ask('servers.setWeight', weight), undefined);
        await seesWeight(weight);
        const { by } = await client.ask('calls.burst', stage.toServers, 100);
        const count = by.filter((name) => name === 'a').length;
        assert.ok(Math.abs(count - share) <= 1, `weight ${weight} got ${count} of 100`);
      }
      for (const weight of [-1, 10_001, NaN]) {
        assert.ok((await a.ask('servers.setWeight', weight))?.isConfigurationError, String(weight));
      }
      await seesWeight(100);
      assert.equal((await a.ask('handlers.release')) + (await b.ask('handlers.release')), 1);
      assert.ok((await held.end).ok);
    },
  },
  {
    ids: ['CS-004', 'HOST-004', 'HOST-002'],
    title: 'a server is ready for nobody before its host serves',
    over: { store: stores },
    run: async (stage) => {
      const server = await stage.describe('server', [
        { role: 'server', port: 0 },
        { role: 'service', name: 'slow', holds: 'start' },
      ]);
      const starting = server.tryStart();
      await server.seen(1, 'begun'); // the service is at its start; the port is bound
      const { listeners } = await server.ask('running.facts');
      const client = await stage.start('client', [
        { role: 'client', connect: stage.isDiscovering ? [] : [listeners[0]?.endpoint ?? ''] },
      ]);
      await client.servers((rows) => rows.length === 1, 'knows the server');
      await client.refusal({ ...stage.toServers, timeoutMs: 400 }, 'NotFound');
      assert.equal((await client.ask('servers.list'))[0]?.state === 'ready', false);
      await server.ask('handlers.release');
      assert.ok((await starting).ok);
      await client.ask('servers.ready', 1);
      await client.reply(stage.toServers);
    },
  },
  {
    ids: ['CS-007', 'DISP-004'],
    title: 'whatever a handler does, each request has one answer and each one-way only a record',
    over: { codec: codecs },
    run: async (stage) => {
      const server = await stage.server('server');
      const client = await stage.client([server]);
      const acts = ['echo', 'throw', 'refuse', 'misconfigure'] as const;
      for (const act of acts) {
        const payload = { act, text: 'Rejected' };
        const { ends } = await client.ask('calls.burst', { ...stage.toServers, payload }, 20);
        assert.equal(
          Object.values(ends).reduce((a, b) => a + b, 0),
          20,
        );
        assert.equal(Object.keys(ends).length, 1);
        const sends = await client.ask('calls.burst', { ...stage.toServers, verb: 'send', payload }, 20);
        assert.deepEqual(sends.ends, { ok: 20 });
      }
      await server.counted(CHANNEL, 'send', ({ handled, failed }) => handled + failed === 80, 'has seen all sends');
      const row = await server.counters(CHANNEL, 'request');
      assert.equal(row.handled + row.failed, 80);
    },
  },
  {
    ids: ['CS-008', 'DRAIN-002', 'DRAIN-004', 'CHAN-003'],
    title: 'a draining server finishes what it accepted and takes nothing new; clients look elsewhere at once',
    over: { store: stores },
    run: async (stage) => {
      const leaving = await stage.server('leaving', { routingId: 'a' });
      const staying = await stage.server('staying', { routingId: 'b' });
      const client = await stage.client([leaving, staying]);
      const held = client.ask('calls.burst', { ...stage.toServers, payload: { act: 'hold' } }, 10);
      await Promise.all([leaving.seen(5, 'begun'), staying.seen(5, 'begun')]);
      const ending = leaving.shutdown();
      await client.servers((rows) => rows.some(({ draining }) => draining), 'sees that it drains');
      const { by } = await client.ask('calls.burst', stage.toServers, 30);
      assert.deepEqual([...new Set(by)], ['staying']);
      assert.equal(await leaving.ask('running.state'), 'draining');
      await Promise.all([leaving.ask('handlers.release'), staying.ask('handlers.release')]);
      assert.deepEqual((await held).ends, { ok: 10 });
      const end = await ending;
      assert.ok(end.ok);
      assert.deepEqual(end.result, { outcome: 'stopped', reason: 'none' });
      await client.servers((rows) => rows.filter(({ state }) => state === 'ready').length === 1, 'has one server left');
    },
  },
  {
    ids: ['CS-008', 'DRAIN-004', 'CALL-004'],
    title: 'requests that cross the drain all have an answer: a reply or Rejected',
    run: async (stage) => {
      const server = await stage.server('server');
      const client = await stage.client([server]);
      const flood = client.ask('calls.burst', stage.toServers, 2_000);
      await server.counted(CHANNEL, 'request', ({ accepted }) => accepted > 0, 'the flood has come');
      const end = await server.shutdown();
      assert.ok(end.ok && end.result.outcome === 'stopped');
      const { ends, firstError } = await flood;
      const known = (ends['ok'] ?? 0) + (ends['Rejected'] ?? 0) + (ends['NotFound'] ?? 0) + (ends['Unavailable'] ?? 0);
      assert.equal(known, 2_000, `${JSON.stringify(ends)} ${firstError?.message ?? ''}`);
      const row = await server.counters(CHANNEL, 'request');
      assert.equal(row.handled, ends['ok'], 'what was handled was answered');
      assert.equal(row.accepted, row.handled + sum(row.dropped));
    },
  },
  {
    ids: ['CS-008', 'WRR-001'],
    title: 'weight 0 first, then the shutdown: no call fails while a server leaves',
    run: async (stage) => {
      const leaving = await stage.server('leaving');
      const staying = await stage.server('staying');
      const client = await stage.client([leaving, staying]);
      const load = client.ask('calls.burst', { ...stage.toServers, payload: { act: 'spin', text: '1' } }, 400);
      await leaving.counted(CHANNEL, 'request', ({ accepted }) => accepted > 0, 'has calls');
      await leaving.ask('servers.setWeight', 0);
      await client.servers((rows) => rows.some(({ weight }) => weight === 0), 'sees weight 0');
      // All were sent at once, by equal weights.
      const isHalf = ({ handled }: { readonly handled: number }): boolean => handled === 200;
      await leaving.counted(CHANNEL, 'request', isHalf, 'has handled its half');
      const end = await leaving.shutdown();
      assert.ok(end.ok && end.result.outcome === 'stopped');
      assert.deepEqual((await load).ends, { ok: 400 });
    },
  },
  {
    ids: ['CS-009', 'CS-013', 'C10'],
    title: 'a restarted server under its RID replaces its former run; what that has accepted is still answered',
    over: { store: stores },
    run: async (stage) => {
      const first = await stage.server('first', { routingId: 'fixed' });
      const proxy = await stage.proxy(first.endpoint); // the address that stays
      const client = await stage.dialing([proxy.address]);
      await client.ask('servers.ready', 1);
      const held = await client.begin({ ...stage.toServers, payload: { act: 'hold' } });
      await first.seen(1, 'begun');
      let second;
      let address;
      if (stage.isDiscovering) {
        second = await stage.server('second', { routingId: 'fixed' });
        address = second.endpoint;
      } else {
        const ending = first.shutdown();
        await client.servers(([row]) => row?.draining === true, 'sees that it drains');
        await first.ask('handlers.release');
        assert.ok((await held.end).ok);
        assert.ok((await ending).ok);
        second = await stage.server('second', { routingId: 'fixed' });
        ({ address } = proxy);
        proxy.leadTo(second.endpoint);
      }
      await client.servers(
        (rows) => rows.some((row) => row.endpoint === address && row.state === 'ready' && !row.draining),
        'the new run is ready',
      );
      const { by } = await client.ask('calls.burst', stage.toServers, 20);
      assert.deepEqual([...new Set(by)], ['second']);
      if (stage.isDiscovering) {
        await first.ask('handlers.release');
        const end = await held.end;
        assert.ok(end.ok && end.reply?.by === 'first', 'the former run has answered what it had');
        assert.equal((await client.ask('servers.list')).filter(({ state }) => state === 'ready').length, 1);
      }
    },
  },
  {
    ids: ['CS-013', 'NET-003'],
    title: 'of two live servers with one RID the one verified last is the target',
    over: { store: ['redis', 'memory'] },
    run: async (stage) => {
      const first = await stage.server('first', { routingId: 'twin' });
      const client = await stage.client([first]);
      assert.equal((await client.reply(stage.toServers)).by, 'first');
      await stage.server('second', { routingId: 'twin' });
      await client.servers(
        (rows) => rows.length === 1 && rows[0]?.state === 'ready' && rows[0].endpoint !== first.endpoint,
        'has the second one',
      );
      const { by } = await client.ask('calls.burst', stage.toServers, 10);
      assert.deepEqual([...new Set(by)], ['second']);
    },
  },
  {
    ids: ['CS-003'],
    title: 'the size limit of a server: the largest passes, 0 is no limit, and one byte more leaves nothing behind',
    run: async (stage) => {
      const limited = await stage.server('limited', { maxMessageSize: 50_000 });
      const free = await stage.server('free', { maxMessageSize: 0 });
      const toLimited = await stage.client([limited]);
      const toFree = await stage.client([free]);
      const base = JSON.stringify({ mark: 'm', text: '' }).length;
      await toLimited.reply({ ...stage.toServers, payload: { mark: 'm', text: 'x'.repeat(50_000 - base) } });
      const over = { ...stage.toServers, payload: { mark: 'm', text: 'x'.repeat(50_001 - base) } };
      assert.equal((await toLimited.refusal(over, 'InvalidOperation')).submitted, false);
      await toLimited.refusal({ ...over, verb: 'send' }, 'InvalidOperation');
      await toLimited.reply(stage.toServers);
      assert.equal((await limited.counters(CHANNEL, 'request')).accepted, 2);
      const text = 'x'.repeat(20_000_000);
      assert.equal((await toFree.reply({ ...stage.toServers, payload: { text } })).text.length, text.length);
    },
  },
];
