/** METRIC: what a reader of the application's provider collects. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { CHANNEL, FEED, MESH, MESH_CHANNEL } from '../../contracts.ts';
import { eventually } from '../../runner/eventually.ts';
import type { HostHandle } from '../../runner/host-handle.ts';
import { nodePlan, redisStore } from '../../runner/stage-plans.ts';
import type { Scenario } from '../../scenario.ts';
import type { MetricRow } from '../../roles/parts/telemetry.ts';
import type { CallPlan, TelemetryPlan } from '../../roles/plan.ts';

const metered: TelemetryPlan = { role: 'telemetry', metrics: 'kept' };

export const metrics: readonly Scenario[] = [
  {
    ids: ['METRIC-001', 'METRIC-003'],
    title: 'what a reader collects is the documented list: names, kinds, units and attributes; nothing after the end',
    over: { store: ['redis'] },
    run: async (stage) => {
      const redis = await stage.redis({ keepsData: true });
      const small = { options: { inboundDispatch: { coreHwmBudgetBytes: 1 } }, store: 'none' } as const;
      const peer = await stage.start(
        'peer',
        [{ role: 'server', concurrency: 1 }, { role: 'node', rid: 'peer', channels: [{ weight: 100 }] }, { role: 'publisher' }],
        small,
      ); // prettier-ignore
      const host = await stage.start(
        'host',
        [
          metered,
          { role: 'client', connect: [peer.endpoint], sendTimeoutMs: 30_000 },
          { role: 'client', channel: 'lonely' },
          { role: 'server', channel: 'own' },
          { role: 'node', prefix: 'host', connect: [peer.meshEndpoint], channels: [{}, { name: 'empty' }] },
          { role: 'subscriber', connect: [peer.feedEndpoint] },
        ],
        { options: { location: { ownerLeaseRenewIntervalMs: 100, ownerLeaseRenewTimeoutMs: 100 } }, store: redisStore(stage, redis) },
      ); // prettier-ignore
      await Promise.all([host.ask('servers.ready', 1), host.ask('peers.ready', 1)]);
      await host.publishers(([row]) => row?.state === 'ready', 'hears the publisher');
      const toPeer = { to: { rid: 'peer' } } as const;
      for (const plan of [stage.toServers, stage.toNodes, toPeer]) await host.reply(plan);
      const inVain = { timeoutMs: 60, payload: { act: 'hold' } } as const;
      await host.refusal({ ...stage.toServers, ...inVain }, 'DeadlineExceeded');
      await host.refusal({ ...toPeer, ...inVain }, 'DeadlineExceeded');
      assert.ok(!(await host.call({ to: { channel: 'lonely' }, timeoutMs: 60 })).ok);
      assert.ok(!(await host.call({ to: { channel: 'empty' }, timeoutMs: 60 })).ok);
      // More than the small window takes at once has to wait.
      const many = { ...stage.toServers, verb: 'send', payload: { text: 'x'.repeat(100_000) } } as const;
      assert.deepEqual((await host.ask('calls.burst', many, 100)).ends, { ok: 100 });
      // One-way messages that nobody handles.
      const caller = await stage.start(
        'caller',
        [{ role: 'client', channel: 'own', connect: [host.endpointOf('own')] }],
        { store: 'none' },
      ); // prettier-ignore
      await caller.ask('servers.ready', 1, 'own');
      const unhandled = { verb: 'send', packet: 'missingNote' } as const;
      assert.ok((await caller.call({ to: { channel: 'own' }, ...unhandled })).ok);
      assert.ok((await peer.call({ to: { rid: host.meshRid }, ...unhandled })).ok);
      await host.counted('own', 'send', ({ dropped }) => dropped['no_handler'] === 1, 'drops it');
      await host.counted(MESH, 'send', ({ dropped }) => dropped['no_handler'] === 1, 'drops it');
      await redis.stop();
      await metricSeen(host, 'zlink.location.owner_lease.renew.failures');
      await redis.start();
      await metricSeen(host, 'zlink.location.owner_lease.renew.lateness');
      const before = await host.ask('telemetry.metrics');
      const held = await caller.begin({ to: { channel: 'own' }, payload: { act: 'hold' } });
      await host.shows(({ host: { backlog } }) => backlog.runningHandlers === 1, 'the handler that runs');
      const end = await host.shutdown({ deadlineMs: 100 });
      assert.equal(end.ok && end.result.outcome, 'forceStopped');
      await held.end;
      const after = await host.ask('telemetry.metrics');
      assert.deepEqual(gaugesOf(after), [], 'nothing is read of a host that has ended');
      assert.deepEqual(distinct([...before, ...after].map(signature)), documented());
      const node = { mesh_name: MESH, surface: 'node' };
      assert.equal(valueOf(before, 'mesh_node.request.duration', { ...node, outcome: 'succeeded' }), 1);
      assert.equal(valueOf(before, 'mesh_node.request.timeouts', node), 1);
      assert.equal(valueOf(before, 'mesh_node.requests.inflight', node), 0);
      const members = { mesh_name: MESH, channel_name: MESH_CHANNEL };
      assert.equal(valueOf(before, 'mesh_node.channels.ready_members', members), 1);
      const missed = { channel_name: 'lonely', reason: 'no_member' };
      assert.equal(valueOf(before, 'client_server.selection_failures', missed), 1);
      assert.equal(valueOf(before, 'fanout.publishers.ready', { channel_name: FEED }), 1);
      assert.equal(valueOf(before, 'host.state', { state: 'serving' }), 1);
      assert.equal(before.filter(({ name }) => name === 'zlink.host.state').length, 1, 'only the current state');
      assert.equal(valueOf(after, 'host.shutdown.forced', { reason: 'deadline_exceeded' }), 1);
    },
  },
  {
    ids: ['METRIC-002'],
    title:
      'thousands of marks, hundreds of topics, of names of packets and of metadata, and more callers make no new series',
    run: async (stage) => {
      const host = await stage.start('host', [metered, { role: 'server' }, { role: 'node', rid: 'host' }, { role: 'publisher' }]); // prettier-ignore
      const startCaller = async (name: string, count: number): Promise<HostHandle> => {
        const caller = await stage.start(name, [
          metered,
          { role: 'client', connect: [host.endpoint] },
          { role: 'node', rid: name, connect: [host.meshEndpoint] },
          { role: 'subscriber', connect: [host.feedEndpoint] },
        ]);
        await Promise.all([caller.ask('servers.ready', 1), caller.ask('peers.ready', 1)]);
        await host.ask('feeds.subscribersReady', FEED, count);
        return caller;
      };
      const caller = await startCaller('caller', 1);
      const kinds = await useOf(host, caller, 0, 1);
      assert.deepEqual(kinds, { ok: 4, NotFound: 2 });
      const seriesOf = async (one: HostHandle): Promise<readonly string[]> =>
        distinct(
          (await one.ask('telemetry.metrics')).map(({ name, attributes }) => `${name} ${JSON.stringify(attributes)}`),
        );
      const before = [await seriesOf(host), await seriesOf(caller)];
      for (const one of [host, caller]) await one.ask('handlers.quieten');
      for (const to of [{ channel: CHANNEL }, { rid: 'host' }, { channel: CHANNEL }, { rid: 'host' }]) {
        assert.deepEqual((await caller.ask('calls.burst', { to }, 1_000)).ends, { ok: 1_000 });
      }
      await useOf(host, caller, 1, 200);
      for (const [at, name] of ['second', 'third'].entries()) {
        const other = await startCaller(name, at + 2);
        await useOf(host, other, 0, 10);
        assert.deepEqual(await seriesOf(other), before[1]);
      }
      assert.deepEqual([await seriesOf(host), await seriesOf(caller)], before);
      for (const series of before.flat())
        assert.doesNotMatch(series, /:"[^"]*(mark-|topic-|packet-|key-|caller|tcp:|[0-9a-f]{8})/);
    },
  },
  {
    ids: ['METRIC-003', 'METRIC-004', 'TRACE-010'],
    title:
      'with a provider, without one and with one that throws, replies and ends are the same; levels change nothing',
    run: async (stage) => {
      const server = await stage.server('server');
      const ends: unknown[] = [];
      const plans: readonly (readonly TelemetryPlan[])[] = [
        [{ role: 'telemetry', metrics: 'kept', spans: 'kept' }],
        [],
        [{ role: 'telemetry', metrics: 'failing', spans: 'failing' }],
      ];
      for (const telemetry of plans) {
        const parts = [{ role: 'client', connect: [server.endpoint] } as const, ...telemetry];
        const host = await stage.start('host', parts, { options: { diagnostics: { level: 'normal' } } });
        await host.ask('servers.ready', 1);
        const { ends: own, mixedUp } = await host.ask('calls.burst', stage.toServers, 200);
        const refused = await host.refusal({ ...stage.toServers, packet: 'missingAsk' }, 'NotFound');
        const sent = await host.call({ ...stage.toServers, verb: 'send' });
        if (telemetry[0]?.metrics === 'kept') {
          await host.ask('running.setLevel', 'off');
          await host.ask('calls.burst', stage.toServers, 50);
          const answered = { channel_name: 'conformance', outcome: 'succeeded' };
          assert.equal(valueOf(await host.ask('telemetry.metrics'), 'client_server.request.duration', answered), 250);
        }
        if (telemetry[0]?.metrics === 'failing') await host.logged('zlink.runtime.telemetry_failed');
        const end = await host.shutdown();
        ends.push([own, mixedUp, refused.message, sent.ok, end.ok && end.result]);
      }
      assert.deepEqual(ends[1], ends[0]);
      assert.deepEqual(ends[2], ends[0]);
      assert.deepEqual((ends[0] as readonly unknown[])[0], { ok: 200 });
    },
  },
  {
    ids: ['METRIC-004', 'TRACE-005'],
    title: 'beacons and probes of links are no messages: they count nowhere and make no record',
    run: async (stage) => {
      const recording = { ...metered, records: 'kept' } as const;
      const setup = { options: { diagnostics: { level: 'normal' } } } as const;
      const publisher = await stage.start('publisher', [{ role: 'publisher' }, nodePlan(stage, 'publisher')], setup);
      const host = await stage.start(
        'host',
        [
          recording,
          { role: 'subscriber', connect: [publisher.feedEndpoint] },
          { role: 'node', rid: 'host', connect: [publisher.meshEndpoint] },
        ],
        setup,
      );
      await host.ask('peers.ready', 1);
      await host.publishers(([row]) => row?.state === 'ready', 'hears the publisher’s beacon');
      const rows = await host.ask('telemetry.metrics');
      assert.equal(valueOf(rows, 'fanout.publishers.ready', { channel_name: FEED }), 1);
      const counted = rows.filter(({ name, value }) => /messages|request|wait/.test(name) && value > 0);
      assert.deepEqual(counted, []);
      assert.deepEqual(await host.ask('telemetry.records'), []);
      for (const { accepted } of await host.ask('running.counters')) assert.equal(accepted, 0);
    },
  },
];

/** Requests, sends and events from number `start` on, each with names of its own; resolves when all of them have come. */
async function useOf(
  host: HostHandle,
  caller: HostHandle,
  start: number,
  count: number,
): Promise<Record<string, number>> {
  const ends: Record<string, number> = {};
  const call = async (plan: CallPlan): Promise<void> => {
    const end = await caller.call(plan);
    const kind = end.ok ? 'ok' : (end.error.kind ?? end.error.name);
    ends[kind] = (ends[kind] ?? 0) + 1;
  };
  const heard = (await caller.counters(FEED, 'send')).accepted;
  const droppedOf = async (owner: string): Promise<number> =>
    (await host.counters(owner, 'send')).dropped['no_handler'] ?? 0;
  const dropped = [await droppedOf(CHANNEL), await droppedOf(MESH)];
  for (let number = start; number < start + count; number++) {
    const unknown = { packet: { name: `packet-${number}` } };
    const known: Partial<CallPlan> = {
      metadata: [[`key-${number}`, caller.name]],
      payload: { mark: `mark-${number}` },
    };
    const targets = [{ channel: CHANNEL }, { rid: 'host' }];
    await Promise.all([
      ...targets.flatMap((to) => [call({ to, ...known }), call({ to, ...unknown })]),
      ...targets.map((to) => call({ to, verb: 'send', ...unknown })),
      host.ask('feeds.publish', FEED, { topic: `topic-${number}` }),
    ]);
  }
  await caller.counted(FEED, 'send', ({ accepted }) => accepted >= heard + count, 'hears all topics');
  for (const [at, owner] of [CHANNEL, MESH].entries()) {
    await eventually(
      async () => (await droppedOf(owner)) === dropped[at]! + count,
      `${owner} drops what it does not know`,
    );
  }
  return ends;
}

async function metricSeen(host: HostHandle, name: string): Promise<void> {
  const isSeen = async (): Promise<boolean> =>
    (await host.ask('telemetry.metrics')).some((row) => row.name === name && row.value > 0);
  await eventually(isSeen, `${host.name} has ${name}`);
}

function valueOf(rows: readonly MetricRow[], name: string, attributes: MetricRow['attributes']): number | undefined {
  const wanted = Object.entries(attributes);
  return rows.find(
    (row) =>
      row.name === `zlink.${name}` &&
      wanted.length === Object.keys(row.attributes).length &&
      wanted.every(([key, value]) => row.attributes[key] === value),
  )?.value;
}

function gaugesOf(rows: readonly MetricRow[]): readonly string[] {
  return rows.flatMap(({ name, kind }) => (kind === 'gauge' ? [name] : []));
}

function signature({ name, kind, unit, attributes }: MetricRow): string {
  return [name, kind, unit, Object.keys(attributes).join(', ')].join(' | ').trimEnd();
}

function distinct(values: readonly string[]): readonly string[] {
  return [...new Set(values)].sort();
}

/** The table of docs/metrics.md. */
function documented(): readonly string[] {
  const page = readFileSync(new URL('../../../../../docs/metrics.md', import.meta.url), 'utf8');
  const rows = page.matchAll(/^\| `(zlink\.[a-z_.]+)` +\| ([a-z- ]+?) +\| `([^`]+)` +\| (.*?) +\|/gm);
  return [...rows].map(([, ...cells]) => cells.join(' | ').replaceAll('`', '').trimEnd()).sort();
}
