/** CALL: one result for each call, in time, and none after it. */
import assert from 'node:assert/strict';
import { CHANNEL } from '../../contracts.ts';
import { codecs, securities, stores } from '../../matrix.ts';
import { contentTypes } from '../../roles/codecs.ts';
import type { Scenario } from '../../scenario.ts';

export const calls: readonly Scenario[] = [
  {
    ids: ['MSG-001', 'MSG-006', 'CODEC-001'],
    title: 'a request is answered with the reply to itself, a send resolves with nothing and is handled',
    over: { store: stores, codec: codecs, security: securities },
    run: async (stage) => {
      const server = await stage.server('server');
      const client = await stage.client([server]);
      const reply = await client.reply({ ...stage.toServers, payload: { mark: 'm', text: 'grüße 👋' } });
      assert.deepEqual([reply.mark, reply.by, reply.text], ['m', 'server', 'grüße 👋']);
      const sent = await client.call({ ...stage.toServers, verb: 'send', payload: { mark: 'n', text: 'one-way' } });
      assert.ok(sent.ok && sent.reply === undefined, 'a send resolves with nothing');
      const journal = await server.seen(2, 'ended');
      const begun = journal.filter(({ what }) => what === 'begun');
      assert.deepEqual(
        begun.map(({ mark, text, context }) => [mark, text, context?.contentType, context?.kind]),
        [
          ['m', 'grüße 👋', contentTypes[stage.cell.codec], 'request'],
          ['n', 'one-way', contentTypes[stage.cell.codec], 'send'],
        ],
      );
    },
  },
  {
    ids: ['MSG-006', 'CALL-004', 'WIRE-005', 'CS-006'],
    title: '500 requests of one turn each end once, with their own replies',
    over: { codec: codecs, security: securities },
    needsPeerOnly: true,
    run: async (stage) => {
      const client = await stage.peerClient();
      const end = await client.ask('calls.burst', stage.toServers, 500);
      assert.deepEqual(end.ends, { ok: 500 }, end.firstError?.message);
      assert.equal(end.mixedUp, 0);
    },
  },
  {
    ids: ['CALL-001', 'CALL-002'],
    title: 'a call is submitted once, and not at all when its signal has aborted before',
    needsPeerOnly: true,
    run: async (stage) => {
      const client = await stage.peerClient();
      const { aborted, twice, once } = await client.ask('calls.misuse', stage.toServers);
      assert.ok(!aborted.ok && aborted.error.message === 'before submit', 'rejects with the reason of the signal');
      assert.ok(!twice.ok && twice.error.kind === 'InvalidOperation', 'the second submit is refused');
      assert.ok(once.ok, 'the first submit is answered');
      const admitted = await client.probe('calls.admitsAtOnce', CHANNEL);
      assert.equal(admitted, true, 'an admission that succeeds at once needs no turn of the event loop');
    },
  },
  {
    ids: ['CALL-002', 'DISP-001', 'C12'],
    title: 'an abort ends the waiting with its reason, reaches the handler, and its late reply changes nothing',
    run: async (stage) => {
      const server = await stage.server('server');
      const client = await stage.client([server]);
      const held = await client.begin({ ...stage.toServers, payload: { mark: 'held', act: 'hold' } });
      await server.seen(1, 'begun');
      await held.abort();
      const end = await held.end;
      assert.ok(!end.ok && end.error.name === 'AbortError', 'rejects with the reason of the signal');
      await server.seen(1, 'aborted');
      assert.equal((await client.reply({ ...stage.toServers, payload: { mark: 'next' } })).mark, 'next');
      await server.counted(
        CHANNEL,
        'request',
        ({ dropped, running }) => running === 0 && dropped['cancelled'] === 1,
        'counts it as cancelled',
      );
      assert.equal(await client.probe('calls.leavesNoListeners', CHANNEL), 0, 'no listener stays at a signal');
    },
  },
  {
    ids: ['CALL-003', 'WIRE-006'],
    title: 'the request timeout bounds the whole wait; what has run out before its handler starts is not handled',
    run: async (stage) => {
      const server = await stage.server('server', { concurrency: 1 });
      const client = await stage.client([server]);
      const held = await client.begin({ ...stage.toServers, payload: { mark: 'held', act: 'hold' } });
      await server.seen(1, 'begun');
      const late = await client.refusal(
        { ...stage.toServers, timeoutMs: 150, payload: { mark: 'late' } },
        'DeadlineExceeded',
      );
      assert.ok(late.ms >= 140 && late.ms < 20_000, `it took ${late.ms} ms`);
      assert.equal(late.submitted, true);
      // The server counts from its arrival there: once another one has run out behind it, the time of the first is over there, too.
      await server.counted(CHANNEL, 'request', ({ accepted }) => accepted === 2, 'has got it');
      await client.refusal({ ...stage.toServers, timeoutMs: 160 }, 'DeadlineExceeded');
      assert.equal(await server.ask('handlers.release'), 1);
      assert.ok((await held.end).ok);
      await client.reply({ ...stage.toServers, payload: { mark: 'after' } });
      const journal = await server.ask('handlers.journal');
      assert.ok(!journal.some(({ mark }) => mark === 'late'), 'its handler never started');
    },
  },
  {
    ids: ['CALL-003'],
    title: 'timeouts of host, client and call: the narrower one counts, and none is out of range',
    run: async (stage) => {
      const server = await stage.server('server');
      const ofHost = await stage.client([server], {}, { options: { requestTimeoutMs: 200 } });
      const ofClient = await stage.client([server], { requestTimeoutMs: 200 });
      const hold = { ...stage.toServers, payload: { act: 'hold' } } as const;
      for (const client of [ofHost, ofClient]) {
        const { ms } = await client.refusal(hold, 'DeadlineExceeded');
        assert.ok(ms >= 190 && ms < 20_000, `it took ${ms} ms`);
      }
      for (const timeoutMs of [0, -1, 1.5, 2_147_483_648])
        await ofHost.refusal({ ...hold, timeoutMs }, 'InvalidOperation');
      await ofHost.refusal({ ...hold, timeoutMs: 100 }, 'DeadlineExceeded');
    },
  },
  {
    ids: ['CALL-003'],
    title: '5,000 deadlines at once end in time and the host goes on',
    run: async (stage) => {
      const server = await stage.server('server', { concurrency: 10_000 });
      await server.ask('handlers.quieten');
      const client = await stage.client([server]);
      const plan = { ...stage.toServers, timeoutMs: 400, payload: { act: 'hold' } } as const;
      const { ends } = await client.ask('calls.burst', plan, 5_000);
      assert.deepEqual(ends, { DeadlineExceeded: 5_000 });
      await client.reply(stage.toServers);
    },
  },
  {
    ids: ['CALL-005', 'CHAN-001', 'CS-001', 'ERR-005'],
    title: 'each way to fail has its own kind: unknown, not configured, no handler, bad argument',
    run: async (stage) => {
      const server = await stage.start('server', [{ role: 'server' }, { role: 'server', channel: 'served only' }]);
      const client = await stage.client([server]);
      await client.refusal({ to: { channel: 'nowhere' } }, 'NotFound');
      await client.refusal({ to: { rid: 'x', mesh: 'nowhere' } }, 'NotFound');
      await server.refusal({ to: { channel: 'served only' } }, 'NotConfigured');
      const missing = await client.refusal({ ...stage.toServers, packet: 'missingAsk' }, 'NotFound');
      assert.equal(missing.submitted, true);
      const bad = await client.probe('calls.badArguments', CHANNEL);
      assert.deepEqual(bad, {
        emptyChannel: 'NotFound',
        emptyPacketName: 'InvalidOperation',
        noMessage: 'InvalidOperation',
        metadataWithNul: 'InvalidOperation',
        metadataTooLarge: 'InvalidOperation',
      });
    },
  },
  {
    ids: ['CALL-005', 'DRAIN-004'],
    title: 'a host takes no calls before its start, and none after its end',
    run: async (stage) => {
      const client = await stage.describe('client', [{ role: 'client', connect: ['tcp://127.0.0.1:1'] }]);
      await client.tryStart();
      await client.shutdown();
      await client.refusal(stage.toServers, 'ShuttingDown');
      const early = await stage.describeBeside(client, 'early', [{ role: 'client', connect: ['tcp://127.0.0.1:1'] }]);
      assert.equal((await early.tryStart()).ok, true);
      assert.equal(await early.probe('calls.callsBeforeStart', CHANNEL), 'InvalidOperation');
    },
  },
  {
    ids: ['CALL-006', 'HOSTREG-005', 'MSG-012'],
    title: 'the public surface offers no selection, no socket and no frame, and each call only what fits it',
    run: async (stage) => {
      const host = await stage.start('host', [
        { role: 'server' },
        { role: 'client' },
        { role: 'node', rid: 'n' },
        { role: 'publisher' },
      ]);
      const surface = await host.probe('calls.surfaceNames', CHANNEL);
      const all = Object.values(surface).flat();
      for (const name of all) assert.doesNotMatch(name, /^(select(Node|One|Many)|trySubmit|submitSync)$/);
      for (const name of all) assert.doesNotMatch(name, /socket|zmq|zeromq|dealer|router|frame|envelope|heartbeat/i);
      assert.deepEqual(surface['send'], ['flow', 'metadata', 'submit']);
      assert.deepEqual(
        surface['request']?.filter((name) => name !== 'yield'),
        ['flow', 'metadata', 'submit', 'timeoutMs'],
      );
      assert.deepEqual(surface['publish'], ['flow', 'submit']);
    },
  },
];
