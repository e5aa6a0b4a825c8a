import { ConfigurationError, ZLinkError } from '@zlink/kernel/errors';
import { loopTurns, until } from '@zlink/testing';
import { rejection, selectionSuite, watch } from '@zlink/testing/internal';
import { ChannelClient } from '../src/client/channel-client.ts';
import { arrangeCluster } from './cluster.ts';
import {
  ask,
  CHANNEL,
  configureServer,
  dialingClient,
  endpointOf,
  type ServerSetup,
  startClient,
  startServer,
} from './arrange.ts';
import { Ask, Notice } from './packets.ts';
import type { TestHost } from './test-host.ts';

function pathOf(client: TestHost): ChannelClient {
  const { path } = client.channel(CHANNEL);
  if (!(path instanceof ChannelClient)) throw new Error('the client role is there');
  return path;
}

selectionSuite(async (weights) => {
  const cluster = arrangeCluster();
  const notified: string[] = [];
  const servers = new Map<string, TestHost>();
  for (const [name, weight] of Object.entries(weights)) {
    const server: ServerSetup = { weight, with: (s) => s.addSendHandler(Notice, () => void notified.push(name)) };
    servers.set(name, await startServer(cluster, name, server));
  }
  const client = await startClient(cluster, [...servers.values()]);
  return {
    request: () => client.request(CHANNEL, Ask(1)).submit(),
    send: () => client.send(CHANNEL, Notice({ text: 'x' })).submit(),
    notified,
    setWeight: (name, weight) => servers.get(name)?.channel(CHANNEL).setWeight(weight),
    handledBy: (name) => servers.get(name)?.counters(CHANNEL, 'request').handled,
    rebuilds: () => pathOf(client).rebuilds,
  };
});

test('[WRR-001] ties go to the smaller Server RID by unsigned bytes, a prefix first, never to an address', async () => {
  const cluster = arrangeCluster();
  const rids = ['ab', 'a', 'é', 'z', 'Z']; // in order of bytes: Z, a, ab, z, é
  const servers: TestHost[] = [];
  for (const rid of rids) servers.push(await startServer(cluster, rid));
  const client = await startClient(cluster, servers);
  expect(await ask(client, 5)).toEqual(['Z', 'a', 'ab', 'z', 'é']);
});

test('[WRR-003] the list is built once per change of a server and not by calls in between', async () => {
  const cluster = arrangeCluster();
  const servers = [await startServer(cluster, 'A'), await startServer(cluster, 'B')];
  const client = await startClient(cluster, servers);
  const path = pathOf(client);
  const seen: number[] = [];
  const rebuildsBy = async (change: () => void): Promise<number> => {
    const before = path.rebuilds;
    change();
    await ask(client, 3);
    return path.rebuilds - before;
  };
  seen.push(await rebuildsBy(() => undefined));
  seen.push(await rebuildsBy(() => servers[0]?.channel(CHANNEL).setWeight(300)));
  seen.push(await rebuildsBy(() => servers[0]?.channel(CHANNEL).setWeight(0)));
  seen.push(await rebuildsBy(() => servers[0]?.channel(CHANNEL).setWeight(0))); // as before, in a newer descriptor
  seen.push(await rebuildsBy(() => servers[0]?.drain())); // it was no candidate any more
  seen.push(await rebuildsBy(() => servers[1]?.channel(CHANNEL).setWeight(7)));
  expect(seen).toEqual([0, 1, 1, 0, 0, 1]);
});

test('[WRR-005] every channel has its own order, untouched by the calls of another', async () => {
  const cluster = arrangeCluster();
  const servers: TestHost[] = [];
  for (const [name, weight] of [
    ['A', 100],
    ['B', 300],
  ] as const) {
    const host = configureServer(cluster, name, { weight });
    host
      .channel('stock')
      .server()
      .routingId(name)
      .setWeight(weight)
      .addRequestHandler(Ask, () => name);
    servers.push(await host.start());
  }
  const client = cluster.host('client');
  for (const channel of [CHANNEL, 'stock']) {
    const role = client.channel(channel).client();
    for (const server of servers) role.connect(server.channel(channel).endpoint ?? '');
  }
  await client.start();
  for (const channel of [CHANNEL, 'stock']) await client.channel(channel).whenReady(2);
  const billing: unknown[] = [];
  const stock: unknown[] = [];
  for (const turn of 'bsbbsssb') {
    const answers = turn === 'b' ? billing : stock;
    answers.push(await client.request(turn === 'b' ? CHANNEL : 'stock', Ask(1)).submit());
  }
  expect(billing).toEqual(['B', 'A', 'B', 'B']);
  expect(stock).toEqual(['B', 'A', 'B', 'B']);
});

test('[WRR-005] the same list and state give the same order, on every client and in every run', async () => {
  const runs: unknown[][] = [];
  for (const order of ['AB', 'BA']) {
    const cluster = arrangeCluster();
    const servers: TestHost[] = [];
    for (const name of order) servers.push(await startServer(cluster, name, { weight: name === 'A' ? 3 : 5 }));
    for (const name of ['first', 'second']) runs.push(await ask(await startClient(cluster, servers, { name }), 16));
  }
  for (const run of runs) expect(run).toEqual(runs[0]);
  expect(runs[0]).toEqual([...'BABABBAB', ...'BABABBAB']);
});

test('[CHAN-003] a local server is chosen like any other, and through the transport', async () => {
  const cluster = arrangeCluster();
  const remote = await startServer(cluster, 'B', { weight: 300 });
  const value = { orderId: '7' };
  let received: unknown;
  const local = configureServer(cluster, 'A', {
    weight: 100,
    answer: (request) => {
      received = request;
      return 'A';
    },
  });
  local.channel(CHANNEL).client().connect(endpointOf(remote));
  await local.start();
  await local.channel(CHANNEL).whenReady(2);
  const answers: unknown[] = [];
  for (let i = 0; i < 4; i++) answers.push(await local.request(CHANNEL, Ask(value)).submit());
  expect(answers).toEqual(['B', 'A', 'B', 'B']);
  expect(received).toEqual(value);
  expect(received).not.toBe(value); // encoded and decoded
  const { address } = cluster.network.pipesTo(
    local
      .channel(CHANNEL)
      .servers()
      .find((s) => s.local)?.endpoint ?? '',
  )[0]!;
  cluster.network.blackhole(address); // the handler is not called behind the transport's back
  const outcome = watch(Promise.all([1, 2, 3, 4].map((i) => local.request(CHANNEL, Ask(i)).timeoutMs(400).submit())));
  await cluster.clock.advanceAsync(500);
  expect(outcome.value).toMatchObject({ kind: 'DeadlineExceeded', submitted: true });
});

test.each([
  { timeoutMs: 30_000, waitsMs: 5_000 },
  { timeoutMs: 700, waitsMs: 700 },
])('[CHAN-003] [C01] a request of $timeoutMs ms without candidate ends NotFound after $waitsMs ms', async (times) => {
  const cluster = arrangeCluster();
  const client = await dialingClient(cluster, ['tcp://127.0.0.1:7500']);
  const outcome = watch(client.request(CHANNEL, Ask(1)).timeoutMs(times.timeoutMs).submit());
  await cluster.clock.advanceAsync(times.waitsMs - 1);
  expect(outcome.state).toBe('pending');
  await cluster.clock.advanceAsync(1 + 16);
  expect(outcome.value).toMatchObject({ kind: 'NotFound', submitted: false });
});

test('[CHAN-003] [C01] a send without candidate waits the request timeout of its path, at most 5 s, not its send timeout', async () => {
  const cluster = arrangeCluster();
  const long = await dialingClient(cluster, ['tcp://127.0.0.1:7500']);
  const short = await dialingClient(cluster, ['tcp://127.0.0.1:7500'], {
    with: (client) => client.setRequestTimeoutMs(300).setSendTimeoutMs(50),
  });
  const outcomes = [long, short].map((client) => watch(client.send(CHANNEL, Notice({ text: 'x' })).submit()));
  const states = (): string[] => outcomes.map(({ state }) => state);
  await cluster.clock.advanceAsync(299);
  expect(states()).toEqual(['pending', 'pending']);
  await cluster.clock.advanceAsync(17);
  expect(states()).toEqual(['pending', 'rejected']);
  await cluster.clock.advanceAsync(4_683);
  expect(states()).toEqual(['pending', 'rejected']);
  await cluster.clock.advanceAsync(17);
  for (const { value } of outcomes) expect(value).toMatchObject({ kind: 'NotFound' });
});

test('[CHAN-003] what waits for a candidate goes as soon as there is one, in order', async () => {
  const cluster = arrangeCluster();
  const port = 7_500;
  const client = await dialingClient(cluster, [`tcp://127.0.0.1:${port}`]);
  const answers: unknown[] = [];
  for (let i = 0; i < 5; i++)
    void client
      .request(CHANNEL, Ask(i))
      .submit()
      .then((answer) => answers.push(answer));
  const send = watch(client.send(CHANNEL, Notice({ text: 'sixth' })).submit());
  await cluster.clock.advanceAsync(300);
  const order: unknown[] = [];
  const note = (what: unknown): unknown => (order.push(what), what);
  await startServer(cluster, 'late', {
    port,
    answer: note,
    with: (s) => s.addSendHandler(Notice, ({ text }) => void note(text)),
  });
  await cluster.clock.advanceAsync(1_000);
  expect(answers).toEqual([0, 1, 2, 3, 4]);
  expect(send.state).toBe('resolved');
  expect(order).toEqual([0, 1, 2, 3, 4, 'sixth']);
});

test('[CHAN-003] weight 0 and drain are no candidates; a weight that comes back ends the wait', async () => {
  const cluster = arrangeCluster();
  const zero = await startServer(cluster, 'zero', { weight: 0 });
  const drained = await startServer(cluster, 'drained');
  const client = await startClient(cluster, [zero, drained]);
  expect(await ask(client, 2)).toEqual(['drained', 'drained']);
  drained.drain();
  await loopTurns(8);
  const outcome = watch(client.request(CHANNEL, Ask(1)).submit());
  await cluster.clock.advanceAsync(1_000);
  expect(outcome.state).toBe('pending');
  zero.channel(CHANNEL).setWeight(1);
  await loopTurns(16);
  expect(outcome).toEqual({ state: 'resolved', value: 'zero' });
});

test('[CHAN-003] abort and shutdown end the wait as usual', async () => {
  const cluster = arrangeCluster();
  const client = await dialingClient(cluster, ['tcp://127.0.0.1:7500']);
  const controller = new AbortController();
  const aborted = [
    watch(client.request(CHANNEL, Ask(1)).submit(controller.signal)),
    watch(client.send(CHANNEL, Notice({ text: 'x' })).submit(controller.signal)),
  ];
  const left = [
    watch(client.request(CHANNEL, Ask(1)).submit()),
    watch(client.send(CHANNEL, Notice({ text: 'x' })).submit()),
  ];
  controller.abort('enough');
  await loopTurns(1);
  for (const outcome of aborted) expect(outcome).toEqual({ state: 'rejected', value: 'enough' });
  client.drain();
  await loopTurns(1);
  for (const { value } of left) expect(value).toMatchObject({ kind: 'ShuttingDown', submitted: false });
  expect(await rejection(client.request(CHANNEL, Ask(1)).submit())).toMatchObject({ kind: 'ShuttingDown' });
  expect(await rejection(client.send(CHANNEL, Notice({ text: 'x' })).submit())).toMatchObject({ kind: 'ShuttingDown' });
});

test('[CHAN-003] [CALL-005] a client that closes without a drain ends the wait as well', async () => {
  const cluster = arrangeCluster();
  const client = await dialingClient(cluster, ['tcp://127.0.0.1:7500']);
  const outcomes = [
    watch(client.request(CHANNEL, Ask(1)).submit()),
    watch(client.send(CHANNEL, Notice({ text: 'x' })).submit()),
  ];
  await client.close();
  for (const { value } of outcomes) expect(value).toMatchObject({ kind: 'ShuttingDown', submitted: false });
  expect(client.parts.wheel.size).toBe(0);
});

test('[CHAN-004] the chosen server is shown to nobody: neither by the call nor by its errors', async () => {
  const cluster = arrangeCluster();
  const server = await startServer(cluster, 'secret-rid', {
    answer: () => {
      throw new ZLinkError('Rejected', 'no');
    },
  });
  const client = await startClient(cluster, [server]);
  const call = client.request(CHANNEL, Ask(1));
  const error = await rejection(call.submit());
  expect(error.message).toBe('[Rejected] no');
  expect(JSON.stringify([call, error, Object.keys(call)])).not.toContain('secret-rid');
});

test('[CS-011] a weight changes at run time and reaches connected clients; links and submitted work stay', async () => {
  const cluster = arrangeCluster();
  const pending: (() => void)[] = [];
  const a = await startServer(cluster, 'A', {
    answer: () => new Promise((resolve) => pending.push(() => resolve('A'))),
  });
  const b = await startServer(cluster, 'B');
  const client = await startClient(cluster, [a, b]);
  const first = watch(client.request(CHANNEL, Ask(1)).submit());
  await until(() => pending.length === 1, 'A has the request');
  a.channel(CHANNEL).setWeight(0);
  await loopTurns(8);
  expect(client.channel(CHANNEL).servers()).toMatchObject([
    { routingId: 'A', state: 'ready', weight: 0, draining: false },
    { routingId: 'B', state: 'ready', weight: 100 },
  ]);
  expect(await ask(client, 3)).toEqual(['B', 'B', 'B']);
  expect(cluster.network.openConnections).toBe(2);
  pending.forEach((answer) => answer());
  await loopTurns(8);
  expect(first).toEqual({ state: 'resolved', value: 'A' });
});

test.each([-1, 10_001, 0.5, NaN, undefined, '7'])(
  '[CS-011] weight %p at run time is refused and the old one kept',
  async (weight) => {
    const cluster = arrangeCluster();
    const server = await startServer(cluster, 'A', { weight: 40 });
    const client = await startClient(cluster, [server]);
    expect(() => server.channel(CHANNEL).setWeight(weight as number)).toThrow(ConfigurationError);
    expect(() => server.channel(CHANNEL).setWeight(weight as number)).toThrow('allowed: integer 0..10000');
    await loopTurns(8);
    expect(client.channel(CHANNEL).servers()).toMatchObject([{ weight: 40 }]);
  },
);

test('[CS-011] only the server of this process can be weighted', async () => {
  const cluster = arrangeCluster();
  const client = await startClient(cluster, [await startServer(cluster, 'A')]);
  expect(() => client.channel(CHANNEL).setWeight(1)).toThrow('[NotConfigured] channel "billing" has no server role');
});

test('[CS-011] a weight set before the host serves counts from the first admission on', async () => {
  const cluster = arrangeCluster();
  const a = await configureServer(cluster, 'A').open();
  const b = await startServer(cluster, 'B', { weight: 300 });
  a.channel(CHANNEL).setWeight(300);
  a.serve();
  const client = await startClient(cluster, [a, b]);
  expect(await ask(client, 4)).toEqual(['A', 'B', 'A', 'B']);
});
