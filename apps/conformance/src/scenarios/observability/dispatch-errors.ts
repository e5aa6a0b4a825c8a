/** TRACE-006: each reason of a dispatch error that another process can cause, what is done about it, and what is none. */
import assert from 'node:assert/strict';
import { CHANNEL } from '../../contracts.ts';
import type { PartPlan, TelemetryPlan } from '../../roles/plan.ts';
import type { LogFacts } from '../../roles/protocol.ts';
import type { HostHandle } from '../../runner/host-handle.ts';
import { eventually } from '../../runner/eventually.ts';
import { nodePlan, redisStore } from '../../runner/stage-plans.ts';
import type { HostSetup, Stage } from '../../runner/stage.ts';
import type { Scenario } from '../../scenario.ts';

const recording: TelemetryPlan = { role: 'telemetry', records: 'kept' };

export const dispatchErrors: readonly Scenario[] = [
  {
    ids: ['TRACE-006'],
    title: 'no_handler, handler_exception: a request is answered with its kind, a send is dropped',
    run: async (stage) => {
      const server = await stage.start('server', [recording, { role: 'server' }]);
      const client = await callerOf(stage, server);
      const rows = [
        ['no_handler', { packet: 'missingAsk' }, 'NotFound', { packet: 'missingNote' }],
        ['handler_exception', { payload: { act: 'throw', text: 'x' } }, 'InternalFailure', undefined],
        ['handler_exception', { payload: { act: 'refuse', text: 'Rejected' } }, 'Rejected', undefined],
      ] as const;
      for (const [reason, asked, kind, told = asked] of rows) {
        await server.ask('telemetry.forgetRecords');
        await client.refusal({ ...stage.toServers, ...asked }, kind);
        await tellsOf(server, reason, 'reply_error', 'request');
        assert.ok((await client.call({ ...stage.toServers, ...told, verb: 'send' })).ok);
        await tellsOf(server, reason, 'drop', 'send');
      }
      assert.deepEqual(await client.ask('telemetry.records'), [], 'the caller has its error and no record');
    },
  },
  {
    ids: ['TRACE-006'],
    title: 'decode_error: a request that cannot be read is answered; a reply that cannot be read fails its caller',
    run: async (stage) => {
      const json = await stage.start('json', [recording, { role: 'server' }], { codec: 'json' });
      const packed = await stage.client([json], {}, { codec: 'msgpack' });
      await packed.refusal(stage.toServers, 'ProtocolError');
      await tellsOf(json, 'decode_error', 'reply_error', 'request');
      assert.ok((await packed.call({ ...stage.toServers, verb: 'send' })).ok);
      await tellsOf(json, 'decode_error', 'drop', 'send');

      const replying = await stage.server('replying', {}, { codec: 'msgpack' }); // which reads JSON, too
      const caller = await callerOf(stage, replying, { codec: 'json' });
      await caller.refusal(stage.toServers, 'ProtocolError');
      await tellsOf(caller, 'decode_error', 'fail_caller', 'response');
    },
  },
  {
    ids: ['TRACE-006'],
    title: 'reply_path_missing: the caller is gone before its reply',
    run: async (stage) => {
      const server = await stage.start('server', [recording, { role: 'server' }]);
      const caller = await callerOf(stage, server);
      const held = await caller.begin({ ...stage.toServers, payload: { act: 'hold' } });
      held.end.catch(() => undefined); // it goes with its process
      await server.seen(1, 'begun');
      await caller.process.kill();
      await server.seen(1, 'aborted'); // and then it answers all the same
      await tellsOf(server, 'reply_path_missing', 'drop', 'request');
    },
  },
  {
    ids: ['TRACE-006', 'TRACE-020'],
    title: 'unexpected_reply: a reply that nobody waits for any more completes nothing',
    run: async (stage) => {
      const server = await stage.server('server');
      const caller = await callerOf(stage, server);
      // The reply arrives in time at a process that is busy until the time is over.
      const late = { ...stage.toServers, timeoutMs: 300, payload: { act: 'spin', text: '100' } } as const;
      const isTold = async (): Promise<boolean> => {
        const call = caller.call(late);
        await caller.ask('process.block', 500);
        const end = await call;
        assert.ok(end.ok || end.error.kind === 'DeadlineExceeded', JSON.stringify(end));
        return (await caller.ask('telemetry.records')).length > 0;
      };
      await eventually(isTold, 'a reply was too late');
      await tellsOf(caller, 'unexpected_reply', 'drop', 'response');
      const { ends, mixedUp } = await caller.ask('calls.burst', stage.toServers, 50);
      assert.deepEqual([ends, mixedUp], [{ ok: 50 }, 0]);
    },
  },
  {
    ids: ['TRACE-006'],
    title:
      'backpressure: a full mailbox answers Unavailable; invalid_frame: what never fits ProtocolError; sends are dropped',
    run: async (stage) => {
      const mailbox = { mailbox: { messages: 1, bytes: 4_000 }, concurrency: 1 };
      const server = await stage.start('server', [recording, nodePlan(stage, 'server', [], mailbox)]);
      const client = await stage.node('client', [server]);
      const held = await client.begin({ to: { rid: 'server' }, payload: { act: 'hold' } });
      await server.seen(1, 'begun');
      await client.refusal({ to: { rid: 'server' } }, 'Unavailable');
      await tellsOf(server, 'backpressure', 'reply_error', 'request');
      assert.ok((await client.call({ to: { rid: 'server' }, verb: 'send' })).ok);
      await tellsOf(server, 'backpressure', 'drop', 'send');
      await server.ask('handlers.release');
      assert.ok((await held.end).ok);
      const tooLarge = { to: { rid: 'server' }, payload: { text: 'x'.repeat(5_000) } } as const;
      await client.refusal(tooLarge, 'ProtocolError');
      await tellsOf(server, 'invalid_frame', 'reply_error', 'request');
      assert.ok((await client.call({ ...tooLarge, verb: 'send' })).ok);
      await tellsOf(server, 'invalid_frame', 'drop', 'send');
    },
  },
  {
    ids: ['TRACE-006', 'METRIC-001'],
    title: 'stale_target: a server without its lease answers Unavailable, and drops a send; its metrics say the same',
    over: { store: ['redis'] },
    run: async (stage) => {
      const redis = await stage.redis({ keepsData: true });
      const times = {
        ownerLeaseTtlMs: 6_000,
        ownerLeaseRenewIntervalMs: 200,
        ownerLeaseRenewTimeoutMs: 2_000,
        ownerLeaseFencingMarginMs: 2_000,
      };
      const setup = { store: redisStore(stage, redis), options: { location: times } };
      const server = await stage.start('server', [{ ...recording, metrics: 'kept' }, { role: 'server' }], setup);
      const client = await callerOf(stage, server, { store: 'none' });
      const plan = stage.toServers;
      await client.reply(plan);
      await redis.stop();
      const isFenced = async (): Promise<boolean> => {
        const end = await client.call(plan);
        return !end.ok && end.error.kind === 'Unavailable';
      };
      await eventually(isFenced, 'it has no lease any more');
      await client.refusal(plan, 'Unavailable');
      await tellsOf(server, 'stale_target', 'reply_error', 'request');
      assert.ok((await client.call({ ...plan, verb: 'send' })).ok);
      await tellsOf(server, 'stale_target', 'drop', 'send');
      const dropped = (await server.ask('telemetry.metrics')).filter(({ name }) => name.endsWith('.messages.dropped'));
      const attributes = { channel_name: CHANNEL, message_kind: 'send', reason: 'stale_target' };
      assert.deepEqual(
        dropped.map((row) => [row.attributes, row.value]),
        [[attributes, 1]],
      );
      await redis.start();
      await eventually(async () => (await client.call(plan)).ok, 'it serves again');
    },
  },
  {
    ids: ['TRACE-006'],
    title: 'shutdown: a host that ends answers direct calls ShuttingDown, drops sends, and fails calls of its own',
    run: async (stage) => {
      const server = await stage.start('server', [recording, nodePlan(stage, 'server')]);
      const client = await stage.node('client', [server]);
      const held = await client.begin({ to: { rid: 'server' }, payload: { act: 'hold' } });
      await server.seen(1, 'begun');
      const ending = server.shutdown();
      await client.peers(([row]) => row?.draining === true, 'sees that it drains');
      await client.refusal({ to: { rid: 'server' } }, 'ShuttingDown');
      await tellsOf(server, 'shutdown', 'reply_error', 'request');
      assert.ok((await client.call({ to: { rid: 'server' }, verb: 'send' })).ok);
      await tellsOf(server, 'shutdown', 'drop', 'send');
      await server.refusal({ to: { rid: 'client' } }, 'ShuttingDown');
      await tellsOf(server, 'shutdown', 'fail_caller', 'request');
      await server.ask('handlers.release');
      assert.ok((await held.end).ok);
      assert.ok((await ending).ok);
    },
  },
  {
    ids: ['TRACE-006', 'CS-008'],
    title: 'shutdown: a server that drains answers what crosses the word of it Rejected, and drops sends',
    run: async (stage) => {
      const server = await stage.start('server', [recording, { role: 'server' }]);
      const proxy = await stage.proxy(server.endpoint);
      const client = await stage.dialing([proxy.address]);
      await client.ask('servers.ready', 1);
      const held = await client.begin({ ...stage.toServers, payload: { act: 'hold' } });
      await server.seen(1, 'begun');
      proxy.drip(1, 60_000, 'toClient'); // the word of the drain is under way until the proxy is restored
      const ending = server.shutdown();
      await server.shows(({ host: { state } }) => state === 'draining', 'its drain');
      const refused = await client.begin(stage.toServers);
      assert.ok((await client.call({ ...stage.toServers, verb: 'send' })).ok);
      await tellsOf(server, 'shutdown', 'drop', 'send');
      await tellsOf(server, 'shutdown', 'reply_error', 'request');
      proxy.restore();
      const end = await refused.end;
      assert.equal(end.ok || end.error.kind, 'Rejected');
      await server.ask('handlers.release');
      assert.ok((await held.end).ok);
      assert.ok((await ending).ok);
    },
  },
  {
    ids: ['TRACE-006'],
    title: 'what a filter stops, a caller gives up, or has no server, is no dispatch error',
    run: async (stage) => {
      const stopping: PartPlan = { role: 'filter', name: 'stopping', behaviour: 'stop' };
      const server = await stage.start('server', [recording, { role: 'server' }, stopping]);
      const caller = await callerOf(stage, server);
      assert.ok(!(await caller.call(stage.toServers)).ok, 'it is stopped');
      const open = await stage.start('open', [recording, nodePlan(stage, 'open')]);
      const other = await stage.node('other', [open]);
      const given = await other.begin({ to: { rid: 'open' }, payload: { act: 'hold' } });
      await open.seen(1, 'begun');
      await given.abort();
      assert.ok(!(await given.end).ok);
      await open.seen(1, 'aborted');
      await other.refusal({ to: { rid: 'nobody' } }, 'NotFound');
      for (const host of [server, caller, open])
        assert.deepEqual(
          (await host.ask('telemetry.records')).filter(({ eventId }) => eventId === 'zlink.dispatch_error'),
          [],
          host.name,
        );
    },
  },
];

async function callerOf(stage: Stage, server: HostHandle, setup: HostSetup = {}): Promise<HostHandle> {
  const caller = await stage.start('caller', [recording, { role: 'client', connect: [server.endpoint] }], setup);
  await caller.ask('servers.ready', 1);
  return caller;
}

async function tellsOf(host: HostHandle, reason: string, action: string, kind: string): Promise<void> {
  const isIt = (record: LogFacts): boolean =>
    record.eventId === 'zlink.dispatch_error' &&
    record['level'] === 'warn' &&
    record['outcome'] === 'failed' &&
    record['reason'] === reason &&
    record['action'] === action &&
    record['message_kind'] === kind;
  await host.recorded((all) => all.some(isIt), `${reason}, ${action} of a ${kind}`);
}
