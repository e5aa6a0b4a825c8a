/** ERR and DISP-004: how failures look, and what is kept from whom. */
import assert from 'node:assert/strict';
import { CHANNEL, MESH_CHANNEL } from '../../contracts.ts';
import type { LogFacts } from '../../roles/protocol.ts';
import { eventually } from '../../runner/eventually.ts';
import type { Scenario } from '../../scenario.ts';

const kinds = [
  'NotFound',
  'AlreadyExists',
  'TypeMismatch',
  'NotConfigured',
  'Rejected',
  'Unavailable',
  'CapacityExceeded',
  'DeadlineExceeded',
  'ShuttingDown',
  'ProtocolError',
  'InvalidOperation',
  'DataLost',
  'InternalFailure',
];

export const errors: readonly Scenario[] = [
  {
    ids: ['ERR-001', 'ERR-002'],
    title: 'thirteen kinds with fixed numbers, each with its code, and no hint about trying again',
    run: async (stage) => {
      const host = await stage.start('host', []);
      assert.deepEqual(
        await host.probe('surface.errorKinds'),
        Object.fromEntries(kinds.map((kind, number) => [kind, number])),
      );
      for (const { kind, code, isError } of await host.probe('surface.errorsOfAllKinds')) {
        assert.equal(code, `ZLINK_${kind.replace(/(?<!^)([A-Z])/g, '_$1').toUpperCase()}`);
        assert.ok(isError);
      }
      const bad = await host.call({ to: { channel: 'nowhere' } });
      assert.ok(!bad.ok);
      for (const key of bad.error.keys) assert.doesNotMatch(key, /retry/i);
    },
  },
  {
    ids: ['ERR-001', 'DISP-004'],
    title: 'every kind that a handler throws arrives as that kind',
    needsPeerOnly: true,
    run: async (stage) => {
      const client = await stage.peerClient();
      for (const kind of kinds) {
        const error = await client.refusal({ ...stage.toServers, payload: { act: 'refuse', text: kind } }, kind);
        assert.match(error.message, /as asked/);
        assert.equal(error.isZLinkError, true);
        assert.equal(error.submitted, true);
      }
    },
  },
  {
    ids: ['DISP-004', 'ERR-005', 'CS-007', 'C11'],
    title: 'what a handler throws otherwise is an InternalFailure without its text, and the process goes on',
    run: async (stage) => {
      const server = await stage.server('server');
      const client = await stage.client([server]);
      for (const act of ['throw', 'misconfigure', 'unfit', 'throwNothing'] as const) {
        const error = await client.refusal(
          { ...stage.toServers, payload: { act, text: 'the secret' } },
          'InternalFailure',
        );
        assert.doesNotMatch(error.message, /the secret/);
        assert.equal(error.problems, undefined);
        assert.ok((await client.call({ ...stage.toServers, verb: 'send', payload: { act, text: 'the secret' } })).ok);
      }
      await server.counted(CHANNEL, 'send', ({ failed, handled }) => failed + handled === 4, 'all sends are counted');
      assert.equal((await server.counters(CHANNEL, 'send')).failed, 3); // what is answered to a send is ignored
      await client.reply(stage.toServers);
      const unhandled = await server.ask('running.unhandled');
      assert.ok(
        unhandled.some((text) => text.includes('the secret')),
        'the host that serves is told all',
      );
    },
  },
  {
    ids: ['DISP-004'],
    title: 'a host that exposes messages of errors shows their text to callers',
    run: async (stage) => {
      const server = await stage.server('server', {}, { options: { exposeErrorMessages: true } });
      const client = await stage.client([server]);
      const shown = await client.refusal(
        { ...stage.toServers, payload: { act: 'throw', text: 'no money' } },
        'InternalFailure',
      );
      assert.match(shown.message, /no money/);
      const hidden = await client.refusal(
        { ...stage.toServers, payload: { act: 'misconfigure', text: 'no key' } },
        'InternalFailure',
      );
      assert.doesNotMatch(hidden.message, /no key/);
    },
  },
  {
    ids: ['DISP-004'],
    title: 'a one-way message without handler is dropped and recorded, never answered',
    run: async (stage) => {
      const server = await stage.server('server');
      const client = await stage.client([server]);
      assert.ok((await client.call({ ...stage.toServers, verb: 'send', packet: 'missingNote' })).ok);
      await server.counted(CHANNEL, 'send', ({ dropped }) => dropped['no_handler'] === 1, 'counts it as dropped');
      await server.logged('zlink.dispatch_error');
    },
  },
  {
    ids: ['ERR-003', 'JOBQ-006'],
    title: 'a full mailbox of another node is Unavailable, and neither of its limits is changed by a refusal',
    run: async (stage) => {
      const server = await stage.node('server', [], { mailbox: { messages: 2 }, concurrency: 1 });
      const client = await stage.node('client', [server], { channels: [{}] });
      const hold = { to: { rid: 'server' }, payload: { act: 'hold' } } as const;
      const held = [await client.begin(hold), await client.begin(hold)];
      await server.seen(1, 'begun');
      await server.counted('conformance-mesh', 'request', ({ queued }) => queued === 1, 'one waits');
      const full = await client.refusal({ to: { rid: 'server' } }, 'Unavailable');
      assert.equal(full.submitted, true);
      assert.ok((await client.call({ to: { rid: 'server' }, verb: 'send' })).ok);
      await server.counted(
        'conformance-mesh',
        'send',
        ({ dropped }) => dropped['backpressure'] === 1,
        'drops the one-way',
      );
      assert.equal(await server.ask('handlers.release'), 1);
      await server.seen(2, 'begun');
      await server.ask('handlers.release');
      for (const { end } of held) assert.ok((await end).ok);
      await client.reply({ to: { rid: 'server' } });
    },
  },
  {
    ids: ['ERR-003', 'JOBQ-006'],
    title: 'a mailbox is limited in bytes, too',
    run: async (stage) => {
      const server = await stage.node('server', [], { mailbox: { bytes: 4_000 }, concurrency: 1 });
      const client = await stage.node('client', [server], { channels: [{}] });
      const to = { rid: 'server' };
      const held = await client.begin({ to, payload: { act: 'hold', text: 'x'.repeat(3_000) } });
      await server.seen(1, 'begun');
      await client.refusal({ to, payload: { text: 'x'.repeat(1_500) } }, 'Unavailable');
      await server.ask('handlers.release');
      assert.ok((await held.end).ok);
      await client.reply({ to, payload: { text: 'x'.repeat(1_500) } });
    },
  },
  {
    ids: ['ERR-003', 'CORE-004', 'TRACE-006'],
    title:
      'more records than may wait for one link are the caller’s own CapacityExceeded, and recorded as back pressure',
    isAlone: true,
    run: async (stage) => {
      const server = await stage.server('server');
      const client = await stage.start(
        'client',
        [
          { role: 'telemetry', records: 'kept' },
          { role: 'client', connect: [server.endpoint], sendTimeoutMs: 60_000 },
        ],
        { options: { inboundDispatch: { coreHwmProfile: 'compact' } } },
      );
      await client.ask('servers.ready', 1);
      await client.reply(stage.toServers);
      await server.ask('handlers.quieten');
      const send = { ...stage.toServers, verb: 'send', payload: { text: 'x'.repeat(400) } } as const;
      server.process.signal('SIGSTOP');
      const flood = client.ask('calls.burst', send, 90_000);
      try {
        const told = new Set<string>();
        const isRecorded = async (): Promise<boolean> => {
          await client.refusal(send, 'CapacityExceeded');
          await client.refusal(stage.toServers, 'CapacityExceeded');
          const records = await client.ask('telemetry.records');
          await client.ask('telemetry.forgetRecords');
          for (const { reason, action, message_kind: kind } of records.filter(isDispatchError)) {
            told.add([reason, action, kind].join(' '));
          }
          return told.size === 2;
        };
        // Those of what waits are written first, and while they wait there is no place for others.
        await eventually(isRecorded, 'both refusals are recorded');
        assert.deepEqual([...told].toSorted(), ['backpressure drop send', 'backpressure fail_caller request']);
      } finally {
        server.process.signal('SIGCONT');
      }
      const { ends } = await flood;
      assert.deepEqual(Object.keys(ends).toSorted(), ['CapacityExceeded', 'ok']);
      assert.ok((ends['ok'] ?? 0) > 65_536, JSON.stringify(ends));
      await client.reply(stage.toServers);
    },
  },
  {
    ids: ['ERR-004', 'CORE-008', 'C09'],
    title: 'a killed server ends its calls as Unavailable, and nothing of the transport’s own errors is seen',
    run: async (stage) => {
      const server = await stage.server('server');
      const client = await stage.client([server]);
      const held = await client.begin({ ...stage.toServers, payload: { act: 'hold' } });
      await server.seen(1, 'begun');
      await server.process.kill();
      const end = await held.end;
      assert.ok(!end.ok);
      assert.deepEqual([end.error.kind, end.error.submitted], ['Unavailable', true]);
      await client.servers(([row]) => row?.state !== 'ready', 'sees that the server is gone');
      const later = await client.refusal({ ...stage.toServers, timeoutMs: 300 }, 'NotFound');
      for (const error of [end.error, later]) {
        assert.equal(error.hasCause, false);
        assert.doesNotMatch(error.message, /\bE[A-Z]{4,}\b|errno|zmq|zeromq|socket/);
        for (const key of error.keys) assert.doesNotMatch(key, /errno|syscall|address/);
      }
    },
  },
  {
    ids: ['ERR-003', 'NODE-001'],
    title: 'a failure of one call is no failure of others on the same link',
    run: async (stage) => {
      const server = await stage.node('server');
      const client = await stage.node('client', [server], { channels: [{}] });
      const [bad, good] = await Promise.all([
        client.ask('calls.burst', { to: { channel: MESH_CHANNEL }, payload: { act: 'throw', text: 'x' } }, 50),
        client.ask('calls.burst', { to: { channel: MESH_CHANNEL } }, 50),
      ]);
      assert.deepEqual([bad.ends, good.ends], [{ InternalFailure: 50 }, { ok: 50 }]);
    },
  },
];

function isDispatchError({ eventId }: LogFacts): boolean {
  return eventId === 'zlink.dispatch_error';
}
