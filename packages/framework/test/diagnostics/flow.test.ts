import type { Flow, Host, NodeContext } from '@zlink/framework';
import { until } from '@zlink/testing';
import { ask, endpointOf, makeHost, startClient, startServer } from '../hosts.ts';
import { joinNode, startNode } from '../meshes.ts';
import { Ask, CHANNEL, MESH, Notice } from '../packets.ts';
import { Diagnosed } from './diagnosed-hosts.ts';

/** A client, a server that asks a node, and that node: a call of the client passes all three. */
interface Chain {
  readonly client: Host;
  readonly sides: { readonly client: Diagnosed; readonly server: Diagnosed; readonly node: Diagnosed };
  readonly seen: (Flow | undefined)[];
}

type Pass = (server: Host, flow: Flow | undefined, signal: AbortSignal, asked: unknown) => Promise<unknown>;

const byContext: Pass = (server, flow, _, asked) =>
  server.routeClient.requestToNode(MESH, 'target', Ask(asked)).flow(flow).submit();

async function startChain(of: (side: keyof Chain['sides']) => Diagnosed, pass = byContext): Promise<Chain> {
  const sides = { client: of('client'), server: of('server'), node: of('node') };
  const seen: (Flow | undefined)[] = [];
  const target = await startNode('target', {
    options: sides.node.options,
    answer: (asked, context?: NodeContext) => {
      seen.push(context?.flow);
      return asked;
    },
  });
  const server = makeHost(sides.server.options);
  server
    .addClientServerChannel(CHANNEL)
    .server()
    .addRequestHandler(Ask, async (asked, { flow, signal }) => {
      seen.push(flow);
      return pass(server, flow, signal, asked);
    });
  server.addRouteMesh(MESH).routingId('middle').connect(target.routeMesh(MESH).endpoint);
  await server.start();
  await server.routeMesh(MESH).whenReady(1);
  return { client: await startClient([server], { options: sides.client.options }), sides, seen };
}

test('[TRACE-002] [TRACE-020] [TRACE-022] [TRACE-026] one flow through three hosts, each phase once, each request with ids of its own', async () => {
  const { client, sides, seen } = await startChain(() => new Diagnosed('normal'));
  expect(await ask(client, 'x')).toBe('x');
  await sides.client.phase('reply_received');
  await sides.server.phase('replied');
  await sides.node.phase('replied');
  const phasesOf = ({ phases }: Diagnosed): unknown[] =>
    phases.map(({ phase, surface, channel_route_kind: kind }) => [phase, surface, kind]);
  const [channel, node] = [
    ['channel', 'client_server'],
    ['node', undefined],
  ];
  expect(phasesOf(sides.client)).toEqual([
    ['sent', ...channel],
    ['reply_received', ...channel],
  ]);
  expect(phasesOf(sides.server)).toEqual([
    ['received', ...channel],
    ['admitted', ...channel],
    ['dispatched', ...channel],
    ['sent', ...node],
    ['reply_received', ...node],
    ['replied', ...channel],
  ]);
  expect(phasesOf(sides.node)).toEqual([
    ['received', ...node],
    ['admitted', ...node],
    ['dispatched', ...node],
    ['replied', ...node],
  ]);
  const all = [...sides.client.phases, ...sides.server.phases, ...sides.node.phases];
  expect(new Set(all.map((record) => record['flow_id'])).size).toBe(1);
  expect(new Set(all.map((record) => record['flow_origin']))).toEqual(new Set(['application']));
  expect(seen.map((flow) => flow?.id)).toEqual([all[0]?.['flow_id'], all[0]?.['flow_id']]);
  const idsOf = (side: Diagnosed, surface: string): Set<unknown> =>
    new Set(side.phases.filter((record) => record['surface'] === surface).map((record) => record['correlation_id']));
  expect(idsOf(sides.server, 'channel').size).toBe(1);
  expect(idsOf(sides.client, 'channel')).toEqual(idsOf(sides.server, 'channel'));
  expect(idsOf(sides.node, 'node')).toEqual(idsOf(sides.server, 'node'));
  expect(idsOf(sides.server, 'node')).not.toEqual(idsOf(sides.server, 'channel'));
  expect(sides.node.phases[0]).toMatchObject({ mesh_name: MESH, source_rid: 'middle', target_rid: 'target' });
});

test('[TRACE-026] calls with the signal of a handler join its flow, calls without it do not', async () => {
  const { client, seen } = await startChain(
    () => new Diagnosed(undefined), // the default level makes and forwards ids, too
    (server, _, signal, asked) =>
      server.routeClient.requestToNode(MESH, 'target', Ask(asked)).submit(asked === 'joins' ? signal : undefined),
  );
  await ask(client, 'joins');
  expect(seen[0]?.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(seen[1]).toMatchObject({ id: seen[0]?.id, origin: 'application' });
  await ask(client, 'starts');
  expect([seen[2]?.origin, seen[3]?.origin]).toEqual(['application', 'application']);
  expect(seen[3]?.id).not.toBe(seen[2]?.id);
});

/** The flows of what the starting services of a host ask a server: two of the first one, one of the second. */
async function flowsOfStarts(options: Diagnosed): Promise<(Flow | undefined)[]> {
  const seen: (Flow | undefined)[] = [];
  const server = makeHost();
  server
    .addClientServerChannel(CHANNEL)
    .server()
    .addRequestHandler(Ask, (asked, { flow }) => {
      seen.push(flow);
      return asked;
    });
  await server.start();
  const client = makeHost(options.options);
  client.addClientServerChannel(CHANNEL).client().connect(endpointOf(server));
  for (const calls of [2, 1]) {
    client.addHostedService({
      async start(signal) {
        await client.clientServerChannel(CHANNEL).whenReady(1, signal);
        const asking = (): Promise<unknown> => client.routeClient.requestToChannel(CHANNEL, Ask('up')).submit(signal);
        for (let left = calls; left > 0; left--) await asking();
      },
      stop: () => undefined,
    });
  }
  await client.start();
  return seen;
}

test('[TRACE-022] what a starting service calls with its signal is one flow of origin lifecycle, another service’s is another', async () => {
  const [first, second, third] = await flowsOfStarts(new Diagnosed(undefined));
  expect([first, second, third].map((flow) => flow?.origin)).toEqual(['lifecycle', 'lifecycle', 'lifecycle']);
  expect(second?.id).toBe(first?.id);
  expect(third?.id).not.toBe(first?.id);
});

test('[TRACE-010] at off a starting service begins no flow', async () => {
  const seen = await flowsOfStarts(new Diagnosed('off'));
  expect(seen.map((flow) => flow?.origin)).toEqual(['inbound', 'inbound', 'inbound']);
});

test('[TRACE-010] a host at off breaks the flow: the next one begins another', async () => {
  const { client, sides, seen } = await startChain((side) => new Diagnosed(side === 'server' ? 'off' : 'normal'));
  await ask(client, 'x');
  expect(seen).toMatchObject([undefined, { origin: 'inbound' }]);
  const [sent] = await sides.client.phase('sent');
  expect(seen[1]?.id).not.toBe(sent?.['flow_id']);
  expect(sides.server.log.records.filter(({ eventId }) => eventId === 'zlink.message_flow')).toEqual([]);
});

test('[TRACE-011] at rate 0.1 three hosts record a flow as a whole, or none of it', async () => {
  const { client, sides } = await startChain(() => new Diagnosed('normal', { sampleRate: 0.1 }));
  await Promise.all(Array.from({ length: 500 }, (_, n) => ask(client, n)));
  const flows = new Map<unknown, number>();
  const countRecords = (): number[] => {
    flows.clear();
    for (const { phases } of [sides.client, sides.server, sides.node]) {
      for (const { flow_id: id } of phases) flows.set(id, (flows.get(id) ?? 0) + 1);
    }
    return [...flows.values()];
  };
  // Of 500; less than one in ten million runs has so few.
  await until(() => countRecords().length > 10 && countRecords().every((records) => records === 12), 'whole flows');
  expect(flows.size).toBeLessThan(110);
});

test('[TRACE-010] the level changes under load, and every request is answered', async () => {
  const side = new Diagnosed('normal');
  const server = await startServer({ options: side.options });
  const client = await startClient([server]);
  const answered = new Set<unknown>();
  for (const [round, level] of (['normal', 'off', 'errors', 'detailed', 'normal'] as const).entries()) {
    const asked = Array.from({ length: 200 }, (_, n) => ask(client, round * 200 + n));
    server.diagnosticsLevel = level; // in the middle of them
    for (const reply of await Promise.all(asked)) answered.add(reply);
    expect(server.diagnosticsLevel).toBe(level);
    expect(server.query.snapshot().host.diagnosticsLevel).toBe(level);
  }
  expect(answered.size).toBe(1_000);
  server.diagnosticsLevel = 'off';
  await client.routeClient.sendToChannel(CHANNEL, Notice('nobody listens')).submit();
  await until(() => server.query.counters().some(({ dropped }) => dropped['no_handler'] === 1), 'it is dropped');
  await server.shutdown(); // writes what waits
  expect(side.phases.length).toBeGreaterThan(0);
  expect(side.log.records.filter((record) => record['packet_name'] === 'system.notice')).toEqual([]);
});

test('[TRACE-006] [CS-006] a late reply completes nothing and is an unexpected_reply, on a channel as on a node', async () => {
  let answer: ((value: unknown) => void) | undefined;
  const later = (): Promise<unknown> => new Promise((resolve) => (answer = resolve));
  const clientSide = new Diagnosed('errors');
  const server = await startServer({ answer: later });
  const client = await startClient([server], { options: clientSide.options });
  const controller = new AbortController();
  const dropped = ask(client, 1, controller.signal).catch(() => 'given up');
  await until(() => answer !== undefined, 'the handler runs');
  answer?.('in time for nobody');
  controller.abort(); // before the reply can have been read
  expect(await dropped).toBe('given up');
  await until(() => clientSide.errors.length > 0, 'the late reply is recorded');
  expect(clientSide.errors).toMatchObject([
    { reason: 'unexpected_reply', action: 'drop', message_kind: 'response', surface: 'channel', outcome: 'failed' },
  ]);

  const nodeSide = new Diagnosed('errors');
  const target = await startNode('target', { answer: later });
  const asking = await joinNode('asking', { options: nodeSide.options, connect: [target] });
  const second = new AbortController();
  const direct = asking.routeClient.requestToNode(MESH, 'target', Ask(1)).submit(second.signal);
  const ended = direct.catch(() => 'given up');
  const runs = (): boolean => target.query.counters().some(({ running }) => running > 0);
  await until(runs, 'the handler of the node runs');
  answer?.('in time for nobody');
  second.abort();
  expect(await ended).toBe('given up');
  await until(() => nodeSide.errors.length > 0, 'the late reply is recorded');
  expect(nodeSide.errors).toMatchObject([
    { reason: 'unexpected_reply', action: 'drop', message_kind: 'response', surface: 'node', source_rid: 'asking' },
  ]);
});

test('[TRACE-001] [TRACE-012] a logger that throws or takes its time changes no result', async () => {
  let records = 0;
  const failing = (): never => {
    records++;
    const until = performance.now() + 2;
    while (performance.now() < until);
    throw new Error('no log');
  };
  const logger = { debug: failing, info: failing, warn: failing, error: failing };
  const server = await startServer({ options: { logger, diagnostics: { level: 'detailed' } } });
  const client = await startClient([server]);
  const replies = await Promise.all(Array.from({ length: 100 }, (_, n) => ask(client, n)));
  expect(replies).toEqual(Array.from({ length: 100 }, (_, n) => n));
  expect(records).toBeGreaterThan(0);
});

test('[TRACE-001] [TRACE-005] phases go to debug and dispatch errors to warn, and a shutdown leaves none unwritten', async () => {
  const levels = new Map<unknown, Set<string>>();
  const keep = (level: string) => (record: object) => {
    const { eventId } = record as { eventId?: unknown };
    levels.set(eventId, (levels.get(eventId) ?? new Set()).add(level));
  };
  const logger = { debug: keep('debug'), info: keep('info'), warn: keep('warn'), error: keep('error') };
  const server = await startServer({ options: { logger, diagnostics: { level: 'normal' } } });
  const client = await startClient([server]);
  await client.routeClient.sendToChannel(CHANNEL, Notice('nobody listens')).submit();
  await until(() => server.query.counters().some(({ dropped }) => dropped['no_handler'] === 1), 'it is dropped');
  await server.shutdown();
  expect(levels.get('zlink.message_flow')).toEqual(new Set(['debug']));
  expect(levels.get('zlink.dispatch_error')).toEqual(new Set(['warn']));
});

test('[TRACE-010] [TRACE-011] what the options allow is said by the start, and by the setter', async () => {
  const host = makeHost({
    diagnostics: { level: 'verbose', sampleRate: '1', includeMessageSizes: 1, sizes: true } as never,
  });
  await expect(host.start()).rejects.toMatchObject({
    problems: [
      'diagnostics: there is no option "sizes", known: level, sampleRate, includeMessageSizes',
      'diagnostics.level: "verbose" is not allowed, allowed: off, errors, normal, detailed',
      'diagnostics.sampleRate: "1" is not allowed, allowed: 0..1',
      'diagnostics.includeMessageSizes: 1 is not allowed, allowed: true or false',
    ],
  });
  for (const sampleRate of [-0.1, 1.1, Number.NaN]) {
    await expect(makeHost({ diagnostics: { sampleRate } }).start()).rejects.toThrow('diagnostics.sampleRate');
  }
  const right = makeHost();
  expect(right.diagnosticsLevel).toBe('errors');
  expect(() => (right.diagnosticsLevel = 'loud' as never)).toThrow(
    '[InvalidOperation] diagnosticsLevel: "loud" is not allowed, allowed: off, errors, normal, detailed',
  );
  right.diagnosticsLevel = 'detailed'; // before the start, too
  await right.start();
  expect([right.diagnosticsLevel, right.query.snapshot().host.diagnosticsLevel]).toEqual(['detailed', 'detailed']);
});
