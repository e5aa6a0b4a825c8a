import { ConfigurationError, createHost, type Host, type HostState } from '@zlink/framework';
import { until } from '@zlink/testing';
import { Gate, isFree, quietPort } from '@zlink/testing/internal';
import {
  ask,
  endpointOf,
  keep,
  makeHost,
  makeServer,
  NOBODY,
  portOf,
  slackMs,
  startClient,
  startDialing,
  startServer,
} from './hosts.ts';
import { problems, rejection, thrown, watch } from './outcome.ts';
import { Ask, CHANNEL, Charge, Notice } from './packets.ts';
import { occupyPort } from './ports.ts';

/** A host that wants the process for itself. */
function makeOnlyHost(): Host {
  return keep(createHost());
}

test('[HOSTREG-001] a second host in the process is refused, and may start once the first has ended', async () => {
  const first = makeOnlyHost();
  await first.start();
  const second = makeOnlyHost();
  expect(await problems(second.start())).toEqual([
    'host: another host already runs in this process; tests that need several set testing.allowSeveralHosts',
  ]);
  expect([first.state, second.state]).toEqual(['serving', 'error']);
  await second.shutdown(); // gives back nothing that is the first one's
  expect(await problems(makeOnlyHost().start())).toHaveLength(1);
  await first.shutdown();
  const third = makeOnlyHost();
  await third.start();
  expect(third.state).toBe('serving');
});

test('[HOSTREG-001] a start that fails leaves the process to the next host', async () => {
  const failing = makeOnlyHost();
  failing.addHostedService({ start: () => Promise.reject(new Error('no')), stop: () => undefined });
  await thrown(failing.start());
  const next = makeOnlyHost();
  await next.start();
  expect(next.state).toBe('serving');
});

test('[HOSTREG-001] several hosts run in one process only where the later ones allow it', async () => {
  const hosts = [makeHost(), makeHost(), makeHost()];
  await Promise.all(hosts.map((host) => host.start()));
  expect(hosts.map((host) => host.state)).toEqual(['serving', 'serving', 'serving']);
  expect(await problems(makeOnlyHost().start())).toHaveLength(1);
});

test('[HOSTREG-001] the start of a host that runs is refused and does it no harm', async () => {
  const host = makeServer();
  const starting = host.start();
  expect(await thrown(host.start())).toBeInstanceOf(ConfigurationError);
  await starting;
  expect(await problems(host.start())).toEqual([
    'host: it was started before and is serving; a host starts once, make another with createHost()',
  ]);
  const client = await startClient([host]);
  expect(await ask(client, 7)).toBe(7);
});

test('[HOSTREG-001] a host that has ended does not start again', async () => {
  const stopped = makeHost();
  await stopped.start();
  await stopped.shutdown();
  expect((await rejection(stopped.start())).kind).toBe('InvalidOperation');
  const failed = makeHost({ sendTimeoutMs: 0 });
  await thrown(failed.start());
  expect((await rejection(failed.start())).message).toBe(
    '[InvalidOperation] host: it was started before and is error; a host starts once, make another with createHost()',
  );
});

test('[CHAN-007] a start waits for no peer: the host serves while nobody answers', async () => {
  const client = await startDialing([NOBODY]);
  expect(client.state).toBe('serving');
  expect(client.clientServerChannel(CHANNEL).servers()).toMatchObject([{ state: 'connecting', weight: 0 }]);
});

test('[HOSTREG-004] the description is frozen from the call of start on', async () => {
  const host = makeHost();
  const channel = host.addClientServerChannel(CHANNEL);
  const server = channel.server().addRequestHandler(Ask, () => 'ok');
  const client = channel.client();
  const codecs = host.codecs();
  const changes: (() => unknown)[] = [
    () => host.codecs(),
    () => codecs.use({ register: () => undefined }),
    () => host.addFilter((_context, next) => next()),
    () => host.addHostedService({ start: async () => undefined, stop: () => undefined }),
    () => host.addClientServerChannel(CHANNEL),
    () => host.addClientServerChannel('other'),
    () => channel.client(),
    () => channel.server(),
    () => client.connect('tcp://127.0.0.1:7200'),
    () => client.setSendTimeoutMs(5),
    () => client.setRequestTimeoutMs(5),
    () => server.listen(7_200),
    () => server.setBindHost('127.0.0.1'),
    () => server.setAdvertiseHost('here'),
    () => server.setWeight(1),
    () => server.concurrency(1),
    () => server.maxMessageSize(1),
    () => server.routingId('other'),
    () => server.addSendHandler(Notice, () => undefined),
    () => server.addRequestHandler(Charge, () => ({ receipt: '' })),
  ];
  const starting = host.start();
  for (const change of changes.slice(2)) expect(change).toThrow('[InvalidOperation]');
  await starting;
  for (const change of changes) expect(change).toThrow('[InvalidOperation]');
  await host.shutdown();
  for (const change of changes) expect(change).toThrow('[InvalidOperation]');
});

test('[HOSTREG-004] options that change after the start change nothing', async () => {
  const inboundDispatch = { maxQueuedApplicationJobs: 7 };
  const options = { inboundDispatch, requestTimeoutMs: 30_000 };
  const server = makeServer({ options });
  expect(server.effectiveMaxQueuedApplicationJobs).toBe(0);
  await server.start();
  inboundDispatch.maxQueuedApplicationJobs = 9;
  options.requestTimeoutMs = -1;
  expect(server.effectiveMaxQueuedApplicationJobs).toBe(7);
  expect(server.query.inboundDispatch()).toEqual({ permitsInUse: 0, max: 7, flow: 'RUNNING' });
});

test('[CALL-005] calls are refused before the start, and once the host has ended', async () => {
  const host = makeHost();
  host.addClientServerChannel(CHANNEL).client().connect('tcp://127.0.0.1:7200');
  const kinds = async (): Promise<string[]> => {
    const calls = [host.routeClient.sendToChannel(CHANNEL, Notice(1)).submit(), ask(host, 1)];
    return (await Promise.all(calls.map(rejection))).map(({ kind }) => kind);
  };
  expect(await kinds()).toEqual(['InvalidOperation', 'InvalidOperation']);
  const starting = host.start();
  expect(await kinds()).toEqual(['InvalidOperation', 'InvalidOperation']);
  await starting;
  await host.shutdown();
  expect(await kinds()).toEqual(['ShuttingDown', 'ShuttingDown']);
  const never = makeHost();
  await never.shutdown();
  expect((await rejection(ask(never, 1))).kind).toBe('ShuttingDown');
});

test('[HOSTREG-003] a port that is taken fails the start, and the ports bound before it are free again', async () => {
  const taken = await occupyPort();
  const first = await quietPort();
  const host = makeHost();
  host
    .addClientServerChannel('first')
    .server()
    .listen(first)
    .addRequestHandler(Ask, () => 1);
  host
    .addClientServerChannel('second')
    .server()
    .listen(taken.port)
    .addRequestHandler(Ask, () => 2);
  const error = await rejection(host.start());
  expect(error.message).toBe(
    `[AlreadyExists] channel "second" server: address tcp://127.0.0.1:${taken.port} is in use`,
  );
  expect(host.state).toBe('error');
  expect(await isFree(first)).toBe(true);
  expect(host.query.listeners()).toEqual([]);
  await taken.release();
});

test('[C25] a start whose signal has aborted before does nothing', async () => {
  const started: string[] = [];
  const host = makeServer();
  host.addHostedService({ start: async () => void started.push('service'), stop: () => undefined });
  const reason = new Error('changed my mind');
  expect(await thrown(host.start(AbortSignal.abort(reason)))).toBe(reason);
  expect([host.state, host.query.listeners(), started]).toEqual(['error', [], []]);
  await expect(host.shutdown()).resolves.toEqual({ outcome: 'stopped', reason: 'none' });
  expect(host.state).toBe('stopped');
});

test('[C25] an abort while a service starts releases everything that was reached', async () => {
  const port = await quietPort();
  const events: string[] = [];
  const reached = new Gate();
  const host = makeServer({ with: (server) => server.listen(port) });
  host.addHostedService({
    start: async () => void events.push('start 1'),
    requestStop: () => void events.push('requestStop 1'),
    stop: () => void events.push('stop 1'),
  });
  host.addHostedService({
    start: (signal) => {
      events.push('start 2');
      reached.open();
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    },
    stop: () => void events.push('stop 2'),
  });
  const controller = new AbortController();
  const starting = watch(host.start(controller.signal));
  await reached.opened;
  expect(await isFree(port)).toBe(false);
  const reason = new Error('changed my mind');
  controller.abort(reason);
  await until(() => starting.state === 'rejected', 'the start ends');
  expect(starting.value).toBe(reason);
  expect(events).toEqual(['start 1', 'start 2', 'requestStop 1', 'stop 1']);
  expect(host.state).toBe('error');
  expect(await isFree(port)).toBe(true);
});

test('[C25] whenever an abort comes, a service that has started either serves or is stopped again', async () => {
  const ends = new Set<HostState>();
  for (let ticks = 0; ticks < 12; ticks++) {
    const events: string[] = [];
    const controller = new AbortController();
    const host = makeServer();
    host.addHostedService({
      start: async () => {
        events.push('start');
        void afterTicks(ticks).then(() => controller.abort(new Error('changed my mind')));
      },
      stop: () => void events.push('stop'),
    });
    await host.start(controller.signal).catch(() => undefined); // how it ended is in its state
    ends.add(host.state);
    expect([host.state, ...events]).toEqual(
      host.state === 'serving' ? ['serving', 'start'] : ['error', 'start', 'stop'],
    );
  }
  expect([...ends].sort()).toEqual(['error', 'serving']);
});

async function afterTicks(count: number): Promise<void> {
  for (let tick = 0; tick < count; tick++) await Promise.resolve();
}

test('[C25] an abort after the start has no meaning any more', async () => {
  const controller = new AbortController();
  const server = makeServer();
  await server.start(controller.signal);
  controller.abort();
  expect(await ask(await startClient([server]), 'still there')).toBe('still there');
});

test('[C25] a shutdown during the start ends it and waits for what it has reached', async () => {
  const port = await quietPort();
  const states: HostState[] = [];
  const events: string[] = [];
  const reached = new Gate();
  const host = makeServer({ with: (server) => server.listen(port) });
  host.addHostedService({
    start: async () => void states.push(host.state),
    stop: () => void events.push(`stop while ${host.state}`),
  });
  host.addHostedService({
    start: () => {
      reached.open();
      return new Promise(() => undefined); // ignores its signal
    },
    stop: () => undefined,
  });
  const starting = watch(host.start());
  await reached.opened;
  const [first, second] = [host.shutdown(), host.shutdown()];
  expect(host.state).toBe('draining');
  await expect(first).resolves.toEqual({ outcome: 'stopped', reason: 'none' });
  expect(await second).toBe(await first);
  expect(starting.value).toMatchObject({ kind: 'ShuttingDown' });
  expect([states, events, host.state]).toEqual([['starting'], ['stop while draining'], 'stopped']);
  expect(await isFree(port)).toBe(true);
});

test('[C25] a shutdown in the same turn as the start, and one from inside of it', async () => {
  const atOnce = makeServer();
  const starting = watch(atOnce.start());
  await expect(atOnce.shutdown()).resolves.toEqual({ outcome: 'stopped', reason: 'none' });
  expect(starting.value).toMatchObject({ kind: 'ShuttingDown' });

  const inside = makeServer();
  inside.addHostedService({ start: async () => void (await inside.shutdown()), stop: () => undefined });
  expect((await rejection(inside.start())).kind).toBe('ShuttingDown');
  await inside.shutdown();
  expect([atOnce.state, inside.state]).toEqual(['stopped', 'stopped']);
});

test('[C25] a shutdown during the start ends at its deadline, also if a service does not stop', async () => {
  const port = await quietPort();
  const reached = new Gate();
  const host = makeServer({ with: (server) => server.listen(port) });
  host.addHostedService({ start: async () => undefined, stop: () => new Promise(() => undefined) });
  host.addHostedService({
    start: () => {
      reached.open();
      return new Promise(() => undefined);
    },
    stop: () => undefined,
  });
  const starting = watch(host.start());
  await reached.opened;
  const since = performance.now();
  await expect(host.shutdown({ deadlineMs: 100 })).resolves.toEqual({
    outcome: 'forceStopped',
    reason: 'deadlineExceeded',
  });
  expect(performance.now() - since).toBeLessThan(100 + 2_000 + slackMs);
  expect(starting.state).toBe('rejected');
  expect(await isFree(port)).toBe(true);
});

test('[C25] a shutdown before the start needs nothing and forbids the start', async () => {
  const host = makeServer();
  await expect(host.shutdown()).resolves.toEqual({ outcome: 'stopped', reason: 'none' });
  expect(host.state).toBe('stopped');
  expect((await rejection(host.start())).kind).toBe('InvalidOperation');
  expect(host.query.listeners()).toEqual([]);
});

test('[C25] the port of a host that has ended is free at once, for the next host too', async () => {
  const port = await quietPort();
  const server = await startServer({ with: (builder) => builder.listen(port) });
  expect(await isFree(port)).toBe(false);
  await server.shutdown();
  expect(await isFree(port)).toBe(true);
  const next = await startServer({ with: (builder) => builder.listen(port) });
  expect(portOf(endpointOf(next))).toBe(port);
});
