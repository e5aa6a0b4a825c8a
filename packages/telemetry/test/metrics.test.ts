import { readFileSync } from 'node:fs';
import { type Attributes, type MeterProvider, metrics as globalMetrics } from '@opentelemetry/api';
import { createTelemetry } from '@zlink/telemetry';
import { type Metric, READ_METRICS, TOLD_METRICS, TOTAL_METRICS } from '../src/metrics/metric-list.ts';
import { SCOPE_VERSION } from '../src/scope.ts';
import { counters, FakeHost, mesh, peer, server } from './fake-host.ts';
import { LogLines } from './log-lines.ts';
import { Metrics } from './metric-reader.ts';

/** What METRIC-001 lists for the features that exist: name, kind, unit, attributes. */
const LIST: readonly (readonly [name: string, kind: string, unit: string, attributes: string])[] = [
  ['host.state', 'gauge', '{runtime}', 'state'],
  ['host.jobs.limit', 'gauge', '{job}', ''],
  ['host.jobs.in_use', 'gauge', '{job}', 'state'],
  ['host.receive_paused', 'gauge', '{state}', ''],
  ['host.core.budget', 'gauge', 'By', ''],
  ['host.core.queued', 'gauge', 'By', ''],
  ['host.shutdown.duration', 'histogram', 's', 'outcome'],
  ['host.shutdown.forced', 'counter', '{operation}', 'reason'],
  ['mesh_node.peers.configured', 'gauge', '{peer}', 'mesh_name source'],
  ['mesh_node.peers.connected', 'gauge', '{peer}', 'mesh_name source'],
  ['mesh_node.peers.ready', 'gauge', '{peer}', 'mesh_name source'],
  ['mesh_node.channels.ready_members', 'gauge', '{member}', 'mesh_name channel_name'],
  ['mesh_node.channel.selection_failures', 'counter', '{failure}', 'mesh_name channel_name reason'],
  ['mesh_node.requests.inflight', 'upDownCounter', '{request}', 'mesh_name surface'],
  ['mesh_node.request.duration', 'histogram', 's', 'mesh_name surface outcome'],
  ['mesh_node.request.timeouts', 'counter', '{request}', 'mesh_name surface'],
  ['mesh_node.messages.dropped', 'counter', '{message}', 'mesh_name surface message_kind reason'],
  ['client_server.servers.ready', 'gauge', '{server}', 'channel_name'],
  ['client_server.selection_failures', 'counter', '{failure}', 'channel_name reason'],
  ['client_server.requests.inflight', 'upDownCounter', '{request}', 'channel_name'],
  ['client_server.request.duration', 'histogram', 's', 'channel_name outcome'],
  ['client_server.request.timeouts', 'counter', '{request}', 'channel_name'],
  ['client_server.messages.dropped', 'counter', '{message}', 'channel_name message_kind reason'],
  ['fanout.publishers.ready', 'gauge', '{publisher}', 'channel_name'],
  ['send.admission.wait', 'histogram', 's', 'surface outcome'],
  ['location.store.errors', 'counter', '{error}', 'operation'],
  ['location.owner_lease.renew.failures', 'counter', '{failure}', ''],
  ['location.owner_lease.renew.lateness', 'histogram', 's', ''],
  ['observability.events.overflow', 'counter', '{event}', 'source'],
];

const MESH_CHANNEL = { topology: 'mesh_node', meshName: 'game', surface: 'channel', channelName: 'rooms' } as const;
const MESH_NODE = { topology: 'mesh_node', meshName: 'game', surface: 'node' } as const;
const CLIENT = { topology: 'client_server', channelName: 'billing' } as const;

function started(): { metrics: Metrics; host: FakeHost; telemetry: ReturnType<typeof createTelemetry>; log: LogLines } {
  const metrics = new Metrics();
  const log = new LogLines();
  const telemetry = createTelemetry({ meterProvider: metrics.provider }, log);
  const host = new FakeHost();
  telemetry.observe(host);
  return { metrics, host, telemetry, log };
}

/** Something of every kind has happened. */
function busy(): ReturnType<typeof started> {
  const parts = started();
  const { host } = parts;
  const meter = parts.telemetry.meter!;
  host.sections = {
    ...host.sections,
    routeMeshes: [
      mesh(
        'game',
        [peer('a', 'ready', 'manual')],
        [{ channelName: 'rooms', role: 'client', readyMembers: 2, members: [] }],
      ),
    ],
    clientServerChannels: [{ channelName: 'billing', role: 'client', state: 'ready', reasons: [], servers: [] }],
    fanoutChannels: [{ channelName: 'news', state: 'ready', reasons: [], publishers: [] }],
  };
  host.countersNow = [
    counters('game', 'node', 'game', { dropped: { no_handler: 1 } }),
    counters('billing', 'channel', undefined, { failed: 1 }),
  ];
  for (const labels of [MESH_CHANNEL, MESH_NODE, CLIENT]) {
    const calls = meter.forCalls(labels);
    calls.requestStarted();
    calls.requestEnded('timed_out', 2);
    calls.admissionWaited('admitted', 0.5);
    calls.selectionFailed('not_ready');
  }
  meter.storeFailed('scan');
  meter.leaseRenewalFailed();
  meter.leaseRenewed(0.25);
  meter.shutdownEnded('force_stopped', 'deadline_exceeded', 30);
  return parts;
}

test('[METRIC-001] the metrics of a host are those of the list, with their kinds, units and attributes, and no others', async () => {
  const { metrics, log } = busy();
  const rows = await metrics.rows();
  const found = rows.map(({ name, kind, unit, attributes }) => [name, kind, unit, Object.keys(attributes).join(' ')]);
  const wanted = LIST.map(([name, ...rest]) => [`zlink.${name}`, ...rest]);
  expect(distinct(found)).toEqual(distinct(wanted));
  expect(await metrics.scopes()).toEqual([{ name: 'zlink.framework', version: SCOPE_VERSION }]);
  expect(log.records).toEqual([]);
});

test('[METRIC-001] the version of the meter is that of the package', () => {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  expect(SCOPE_VERSION).toBe(version);
});

test('[METRIC-001] docs/metrics.md has the same list', () => {
  const page = readFileSync(new URL('../../../docs/metrics.md', import.meta.url), 'utf8');
  const rows = [
    ...page.matchAll(/^\| `(zlink\.[a-z_.]+)` +\| ([a-z- ]+?) +\| `?([^|` ]+)`? +\| (.*?) +\| (.*?) +\|$/gm),
  ];
  const documented = rows.map(([, name, kind, unit, attributes, text]) => [name, kind, unit, attributes, text]);
  const listed = [READ_METRICS, TOTAL_METRICS, TOLD_METRICS]
    .flatMap<Metric>(Object.values)
    .map((metric) => [
      metric.name,
      metric.kind === 'upDownCounter' ? 'up-down counter' : metric.kind,
      metric.unit,
      metric.attributes.map((name) => `\`${name}\``).join(', '),
      metric.description,
    ]);
  expect(distinct(documented)).toEqual(distinct(listed));
});

test('[METRIC-001] only the state that the host is in is there', async () => {
  const { metrics, host } = started();
  expect(await metrics.row('host.state', { state: 'serving' })).toBe(1);
  host.become('draining');
  const states = (await metrics.rows()).filter(({ name }) => name === 'zlink.host.state');
  expect(states.map(({ attributes, value }) => [attributes, value])).toEqual([[{ state: 'draining' }, 1]]);
});

test('[METRIC-001] gauges are those of the snapshot', async () => {
  const { metrics, host } = started();
  host.sections = {
    ...host.sections,
    host: { ...host.sections.host, jobs: { ...host.sections.host.jobs, flow: 'PAUSED' } },
    routeMeshes: [
      mesh(
        'game',
        [
          peer('a', 'ready', 'manual'),
          peer('b', 'notRequired', 'automatic'),
          peer('c', 'connecting', 'automatic'),
          peer('d', 'reconnecting', 'automatic'),
          peer('e', 'admitted', 'both'),
          peer('f', 'closed', 'both'),
        ],
        [{ channelName: 'rooms', role: 'client_and_server', readyMembers: 4, members: [] }],
      ),
      mesh('other', []),
    ],
    clientServerChannels: [
      {
        channelName: 'billing',
        role: 'client',
        state: 'ready',
        reasons: [],
        servers: [server('1', 'ready'), server('2', 'rejected')],
      },
      { channelName: 'served', role: 'server', state: 'ready', reasons: [], servers: [] },
    ],
    fanoutChannels: [
      {
        channelName: 'news',
        state: 'ready',
        reasons: [],
        publishers: [
          { endpoint: 'tcp://127.0.0.1:1', intent: 'open', state: 'ready', missedEvents: 0 },
          { endpoint: 'tcp://127.0.0.1:2', intent: 'open', state: 'connecting', missedEvents: 0 },
        ],
      },
    ],
  };
  const gauges = (await metrics.rows()).filter(({ kind }) => kind === 'gauge');
  const table = gauges.map(
    ({ name, attributes, value }) => `${name} ${Object.values(attributes).join(' ')} ${JSON.stringify(value)}`,
  );
  expect(table.sort()).toEqual(
    [
      'zlink.host.state serving 1',
      'zlink.host.jobs.limit  64',
      'zlink.host.jobs.in_use reserved 3',
      'zlink.host.jobs.in_use queued 2',
      'zlink.host.receive_paused  1',
      'zlink.host.core.budget  1000',
      'zlink.host.core.queued  10',
      'zlink.mesh_node.peers.configured game manual 1',
      'zlink.mesh_node.peers.configured game automatic 3',
      'zlink.mesh_node.peers.configured game both 1',
      'zlink.mesh_node.peers.connected game manual 1',
      'zlink.mesh_node.peers.connected game automatic 1',
      'zlink.mesh_node.peers.connected game both 1',
      'zlink.mesh_node.peers.ready game manual 1',
      'zlink.mesh_node.peers.ready game automatic 0',
      'zlink.mesh_node.peers.ready game both 0',
      ...['configured', 'connected', 'ready'].flatMap((what) =>
        ['manual', 'automatic', 'both'].map((source) => `zlink.mesh_node.peers.${what} other ${source} 0`),
      ),
      'zlink.mesh_node.channels.ready_members game rooms 4',
      'zlink.client_server.servers.ready billing 1',
      'zlink.fanout.publishers.ready news 1',
    ].sort(),
  );
});

test('[METRIC-001] requests: how many run, how long they took and how they ended, once each', async () => {
  const { metrics, telemetry } = started();
  const [rooms, halls, node, client] = [
    telemetry.meter!.forCalls(MESH_CHANNEL),
    telemetry.meter!.forCalls({ ...MESH_CHANNEL, channelName: 'halls' }),
    telemetry.meter!.forCalls(MESH_NODE),
    telemetry.meter!.forCalls(CLIENT),
  ];
  for (const calls of [rooms, rooms, halls, node, client]) calls.requestStarted();
  const surface = { mesh_name: 'game', surface: 'channel' };
  expect(await metrics.row('mesh_node.requests.inflight', surface)).toBe(3); // both channels are one series
  expect(await metrics.row('mesh_node.requests.inflight', { mesh_name: 'game', surface: 'node' })).toBe(1);
  expect(await metrics.row('client_server.requests.inflight', { channel_name: 'billing' })).toBe(1);

  rooms.requestEnded('succeeded', 0.5);
  rooms.requestEnded('timed_out', 2);
  halls.requestEnded('succeeded', 1);
  client.requestEnded('shutdown', 3);
  expect(await metrics.row('mesh_node.requests.inflight', surface)).toBe(0);
  const duration = 'mesh_node.request.duration';
  expect(await metrics.row(duration, { ...surface, outcome: 'succeeded' })).toEqual({ count: 2, sum: 1.5 });
  expect(await metrics.row(duration, { ...surface, outcome: 'timed_out' })).toEqual({ count: 1, sum: 2 });
  expect(await metrics.row('mesh_node.request.timeouts', surface)).toBe(1);
  const billing = { channel_name: 'billing' };
  expect(await metrics.row('client_server.request.duration', { ...billing, outcome: 'shutdown' })).toEqual({
    count: 1,
    sum: 3,
  });
  expect(await metrics.row('client_server.request.timeouts', billing)).toBeUndefined();
});

test('[METRIC-001] one-way messages that were not handled, by the reasons of the list, apart for node and channels of one name', async () => {
  const { metrics, host } = started();
  host.countersNow = [
    counters('game', 'node', 'game', { dropped: { no_handler: 2, filtered: 7, reply_expired: 7 } }),
    counters('game', 'channel', 'game', { failed: 1, dropped: { decode_error: 1, too_large: 2, invalid_frame: 4 } }),
    counters('rooms', 'channel', 'game', { dropped: { not_serving: 1, shutdown: 2, decode_error: 8 } }),
    counters('rooms', 'channel', 'game', { verb: 'request', failed: 9, dropped: { no_handler: 9 } }),
    counters('game', 'node', 'game', { verb: 'stray', dropped: { reply: 9 } }),
    counters('billing', 'channel', undefined, { dropped: { backpressure: 3 } }),
    counters('news', 'classic_fanout', undefined, { failed: 5 }), // no count of what a publish has reached (MON-007)
  ];
  const dropped = (await metrics.rows()).filter(({ name }) => name.endsWith('.messages.dropped'));
  const lines = dropped.map(
    ({ name, attributes, value }) => `${name} ${Object.values(attributes).join(' ')} ${JSON.stringify(value)}`,
  );
  expect(lines.sort()).toEqual([
    'zlink.client_server.messages.dropped billing send backpressure 3',
    'zlink.mesh_node.messages.dropped game channel send decode_error 15',
    'zlink.mesh_node.messages.dropped game channel send handler_exception 1',
    'zlink.mesh_node.messages.dropped game channel send shutdown 2',
    'zlink.mesh_node.messages.dropped game channel send stale_target 1',
    'zlink.mesh_node.messages.dropped game node send no_handler 2',
  ]);
});

test('[METRIC-001] what observers and logs have missed', async () => {
  const { metrics, host } = started();
  host.flow = { droppedRecords: 3 };
  host.log = { dropped: 4 };
  const events = host.board.events()[Symbol.asyncIterator](); // which nobody reads
  for (let at = 0; at < 1_026; at++) host.board.tell({ type: 'zlink.runtime.host.state_changed', state: 'serving' });
  const overflow = (source: string) => metrics.row('observability.events.overflow', { source });
  expect(await overflow('event')).toBe(2);
  expect(await overflow('status')).toBe(0);
  expect(await overflow('trace')).toBe(3);
  expect(await overflow('log')).toBe(4);
  await events.return?.();
});

test('[METRIC-001] totals are told by their growth, each part of it once, and the last of it at the end of the host', async () => {
  const { metrics, host, telemetry } = started();
  const billing = { channel_name: 'billing', message_kind: 'send', reason: 'no_handler' };
  const dropped = () => metrics.row('client_server.messages.dropped', billing);
  const drop = (count: number) =>
    (host.countersNow = [counters('billing', 'channel', undefined, { dropped: { no_handler: count } })]);
  expect(await dropped()).toBeUndefined();
  for (const count of [0, 2, 2, 7]) {
    drop(count);
    expect(await dropped()).toBe(count);
  }
  drop(9);
  host.flow = { droppedRecords: 3 };
  telemetry.close();
  drop(20);
  expect(await dropped()).toBe(9);
  expect(await metrics.row('observability.events.overflow', { source: 'trace' })).toBe(3);
});

test('[METRIC-001] [METRIC-004] a reading that breaks off loses nothing of the totals', async () => {
  const { metrics, host, log } = started();
  const overflow = (source: string) => metrics.row('observability.events.overflow', { source });
  host.countersNow = [counters('billing', 'channel', undefined, { failed: 5 })];
  host.flow = undefined as unknown as FakeHost['flow']; // no host shows that
  expect(await metrics.row('host.jobs.limit')).toBe(64);
  expect(log.records).toMatchObject([{ eventId: 'zlink.runtime.telemetry_failed', where: 'meter' }]);
  host.flow = { droppedRecords: 3 };
  expect(await overflow('trace')).toBe(3);
  const failed = { channel_name: 'billing', message_kind: 'send', reason: 'handler_exception' };
  expect(await metrics.row('client_server.messages.dropped', failed)).toBe(5);
});

test('[METRIC-001] what is told behind the last reading still counts', async () => {
  const { metrics, telemetry } = started();
  telemetry.meter!.shutdownEnded('stopped', 'none', 2);
  telemetry.close();
  expect(await metrics.row('host.shutdown.duration', { outcome: 'stopped' })).toEqual({ count: 1, sum: 2 });
  expect(await metrics.row('host.shutdown.forced', { reason: 'none' })).toBeUndefined();
});

test('[METRIC-001] after the end of the host nothing is read from it any more', async () => {
  const { metrics, host, telemetry } = started();
  let reads = 0;
  const { board } = host;
  const counted = {
    ...host,
    counters: host.counters,
    board: { snapshot: () => (reads++, board.snapshot()), lost: board.lost },
  };
  telemetry.close();
  const second = createTelemetry({ meterProvider: metrics.provider }, new LogLines());
  second.observe(counted);
  expect(await metrics.row('host.jobs.limit')).toBe(64);
  expect(reads).toBe(1);
  second.close();
  second.close();
  expect((await metrics.rows()).filter(({ kind }) => kind === 'gauge')).toEqual([]);
  expect(reads).toBe(1);
});

test('[METRIC-001] [METRIC-003] the provider is the one that is there at the start; without one there is no meter', async () => {
  const early = createTelemetry({}, new LogLines());
  expect(early.meter).toBeUndefined();
  const metrics = new Metrics();
  globalMetrics.setGlobalMeterProvider(metrics.provider);
  try {
    early.observe(new FakeHost());
    expect(await metrics.rows()).toEqual([]);
    const late = createTelemetry({}, new LogLines());
    late.observe(new FakeHost());
    expect(await metrics.row('host.jobs.limit')).toBe(64);
    late.close();
  } finally {
    globalMetrics.disable();
  }
});

test('[METRIC-002] 10,000 peers, servers and reasons of strangers make no new series', async () => {
  const { metrics, host } = busy();
  const before = (await metrics.rows()).length;
  const names = Array.from({ length: 10_000 }, (_, index) => `stranger-${index}`);
  host.sections = {
    ...host.sections,
    routeMeshes: host.sections.routeMeshes.map((section) => ({
      ...section,
      peers: names.map((rid) => ({ ...peer(rid, 'ready', 'manual'), channels: [{ name: rid, weight: 1 }] })),
    })),
    clientServerChannels: host.sections.clientServerChannels.map((section) => ({
      ...section,
      servers: names.map((rid) => server(rid, 'ready')),
    })),
  };
  host.countersNow = host.countersNow.map((row) => ({
    ...row,
    dropped: { ...row.dropped, ...Object.fromEntries(names.map((name) => [name, 1])) },
  }));
  const rows = await metrics.rows();
  expect(rows).toHaveLength(before);
  expect(await metrics.row('client_server.servers.ready', { channel_name: 'billing' })).toBe(10_000);
});

test('[METRIC-003] each combination of attributes is one frozen object, however often it is told or read', () => {
  const { provider, told, collect } = capturingProvider();
  const telemetry = createTelemetry({ meterProvider: provider }, new LogLines());
  telemetry.observe(new FakeHost());
  const calls = [telemetry.meter!.forCalls(CLIENT), telemetry.meter!.forCalls(CLIENT)];
  for (const each of [...calls, ...calls]) {
    each.requestEnded('succeeded', 1);
    collect();
  }
  const sets = new Map<string, Set<Attributes>>();
  for (const { name, attributes } of told) {
    const key = `${name} ${JSON.stringify(attributes)}`;
    sets.set(key, (sets.get(key) ?? new Set()).add(attributes));
  }
  expect(told.length).toBeGreaterThan(sets.size * 2);
  for (const [key, objects] of sets)
    expect([key, objects.size, [...objects].every(Object.isFrozen)]).toEqual([key, 1, true]);
});

test('[METRIC-004] a meter that throws is reported, and nobody who tells it notices', () => {
  for (const failing of ['getMeter', 'create', 'record', 'callback'] as const) {
    const { provider, collect } = capturingProvider(failing);
    const log = new LogLines();
    const telemetry = createTelemetry({ meterProvider: provider }, log);
    telemetry.observe(new FakeHost());
    collect();
    const calls = telemetry.meter?.forCalls(MESH_CHANNEL);
    calls?.requestStarted();
    calls?.requestEnded('timed_out', 1);
    calls?.selectionFailed('draining');
    telemetry.meter?.storeFailed('write');
    telemetry.close();
    const [record] = log.records;
    expect([failing, record]).toEqual([
      failing,
      { eventId: 'zlink.runtime.telemetry_failed', where: 'meter', error: `no ${failing}` },
    ]);
  }
});

test('[METRIC-004] what a meter rejects with is reported, and ends no process', async () => {
  const nothing = (): object => ({});
  const counter = { add: () => {}, record: () => {} };
  const parts: Record<string, () => unknown> = {
    createHistogram: () => counter,
    createCounter: () => counter,
    createObservableUpDownCounter: nothing,
    createObservableGauge: nothing,
    addBatchObservableCallback: (callback?: (result: object) => unknown) => callback?.({ observe: parts['observe'] }),
    removeBatchObservableCallback: () => {},
    observe: () => {},
    getMeter: () => parts,
  };
  const { ...sound } = parts;
  const rejecting = (name: string) => (): Promise<never> => Promise.reject(new Error(`no ${name}`));
  const names = [...Object.keys(sound), 'add', 'record'];
  for (const name of names) {
    Object.assign(parts, sound);
    const instrument = { ...counter, [name]: rejecting(name) };
    if (name in counter) Object.assign(parts, { createHistogram: () => instrument, createCounter: () => instrument });
    else parts[name] = rejecting(name);
    const log = new LogLines();
    const { getMeter } = parts;
    const telemetry = createTelemetry({ meterProvider: { getMeter } as unknown as MeterProvider }, log); // what is used
    telemetry.observe(new FakeHost());
    telemetry.meter?.forCalls(MESH_CHANNEL).requestEnded('timed_out', 1);
    telemetry.close();
    await new Promise(setImmediate);
    const reported = { eventId: 'zlink.runtime.telemetry_failed', where: 'meter', error: `no ${name}` };
    expect(log.records).toContainEqual(reported);
  }
});

test('[METRIC-001] a meter that does not let the callback go reads nothing after the end', () => {
  const { provider, told, collect } = capturingProvider('removal');
  const log = new LogLines();
  const telemetry = createTelemetry({ meterProvider: provider }, log);
  telemetry.observe(new FakeHost());
  telemetry.close();
  expect(told.splice(0).map(({ name }) => name)).toContain('zlink.observability.events.overflow'); // the last of totals
  collect();
  expect(told).toEqual([]);
  expect(log.records).toMatchObject([{ where: 'meter', error: 'no removal' }]);
});

test('[METRIC-004] a meter that collects while it is told a value gets all of them both times', () => {
  const { provider, told, collect, callbacks } = capturingProvider();
  const telemetry = createTelemetry({ meterProvider: provider }, new LogLines());
  telemetry.observe(new FakeHost());
  collect();
  told.splice(0); // totals are told if they grow
  collect();
  const names = told.splice(0).map(({ name }) => name);
  const outer: string[] = [];
  const observe = ({ name }: Told): void => {
    outer.push(name);
    if (outer.length === 3) collect();
  };
  for (const callback of callbacks) callback({ observe });
  expect(outer).toEqual(names);
  expect(told.map(({ name }) => name)).toEqual(names);
});

function distinct(rows: readonly (readonly unknown[])[]): string[] {
  return [...new Set(rows.map((row) => row.join(' | ')))].sort();
}

interface Told {
  readonly name: string;
  readonly attributes: Attributes;
}

/** A provider that keeps the attributes it is given, or fails at one of its calls. */
function capturingProvider(failing?: 'getMeter' | 'create' | 'record' | 'callback' | 'removal') {
  const told: Told[] = [];
  const callbacks = new Set<(result: unknown) => void>();
  const check = (at: typeof failing): void => {
    if (at === failing) throw new Error(`no ${at}`);
  };
  const create = (name: string): unknown => {
    check('create');
    const tell = (_value: number, attributes: Attributes): void => {
      check('record');
      told.push({ name, attributes });
    };
    return { name, add: tell, record: tell };
  };
  const meter = {
    createCounter: create,
    createHistogram: create,
    createObservableUpDownCounter: create,
    createObservableGauge: create,
    addBatchObservableCallback: (callback: (result: unknown) => void) => {
      check('callback');
      callbacks.add(callback);
    },
    removeBatchObservableCallback: (callback: (result: unknown) => void) => {
      check('callback');
      check('removal');
      callbacks.delete(callback);
    },
  };
  const observe = ({ name }: Told, _value: number, attributes: Attributes): void => {
    check('record');
    told.push({ name, attributes });
  };
  const provider = {
    getMeter: () => {
      check('getMeter');
      return meter;
    },
  } as unknown as MeterProvider; // as much of it as is used
  return { provider, told, callbacks, collect: () => callbacks.forEach((callback) => callback({ observe })) };
}
