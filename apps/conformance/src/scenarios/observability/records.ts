/** TRACE-001 to TRACE-005 and TRACE-010 to TRACE-012: what is recorded of messages, and when. */
import assert from 'node:assert/strict';
import { FEED, MESH } from '../../contracts.ts';
import type { NodePlan, TelemetryPlan } from '../../roles/plan.ts';
import type { LogFacts } from '../../roles/protocol.ts';
import { eventually } from '../../runner/eventually.ts';
import type { HostHandle } from '../../runner/host-handle.ts';
import { nodePlan } from '../../runner/stage-plans.ts';
import type { Stage } from '../../runner/stage.ts';
import type { Scenario } from '../../scenario.ts';

const recording: TelemetryPlan = { role: 'telemetry', records: 'kept', metrics: 'kept' };
const at = (level: 'off' | 'errors' | 'normal' | 'detailed', more: { readonly sampleRate?: number } = {}) =>
  ({ options: { diagnostics: { level, includeMessageSizes: true, ...more } } }) as const;

/** What a record may have beside its event and the level at which it was logged. */
const fields = new Set(
  (
    'timestamp phase surface message_kind outcome reason action channel_name channel_route_kind mesh_name endpoint ' +
    'server_rid source_rid target_rid packet_name topic correlation_id flow_id flow_origin message_size_bytes ' +
    'duration_seconds owner error suppressed'
  ).split(' '),
);
const words: Readonly<Record<string, readonly string[]>> = {
  surface: ['node', 'channel', 'classic_fanout'],
  message_kind: ['send', 'request', 'response', 'error', 'control'],
  outcome: ['succeeded', 'failed', 'backpressured', 'dropped', 'cancelled', 'shutdown'],
  channel_route_kind: ['route_mesh', 'client_server'],
  flow_origin: ['inbound', 'timer', 'application', 'lifecycle'],
};

export const records: readonly Scenario[] = [
  {
    ids: ['TRACE-001', 'TRACE-002', 'TRACE-003', 'TRACE-004', 'TRACE-020'],
    title: 'each phase of each message once, at debug, with its facts and none of what it carries',
    run: async (stage) => {
      const [server, client] = await pair(stage, 'detailed');
      const secret = 'nobody reads this in a log';
      const said = { payload: { text: secret }, metadata: [['user', secret]] } as const;
      await client.reply({ ...stage.toServers, ...said });
      await client.reply({ to: { rid: 'server' }, ...said });
      await client.reply({ ...stage.toNodes, ...said });
      assert.ok((await client.call({ ...stage.toServers, ...said, verb: 'send' })).ok);
      await server.recorded((all) => count(all, 'completed') === 1, 'the end of a send');
      await client.refusal({ ...stage.toServers, ...said, payload: { act: 'throw', text: secret } }, 'InternalFailure');
      const served = await server.recorded((all) => count(all, 'replied') === 4 && count(all, 'completed') === 1, 'it');
      const asked = await client.recorded((all) => count(all, 'reply_received') === 4, 'the ends');
      const answered = ['received request', 'admitted request', 'dispatched request', 'replied response succeeded'];
      const failed = [...answered.slice(0, 3), 'replied error failed'];
      const handled = ['received send', 'admitted send', 'dispatched send', 'completed send succeeded'];
      assert.deepEqual(linesOf(served), [...answered, ...answered, ...answered, ...handled, ...failed]);
      const end = ['sent request', 'reply_received response succeeded'];
      const lines = [...end, ...end, ...end, 'sent send', 'sent request', 'reply_received error failed'];
      assert.deepEqual(linesOf(asked), lines);
      const places = phasesOf(served).map((row) =>
        [row['surface'], row['channel_route_kind'], row['mesh_name']].join(),
      );
      assert.deepEqual([...new Set(places)], ['channel,client_server,', `node,,${MESH}`, `channel,route_mesh,${MESH}`]);
      assert.deepEqual(correlations(served), correlations(asked), 'each request has one id at both ends');
      assert.equal(correlations(asked).length, 4);
      for (const record of [...served, ...asked]) {
        assert.deepEqual(unknownFields(record), [], JSON.stringify(record));
        const { eventId, level, timestamp, packet_name: name } = record;
        assert.equal(level, eventId === 'zlink.message_flow' ? 'debug' : 'warn');
        assert.ok(!Number.isNaN(Date.parse(String(timestamp))));
        assert.match(String(name), /^conformance\./);
      }
      // What a handler has thrown is told to the host that serves, as the text of an error.
      const all = phasesOf([...served, ...asked]);
      assert.ok(!JSON.stringify(all).includes(secret), 'no payload and no metadata');
      const timed = all.filter(({ phase }) => /replied|completed|reply_received/.test(String(phase)));
      for (const record of timed) assert.equal(typeof record['duration_seconds'], 'number', JSON.stringify(record));
      const sizes = all.filter(({ phase }) => phase === 'sent').map((record) => Number(record['message_size_bytes']));
      for (const size of sizes) assert.ok(size > 20 && size < 500, `a message of ${size} bytes`);
      const [direct] = phasesOf(served).filter(({ surface }) => surface === 'node');
      assert.deepEqual([direct?.['source_rid'], direct?.['target_rid']], ['client', 'server']);
    },
  },
  {
    ids: ['TRACE-002', 'TRACE-010'],
    title: 'what has to wait for its link, and what goes no further, is recorded at errors, too; phases are not',
    run: async (stage) => {
      const small = { inboundDispatch: { coreHwmProfile: 'compact' }, diagnostics: { level: 'errors' } } as const;
      const server = await stage.server('server', {}, { options: small });
      const client = await stage.start(
        'client',
        [recording, { role: 'client', connect: [server.endpoint], sendTimeoutMs: 200 }],
        { options: small },
      ); // prettier-ignore
      await client.ask('servers.ready', 1);
      await client.reply(stage.toServers);
      server.process.signal('SIGSTOP');
      try {
        const plan = { ...stage.toServers, verb: 'send', payload: { text: 'x'.repeat(10_000) } } as const;
        const { ends } = await client.ask('calls.burst', plan, 200);
        const late = ends['DeadlineExceeded'] ?? 0;
        assert.ok(late > 0, JSON.stringify(ends));
        const all = await client.recorded((told) => count(told, 'dropped') === late, 'what was dropped');
        assert.ok(count(all, 'backpressured') >= late);
        assert.deepEqual([...new Set(phasesOf(all).map(({ phase }) => phase))], ['backpressured', 'dropped']);
      } finally {
        server.process.signal('SIGCONT');
      }
    },
  },
  {
    ids: ['TRACE-005', 'TRACE-006', 'MON-007'],
    title: 'a publish is one record; each handler has its own with the topic; nobody is named or counted',
    run: async (stage) => {
      const publisher = await stage.start('publisher', [recording, { role: 'publisher' }], at('normal'));
      const feed = { role: 'subscriber', connect: [publisher.feedEndpoint] } as const;
      const one = await stage.start('one', [recording, { ...feed, handlers: 2 }], at('normal'));
      const two = await stage.start('two', [recording, feed], at('normal'));
      await publisher.ask('feeds.subscribersReady', FEED, 2);
      assert.ok((await publisher.ask('feeds.publish', FEED, { topic: 'weather' })).ok);
      const handled = ['received send', 'admitted send', 'dispatched send', 'completed send succeeded'];
      const ofOne = await one.recorded((all) => count(all, 'completed') === 2, 'both handlers');
      const ofTwo = await two.recorded((all) => count(all, 'completed') === 1, 'its handler');
      assert.deepEqual(linesOf(ofOne).toSorted(), [...handled, ...handled].toSorted());
      assert.deepEqual(linesOf(ofTwo), handled);
      const sent = await publisher.recorded((all) => count(all, 'sent') === 1, 'the event');
      assert.deepEqual(linesOf(sent), ['sent send']);
      for (const record of [...sent, ...ofOne, ...ofTwo]) {
        const { surface, channel_name: channel, topic, flow_id: id } = record;
        assert.deepEqual([surface, channel, topic, id], ['classic_fanout', FEED, 'weather', sent[0]?.['flow_id']]);
        assert.deepEqual(Object.keys(record).filter((key) => /rid|endpoint|correlation|count/.test(key)), []); // prettier-ignore
      }
      assert.ok((await publisher.ask('feeds.publish', FEED, { topic: 'weather', packet: 'missingNote' })).ok);
      const [error] = errorsOf(await one.recorded((all) => errorsOf(all).length > 0, 'what nobody handles'));
      const { reason, action, surface, outcome, topic } = error ?? {};
      assert.deepEqual([reason, action, surface, outcome, topic], ['no_handler', 'drop', 'classic_fanout', 'failed', 'weather']); // prettier-ignore
      const both = await publisher.recorded((all) => count(all, 'sent') === 2, 'both events');
      assert.deepEqual(errorsOf(both), []);
    },
  },
  {
    ids: ['TRACE-010'],
    title: 'normal, off, errors, normal under load: every request is answered, and each step uses the level it finds',
    run: async (stage) => {
      const [server, client] = await pair(stage, 'normal');
      await server.ask('handlers.quieten');
      const plans = [stage.toServers, stage.toNodes, { to: { rid: 'server' } }];
      for (const level of ['off', 'errors', 'normal', 'off', 'detailed', 'normal'] as const) {
        const loads = plans.map((plan) => client.ask('calls.burst', plan, 300));
        assert.equal(await server.ask('running.setLevel', level), undefined);
        for (const { ends, mixedUp } of await Promise.all(loads)) assert.deepEqual([ends, mixedUp], [{ ok: 300 }, 0]);
        assert.equal((await server.ask('observing.snapshot')).host.diagnosticsLevel, level);
      }
      assert.equal((await server.ask('running.setLevel', 'loud' as 'off'))?.kind, 'InvalidOperation');
      for (const level of ['off', 'errors'] as const) {
        await server.ask('running.setLevel', level);
        await drained(server);
        await server.ask('telemetry.forgetRecords');
        await client.refusal({ ...stage.toServers, packet: 'missingAsk' }, 'NotFound');
        await client.ask('calls.burst', stage.toServers, 20);
        if (level === 'errors') await server.recorded((all) => errorsOf(all).length === 1, 'the error');
        const expected = level === 'off' ? [] : ['zlink.dispatch_error'];
        assert.deepEqual((await server.ask('telemetry.records')).map(({ eventId }) => eventId), expected); // prettier-ignore
      }
    },
  },
  {
    ids: ['TRACE-011'],
    title: 'at a rate of 0.1 three nodes record a flow as a whole or none of it, and every error',
    run: async (stage) => {
      const setup = at('normal', { sampleRate: 0.1 });
      const nodeOf = (name: string, peers: readonly HostHandle[]): NodePlan => nodePlan(stage, name, peers);
      const last = await stage.start('last', [recording, nodeOf('last', [])], setup);
      const middle = await stage.start('middle', [recording, nodeOf('middle', [last])], setup);
      const first = await stage.start('first', [recording, nodeOf('first', [middle])], setup);
      await Promise.all([middle.ask('peers.ready', 2), first.ask('peers.ready', 1)]);
      const onward = JSON.stringify({ to: { rid: 'last' } });
      const plan = { to: { rid: 'middle' }, payload: { act: 'relay', text: onward } } as const;
      assert.deepEqual((await first.ask('calls.burst', plan, 400)).ends, { ok: 400 });
      await Promise.all([first, middle, last].map(drained));
      const flows = new Map<unknown, number>();
      for (const host of [first, middle, last]) {
        for (const { flow_id: id } of await host.ask('telemetry.records')) flows.set(id, (flows.get(id) ?? 0) + 1);
      }
      assert.deepEqual([...new Set(flows.values())], [12], 'two, six and four phases, or none');
      assert.ok(flows.size > 8 && flows.size < 100, `${flows.size} of 400 flows are recorded`); // less than once in a million runs not
      for (const id of flows.keys()) assert.ok(parseInt(String(id).slice(-8), 16) / 2 ** 32 < 0.1);
      await first.ask('calls.burst', { to: { rid: 'middle' }, packet: 'missingAsk' }, 5);
      await middle.recorded((all) => errorsOf(all).length > 0, 'the error whatever the rate');
      for (const sampleRate of [-0.1, 1.1]) {
        const end = await stage.failStart('wrong', [], at('normal', { sampleRate }));
        assert.ok(end.error.isConfigurationError && end.error.message.includes('diagnostics.sampleRate'));
      }
    },
  },
  {
    ids: ['TRACE-012'],
    title: 'a logger that is slow holds no message up; what does not fit is left out and counted',
    run: async (stage) => {
      const slow = { ...recording, records: 'slow' } as const;
      const server = await stage.start('server', [slow, { role: 'server' }], at('normal'));
      const client = await stage.client([server]);
      await server.ask('handlers.quieten');
      const { ends } = await client.ask('calls.burst', stage.toServers, 2_000);
      assert.deepEqual(ends, { ok: 2_000 });
      const left = (await server.ask('telemetry.metrics')).find(
        ({ name, attributes }) =>
          name === 'zlink.observability.events.overflow' && attributes['source'] === 'trace',
      ); // prettier-ignore
      assert.ok((left?.value ?? 0) > 0, 'more than 4,096 of 8,000 records were there at once');
      // So many waited at once, and each of them is written in the end: while fewer are, others wait.
      const someWait = async (): Promise<boolean> => (await server.ask('telemetry.recordCount')) < 4_096;
      assert.ok(await someWait(), 'replies came before the records');
      assert.ok((await client.call(stage.toServers)).ok);
      assert.ok(await someWait(), 'a call waits for no record');
      const end = await server.shutdown();
      assert.ok(end.ok && (await someWait()), 'what waits holds no shutdown up');
    },
  },
];

async function pair(stage: Stage, level: 'normal' | 'detailed'): Promise<[HostHandle, HostHandle]> {
  const server = await stage.start('server', [recording, { role: 'server' }, nodePlan(stage, 'server')], at(level));
  const client = await stage.start(
    'client',
    [
      recording,
      { role: 'client', connect: [server.endpoint] },
      nodePlan(stage, 'client', [server], { channels: [{}] }),
    ],
    at(level),
  );
  await Promise.all([client.ask('servers.ready', 1), client.ask('peers.ready', 1)]);
  return [server, client];
}

/**
 * All that it has recorded is written. A host that was interrupted while it wrote rests for up to a second: after as long it is
 * asked some more times, as one that got no time meanwhile answers before its timers have run.
 */
async function drained(host: HostHandle): Promise<void> {
  let count = -1;
  let changedAtMs = 0;
  let asksAfterRest = 0;
  await eventually(async () => {
    const now = await host.ask('telemetry.recordCount');
    if (now !== count) {
      changedAtMs = performance.now();
      asksAfterRest = 0;
    }
    count = now;
    if (performance.now() - changedAtMs > 1_200) asksAfterRest++;
    return asksAfterRest > 5;
  }, `${host.name} records no more`);
}

function phasesOf(all: readonly LogFacts[]): readonly LogFacts[] {
  return all.filter(({ eventId }) => eventId === 'zlink.message_flow');
}

function errorsOf(all: readonly LogFacts[]): readonly LogFacts[] {
  return all.filter(({ eventId }) => eventId === 'zlink.dispatch_error');
}

function count(all: readonly LogFacts[], phase: string): number {
  return all.reduce((sum, record) => sum + (record['phase'] === phase ? 1 : 0), 0);
}

/** Of all requests, in the order in which they are first told of. */
function correlations(records: readonly LogFacts[]): readonly unknown[] {
  return [...new Set(phasesOf(records).flatMap(({ correlation_id: id }) => id ?? []))];
}

/** `phase kind outcome`, in order. */
function linesOf(all: readonly LogFacts[]): readonly string[] {
  return phasesOf(all).map((record) =>
    ['phase', 'message_kind', 'outcome'].flatMap((key) => (key in record ? String(record[key]) : [])).join(' '),
  );
}

function unknownFields(record: LogFacts): readonly string[] {
  return Object.entries(record).flatMap(([key, value]) => {
    if (key === 'eventId' || key === 'level') return [];
    if (!fields.has(key)) return [key];
    return words[key]?.includes(String(value)) === false ? [`${key}: ${String(value)}`] : [];
  });
}
