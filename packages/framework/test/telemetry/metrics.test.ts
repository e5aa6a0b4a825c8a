/** METRIC at the public surface: hosts over real sockets, a provider of the SDK, and what its reader collects. */
import { type Host, type HostOptions, message } from '@zlink/framework';
import { createMemoryLocationStore, createMemoryStoreBackend } from '@zlink/kernel/location';
import { createFaultyLocationStore, type FaultyLocationStore, until } from '@zlink/testing';
import { Gate, quietPort } from '@zlink/testing/internal';
import { readDoc } from '../doc-programs.ts';
import { makeHost } from '../hosts.ts';
import { rejection, thrown } from '../outcome.ts';
import { eventually } from '../redis/eventually.ts';
import { Ask, MESH, Never, Notice } from '../packets.ts';
import { Collected, type Row } from './collected.ts';

/** Renewals of the lease at the pace of a test. */
const QUICK_LEASE = {
  ownerLeaseTtlMs: 60_000,
  ownerLeaseRenewIntervalMs: 20,
  ownerLeaseRenewTimeoutMs: 500,
  pollingIntervalMs: 20,
} satisfies HostOptions['location'];

const endpointOf = (host: Host, channelName: string): string => host.clientServerChannel(channelName).endpoint!;

/** Serves the mesh channel `rooms`, the ClientServer channel `billing` and direct messages; publishes `news`. */
async function startPeer(released: Promise<void>): Promise<Host> {
  const peer = makeHost({ inboundDispatch: { coreHwmBudgetBytes: 1 }, sendTimeoutMs: 60_000 });
  const mesh = peer.addRouteMesh(MESH).routingId('peer');
  mesh.addRouteRequestHandler(Ask, (asked) => asked).addRouteRequestHandler(Never, () => released);
  mesh
    .channel('rooms')
    .server()
    .addRequestHandler(Ask, (asked) => asked);
  peer
    .addClientServerChannel('billing')
    .server()
    .concurrency(1)
    .addRequestHandler(Ask, (asked) => asked)
    .addRequestHandler(Never, () => released)
    .addSendHandler(Notice, () => released);
  peer.addFanoutChannel('news').enablePublisher();
  await peer.start();
  return peer;
}

interface Metered {
  readonly host: Host;
  readonly collected: Collected;
  readonly store: FaultyLocationStore;
}

/** Calls all that the peer serves, finds nobody in `empty` and `lonely`, serves `own`. */
async function startMetered(peer: Host, options: HostOptions = {}): Promise<Metered> {
  const collected = new Collected();
  const store = createFaultyLocationStore(createMemoryLocationStore(createMemoryStoreBackend()));
  const telemetry = { meterProvider: collected.provider };
  const host = makeHost({ telemetry, location: QUICK_LEASE, sendTimeoutMs: 60_000, ...options }).addLocationStore(
    store,
  );
  const mesh = host.addRouteMesh(MESH).setRoutingIdPrefix('metered').connect(peer.routeMesh(MESH).endpoint);
  mesh.channel('rooms').client();
  mesh.channel('empty').client();
  host.addClientServerChannel('billing').client().connect(endpointOf(peer, 'billing'));
  host.addClientServerChannel('lonely').client();
  host
    .addClientServerChannel('own')
    .server()
    .addRequestHandler(Never, () => new Promise<unknown>(() => {}));
  host
    .addFanoutChannel('news')
    .connect(peer.fanoutChannel('news').endpoint!)
    .addHandler(Notice, () => {});
  await host.start();
  await host.routeMesh(MESH).whenReady(1);
  await host.clientServerChannel('billing').whenReady(1);
  await until(() => host.fanoutChannel('news').publishers()[0]?.state === 'ready', 'the publisher was heard');
  return { host, collected, store };
}

test('[METRIC-001] [METRIC-003] what a reader collects is the list: names, kinds, units and attributes', async () => {
  const gate = new Gate();
  const peer = await startPeer(gate.opened);
  const { host, collected, store } = await startMetered(peer);
  const { routeClient } = host;

  for (const call of [
    () => routeClient.requestToNode(MESH, 'peer', Ask(1)),
    () => routeClient.requestToChannel('rooms', Ask(1)),
    () => routeClient.requestToChannel('billing', Ask(1)),
  ]) {
    expect(await call().submit()).toBe(1);
  }
  await rejection(routeClient.requestToNode(MESH, 'peer', Never(1)).timeoutMs(20).submit());
  await rejection(routeClient.requestToChannel('billing', Never(1)).timeoutMs(20).submit());
  await rejection(routeClient.requestToChannel('empty', Ask(1)).submit());
  await rejection(routeClient.requestToChannel('lonely', Ask(1)).timeoutMs(50).submit());

  // What the peer cannot take any more has to wait until its handler goes on.
  const notes = Array.from({ length: 200 }, () =>
    routeClient.sendToChannel('billing', Notice('x'.repeat(100_000))).submit(),
  );
  gate.open();
  await Promise.all(notes);

  const caller = makeHost();
  caller.addClientServerChannel('own').client().connect(endpointOf(host, 'own'));
  await caller.start();
  await caller.clientServerChannel('own').whenReady(1);
  await caller.routeClient.sendToChannel('own', Notice(1)).submit(); // which it has no handler for
  await peer.routeClient.sendToNode(MESH, host.routeMesh(MESH).routingId, Notice(1)).submit();
  const dropped = () =>
    host.query.counters().filter(({ verb, dropped }) => verb === 'send' && dropped['no_handler'] === 1);
  await until(() => dropped().length === 2, 'both have arrived');

  store.inject({ kind: 'fail' });
  await eventually(
    async () => (await collected.sum('location.store.errors', { operation: 'lease_renew' })) > 0,
    'a renewal failed',
  );
  store.heal();
  await eventually(async () => (await collected.sum('location.owner_lease.renew.lateness')) > 0, 'a renewal succeeded');

  const before = await collected.rows();
  const unanswered = thrown(caller.routeClient.requestToChannel('own', Never(1)).submit());
  await until(() => host.query.snapshot().host.backlog.runningHandlers === 1, 'the handler runs');
  expect(await host.shutdown({ deadlineMs: 1 })).toMatchObject({ outcome: 'forceStopped' });
  await unanswered;
  const rows = [...before, ...(await collected.rows())];

  expect(signaturesOf(rows)).toEqual(documented());
  const value = (name: string, attributes: Row['attributes']): number | undefined =>
    rows.findLast((row) => row.name === `zlink.${name}` && isEqual(row.attributes, attributes))?.value;
  const node = { mesh_name: MESH, surface: 'node' };
  const billing = { channel_name: 'billing' };
  expect(value('mesh_node.request.duration', { ...node, outcome: 'succeeded' })).toBe(1);
  expect(value('mesh_node.request.duration', { ...node, outcome: 'timed_out' })).toBe(1);
  expect(value('mesh_node.request.timeouts', node)).toBe(1);
  expect(value('mesh_node.requests.inflight', node)).toBe(0);
  expect(value('client_server.request.duration', { ...billing, outcome: 'succeeded' })).toBe(1);
  expect(value('client_server.request.timeouts', billing)).toBe(1);
  expect(value('client_server.servers.ready', billing)).toBe(1);
  expect(value('mesh_node.peers.ready', { mesh_name: MESH, source: 'manual' })).toBe(1);
  expect(value('mesh_node.channels.ready_members', { mesh_name: MESH, channel_name: 'rooms' })).toBe(1);
  const empty = { mesh_name: MESH, channel_name: 'empty', reason: 'no_member' };
  expect(value('mesh_node.channel.selection_failures', empty)).toBe(1);
  expect(value('client_server.selection_failures', { channel_name: 'lonely', reason: 'no_member' })).toBe(1);
  const noHandler = { message_kind: 'send', reason: 'no_handler' };
  expect(value('mesh_node.messages.dropped', { ...node, ...noHandler })).toBe(1);
  expect(value('client_server.messages.dropped', { channel_name: 'own', ...noHandler })).toBe(1);
  expect(value('send.admission.wait', { surface: 'channel', outcome: 'admitted' })).toBeGreaterThan(0);
  expect(value('host.shutdown.forced', { reason: 'deadline_exceeded' })).toBe(1);
  expect(value('host.shutdown.duration', { outcome: 'force_stopped' })).toBe(1);
});

test('[METRIC-001] after the shutdown nothing is read from the host any more', async () => {
  const peer = await startPeer(Promise.resolve());
  const { host, collected } = await startMetered(peer);
  expect(await collected.sum('host.state', { state: 'serving' })).toBe(1);
  await host.shutdown();
  expect(await collected.sum('host.shutdown.duration', { outcome: 'stopped' })).toBe(1);
  expect((await collected.rows()).filter(({ kind }) => kind === 'gauge')).toEqual([]);
});

test('[METRIC-001] what is dropped and missed while the host ends is collected after its end', async () => {
  const gate = new Gate();
  const collected = new Collected();
  const host = makeHost({ telemetry: { meterProvider: collected.provider } });
  host
    .addClientServerChannel('own')
    .server()
    .addSendHandler(Notice, async () => {
      await gate.opened;
      throw new Error('no time');
    });
  await host.start();
  const caller = makeHost();
  caller.addClientServerChannel('own').client().connect(endpointOf(host, 'own'));
  await caller.start();
  await caller.clientServerChannel('own').whenReady(1);
  const events = host.query.events()[Symbol.asyncIterator](); // which nobody reads
  for (const note of [1, 2]) await caller.routeClient.sendToChannel('own', Notice(note)).submit();
  await until(() => host.query.snapshot().host.backlog.runningHandlers === 2, 'the handlers run');
  const dropped = () => collected.sum('client_server.messages.dropped', { reason: 'handler_exception' });
  const missed = () => collected.sum('observability.events.overflow', { source: 'event' });
  expect([await dropped(), await missed()]).toEqual([0, 0]);

  for (let weight = 1; weight <= 1_030; weight++) host.clientServerChannel('own').setWeight(weight);
  const ending = host.shutdown();
  gate.open();
  expect(await ending).toMatchObject({ outcome: 'stopped' });
  const after = [await dropped(), await missed()];
  expect(after).toEqual([2, expect.any(Number)]);
  expect(after[1]).toBeGreaterThanOrEqual(1_030 - 1_024);
  expect([await dropped(), await missed()]).toEqual(after);
  await events.return?.();
});

test('[METRIC-001] [TRACE-012] records that a slow logger has kept the host from writing are counted at its end', async () => {
  const collected = new Collected();
  const written: unknown[] = [];
  const slow = (record: object): void => {
    if (!('phase' in record)) return;
    written.push(record);
    const endAtMs = performance.now() + 20;
    while (performance.now() < endAtMs); // it has no other way to be slow
  };
  const logger = { debug: slow, info: () => undefined, warn: () => undefined, error: () => undefined };
  const host = makeHost({ logger, telemetry: { meterProvider: collected.provider }, diagnostics: { level: 'normal' } });
  host.addRouteMesh(MESH).routingId('one');
  await host.start();
  const calls = Array.from({ length: 100 }, () =>
    thrown(host.routeClient.sendToNode(MESH, 'nobody', Notice(1)).submit()),
  );
  await Promise.all(calls);
  await host.shutdown();
  const overflow = await collected.sum('observability.events.overflow', { source: 'trace' });
  expect([written.length + overflow, overflow > 50]).toEqual([100, true]);
});

test('[METRIC-001] with its only configured server down, a channel of a mesh is not ready, as one of ClientServer is', async () => {
  const collected = new Collected();
  const nowhere = `tcp://127.0.0.1:${await quietPort()}`;
  const host = makeHost({ telemetry: { meterProvider: collected.provider } });
  host.addRouteMesh(MESH).connect(nowhere).channel('rooms').client();
  host.addClientServerChannel('billing').client().connect(nowhere);
  await host.start();
  for (const channelName of ['rooms', 'billing']) {
    const { kind } = await rejection(host.routeClient.requestToChannel(channelName, Ask(1)).timeoutMs(50).submit());
    expect(['NotFound', 'DeadlineExceeded']).toContain(kind);
  }
  const failures = (await collected.rows()).filter(({ name }) => name.endsWith('selection_failures'));
  expect(failures.map(({ attributes, value }) => ({ ...attributes, value }))).toEqual([
    { mesh_name: MESH, channel_name: 'rooms', reason: 'not_ready', value: 1 },
    { channel_name: 'billing', reason: 'not_ready', value: 1 },
  ]);
});

test('[METRIC-001] a shutdown while the host starts is measured like any other', async () => {
  for (const [stopping, deadlineMs, outcome, forcedCount] of [
    [Promise.resolve(), 60_000, 'stopped', 0],
    [new Promise<void>(() => {}), 50, 'force_stopped', 1],
  ] as const) {
    const collected = new Collected();
    const starting = new Gate();
    const host = makeHost({ telemetry: { meterProvider: collected.provider } });
    host.addHostedService({ start: () => Promise.resolve(), stop: () => stopping });
    host.addHostedService({ start: (signal) => (starting.open(), aborted(signal)), stop: () => undefined });
    const started = thrown(host.start());
    await starting.opened;
    await host.shutdown({ deadlineMs });
    await started;
    expect(await collected.sum('host.shutdown.duration', { outcome })).toBe(1);
    expect(await collected.sum('host.shutdown.duration')).toBe(1);
    expect(await collected.sum('host.shutdown.forced', { reason: 'deadline_exceeded' })).toBe(forcedCount);
  }
});

test('[METRIC-002] 10,000 packets and 20 nodes with names of their own make no new series', async () => {
  const peer = await startPeer(Promise.resolve());
  const { host, collected } = await startMetered(peer);
  await peer.routeClient.sendToNode(MESH, host.routeMesh(MESH).routingId, Notice(1)).submit();
  const reason = { mesh_name: MESH, surface: 'node', message_kind: 'send', reason: 'no_handler' };
  const dropped = () => collected.sum('mesh_node.messages.dropped', reason);
  await eventually(async () => (await dropped()) === 1, 'the first has arrived');
  await eventually(
    async () => (await collected.sum('location.owner_lease.renew.lateness')) > 0,
    'the lease was renewed',
  );
  const before = signaturesOf(await collected.rows(), withValues);

  for (let index = 0; index < 20; index++) {
    const stranger = makeHost();
    stranger.addRouteMesh(MESH).routingId(`stranger-${index}`).connect(host.routeMesh(MESH).endpoint);
    await stranger.start();
  }
  for (let index = 0; index < 10_000; index++) {
    await peer.routeClient.sendToNode(MESH, host.routeMesh(MESH).routingId, message(`stranger.${index}`)({})).submit();
  }
  await eventually(async () => (await dropped()) === 10_001, 'all have arrived, and reached nobody');
  expect(signaturesOf(await collected.rows(), withValues)).toEqual(before);
});

test('[METRIC-004] without a provider, and with one that throws, every call ends as it does with one', async () => {
  const failing = {
    getMeter: () => {
      throw new Error('no meter');
    },
  };
  const throwing = { getMeter: () => new Proxy({}, { get: () => instrumentThatThrows }) };
  const outcomes = [];
  for (const meterProvider of [new Collected().provider, undefined, failing, throwing]) {
    const gate = new Gate();
    const peer = await startPeer(gate.opened);
    const telemetry = meterProvider === undefined ? {} : { meterProvider: meterProvider as Collected['provider'] };
    const { host } = await startMetered(peer, { telemetry });
    const { routeClient } = host;
    const ends = [
      routeClient.requestToNode(MESH, 'peer', Ask('direct')).submit(),
      routeClient.requestToChannel('rooms', Ask('rooms')).submit(),
      routeClient.requestToChannel('billing', Ask('billing')).submit(),
      routeClient.requestToChannel('billing', Never(1)).timeoutMs(20).submit(),
      routeClient.requestToChannel('empty', Ask(1)).submit(),
      routeClient.requestToChannel('lonely', Ask(1)).timeoutMs(50).submit(),
    ];
    const settled = await Promise.allSettled(ends);
    gate.open();
    outcomes.push([
      ...settled.map((end) => (end.status === 'fulfilled' ? end.value : (end.reason as Error).message.slice(0, 40))),
      await host.shutdown(),
    ]);
  }
  const [withReader, ...others] = outcomes;
  expect(withReader!.slice(0, 3)).toEqual(['direct', 'rooms', 'billing']);
  for (const other of others) expect(other).toEqual(withReader);
});

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

/** Stands for a meter's methods and for what they make. */
function instrumentThatThrows(): unknown {
  return {
    add: fail,
    record: fail,
  };
}

function fail(): never {
  throw new Error('no instrument');
}

function signaturesOf(
  rows: readonly Row[],
  valuesOf = (row: Row): string => Object.keys(row.attributes).join(', '),
): string[] {
  return [...new Set(rows.map((row) => [row.name, row.kind, row.unit, valuesOf(row)].join(' | ')))].sort();
}

function withValues({ attributes }: Row): string {
  return JSON.stringify(attributes);
}

function isEqual(one: Row['attributes'], other: Row['attributes']): boolean {
  const keys = Object.keys(one);
  return keys.length === Object.keys(other).length && keys.every((key) => one[key] === other[key]);
}

/** The table of docs/metrics.md. */
function documented(): string[] {
  const rows = readDoc('metrics.md').matchAll(/^\| `(zlink\.[a-z_.]+)` +\| ([a-z- ]+?) +\| `([^`]+)` +\| (.*?) +\|/gm);
  return [...rows].map(([, ...cells]) => cells.join(' | ').replaceAll('`', '')).sort();
}
