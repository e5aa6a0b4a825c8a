/** CORE: order, windows, and what happens when a link cannot take more. */
import assert from 'node:assert/strict';
import { CHANNEL, MESH } from '../../contracts.ts';
import { codecs, securities } from '../../matrix.ts';
import type { Scenario } from '../../scenario.ts';

export const flow: readonly Scenario[] = [
  {
    ids: ['CORE-001', 'CORE-002', 'C04'],
    title: '3,000 messages of one turn, small and large, are handled in the order of their submits',
    over: { security: securities },
    run: async (stage) => {
      const server = await stage.server('server', { concurrency: 1 });
      const client = await stage.client([server]);
      const marks = await client.probe('links.sendMixed', CHANNEL, 3_000);
      const journal = await server.seen(3_000, 'begun');
      assert.deepEqual(
        journal.filter(({ what }) => what === 'begun').map(({ mark }) => mark),
        marks,
      );
    },
  },
  {
    ids: ['CORE-001', 'CORE-012', 'CS-003'],
    title: 'payloads around every size at which the transport changes its way pass unchanged',
    over: { security: securities, codec: codecs },
    needsPeerOnly: true,
    run: async (stage) => {
      const client = await stage.peerClient();
      for (const size of [0, 1, 127, 128, 32_700, 32_768, 65_535, 65_536, 1_048_576, 4_200_000]) {
        const text = 'x'.repeat(size);
        const reply = await client.reply({ ...stage.toServers, payload: { text } });
        assert.ok(reply.text === text, `a text of ${size} bytes came back as it was`);
      }
    },
  },
  {
    ids: ['CORE-004', 'C05', 'JOBQ-005'],
    title: 'outgoing bytes stay bounded while the receiver stands still; what was accepted arrives when it goes on',
    over: { security: securities },
    isAlone: true,
    run: async (stage) => {
      const options = { inboundDispatch: { coreHwmProfile: 'compact' } } as const;
      const server = await stage.server('server', {}, { options });
      await server.ask('handlers.quieten');
      const client = await stage.client([server], { sendTimeoutMs: 1_000 }, { options });
      await client.reply(stage.toServers);
      const before = await client.ask('process.memory');
      server.process.signal('SIGSTOP');
      let accepted = 0;
      try {
        for (let round = 0; round < 3; round++) {
          const plan = { ...stage.toServers, verb: 'send', payload: { text: 'x'.repeat(10_000) } } as const;
          const { ends } = await client.ask('calls.burst', plan, 2_000);
          accepted += ends['ok'] ?? 0;
          assert.ok((ends['DeadlineExceeded'] ?? 0) > 1_900, JSON.stringify(ends));
        }
        assert.ok(accepted * 10_000 <= 400_000, `${accepted} messages of 10,000 bytes fit a window of 256 KiB`);
        const { rssBytes } = await client.ask('process.memory');
        assert.ok(rssBytes - before.rssBytes < 150_000_000, `memory has grown by ${rssBytes - before.rssBytes} bytes`);
      } finally {
        server.process.signal('SIGCONT');
      }
      await server.counted(CHANNEL, 'send', ({ handled }) => handled === accepted, 'handles what was accepted');
      await client.reply(stage.toServers);
      assert.equal((await server.counters(CHANNEL, 'send')).accepted, accepted);
    },
  },
  {
    ids: ['CORE-008', 'FAIL-003', 'MESH-006'],
    title: 'one peer’s full window delays no other peer',
    isSlow: true,
    run: async (stage) => {
      const slow = await stage.node('slow');
      const quick = await stage.node('quick');
      // Below what liveness takes.
      const caller = await stage.node('caller', [slow, quick], { channels: [{}], sendTimeoutMs: 8_000 });
      await caller.reply({ to: { rid: 'slow' } });
      slow.process.signal('SIGSTOP');
      try {
        const plan = { to: { rid: 'slow' }, verb: 'send', payload: { text: 'x'.repeat(100_000) } } as const;
        let isFull = true;
        const full = caller.ask('calls.burst', plan, 200).finally(() => (isFull = false));
        const { ends } = await caller.ask('calls.burst', { to: { rid: 'quick' } }, 500);
        assert.deepEqual(ends, { ok: 500 });
        await caller.reply({ to: { rid: 'quick' } });
        assert.ok(isFull, 'calls of the other peer have not waited for the window');
        assert.ok(((await full).ends['DeadlineExceeded'] ?? 0) > 0, 'sends to the slow one have waited in vain');
      } finally {
        slow.process.signal('SIGCONT');
      }
      await caller.reply({ to: { rid: 'slow' } });
    },
  },
  {
    ids: ['CORE-008', 'CALL-004', 'C09'],
    title: 'a dead peer fails every waiting send and request once, as Unavailable',
    run: async (stage) => {
      const server = await stage.node('server', [], { concurrency: 1_000 });
      const other = await stage.node('other');
      const caller = await stage.node('caller', [server, other], { channels: [{}], sendTimeoutMs: 20_000 });
      const requests = caller.ask('calls.burst', { to: { rid: 'server' }, payload: { act: 'hold' } }, 100);
      await server.seen(100, 'begun');
      server.process.signal('SIGSTOP');
      const text = 'x'.repeat(200_000);
      const sends = caller.ask('calls.burst', { to: { rid: 'server' }, verb: 'send', payload: { text } }, 100);
      await caller.reply({ to: { rid: 'other' } }); // the sends are under way
      await server.process.kill();
      assert.deepEqual((await requests).ends, { Unavailable: 100 });
      const { ends } = await sends;
      assert.equal((ends['ok'] ?? 0) + (ends['Unavailable'] ?? 0), 100, JSON.stringify(ends));
      assert.ok((ends['Unavailable'] ?? 0) > 0, JSON.stringify(ends));
      await caller.reply({ to: { rid: 'other' } });
    },
  },
  {
    ids: ['CORE-014', 'CS-009', 'C10', 'CALL-004'],
    title: 'nothing submitted to one run of a server reaches the next one at the same address',
    run: async (stage) => {
      const first = await stage.server('first', { concurrency: 1 });
      const proxy = await stage.proxy(first.endpoint);
      const client = await stage.dialing([proxy.address]);
      await client.ask('servers.ready', 1);
      first.process.signal('SIGSTOP');
      const requests = client.ask('calls.burst', { ...stage.toServers, payload: { mark: 'stale' } }, 40);
      const sends = client.ask(
        'calls.burst',
        { ...stage.toServers, verb: 'send', payload: { mark: 'stale send' } },
        40,
      );
      await client.ask('servers.list'); // both bursts have been submitted
      await first.process.kill();
      assert.deepEqual((await requests).ends, { Unavailable: 40 });
      await sends;
      const second = await stage.server('second');
      proxy.leadTo(second.endpoint);
      await client.ask('servers.ready', 1);
      const reply = await client.reply({ ...stage.toServers, payload: { mark: 'fresh' } });
      assert.equal(reply.by, 'second');
      const journal = await second.ask('handlers.journal');
      assert.deepEqual([...new Set(journal.map(({ mark }) => mark))], ['fresh']);
    },
  },
  {
    ids: ['CORE-015', 'CS-006'],
    title: 'a reply that comes too late ends nothing else, and the link stays',
    run: async (stage) => {
      const server = await stage.server('server');
      const proxy = await stage.proxy(server.endpoint);
      const client = await stage.dialing([proxy.address]);
      await client.ask('servers.ready', 1);
      proxy.drip(1, 60_000, 'toClient'); // the reply is under way until the proxy is restored
      const late = await client.begin({ ...stage.toServers, timeoutMs: 1_000 });
      const end = await late.end;
      assert.equal(end.ok || end.error.kind, 'DeadlineExceeded');
      proxy.restore();
      const { ends, mixedUp } = await client.ask('calls.burst', stage.toServers, 50);
      assert.deepEqual([ends, mixedUp], [{ ok: 50 }, 0]);
      const [row] = await client.ask('servers.list');
      assert.equal(row?.state, 'ready');
    },
  },
  {
    ids: ['WIRE-004'],
    title: 'more names than a link interns are carried all the same',
    run: async (stage) => {
      const host = await stage.start('host', []);
      assert.deepEqual(await host.probe('links.manyNames', 4_300), { answered: 4_300, wrong: 0 });
    },
  },
  {
    ids: ['CORE-007'],
    title: 'links share a budget that is smaller than their windows, and all of them carry messages',
    run: async (stage) => {
      const options = { inboundDispatch: { coreHwmBudgetBytes: 65_536 } };
      const server = await stage.node('server', [], {}, { options });
      await server.ask('handlers.quieten');
      const callers = await Promise.all(
        ['a', 'b', 'c', 'd', 'e'].map((name) => stage.node(name, [server], { channels: [{}], sendTimeoutMs: 20_000 })),
      );
      const text = 'x'.repeat(40_000);
      const ends = await Promise.all(
        callers.map((caller) => caller.ask('calls.burst', { to: { rid: 'server' }, payload: { text } }, 30)),
      );
      for (const end of ends) assert.deepEqual(end.ends, { ok: 30 }, end.firstError?.message);
      assert.equal((await server.counters(MESH, 'request')).handled, 150);
    },
  },
];
