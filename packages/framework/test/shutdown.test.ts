import type { Host } from '@zlink/framework';
import { hostSections, Shutdown, type Topic } from '@zlink/kernel/internal/host';
import { DescriptorState } from '@zlink/kernel/internal/wire';
import { HostedServices } from '@zlink/kernel/lifecycle';
import { loopTurns, until } from '@zlink/testing';
import { Gate, isFree, quietPort } from '@zlink/testing/internal';
import { resolveHostOptions } from '../src/options/host-options.ts';
import { wire } from '../src/wiring.ts';
import { CodecRegistry } from '@zlink/kernel/codec';
import { Problems } from '@zlink/kernel/errors';
import { StatusBoard } from '@zlink/kernel/observe';
import {
  accepted,
  ask,
  counters,
  endpointOf,
  makeHost,
  NOBODY,
  patientMs,
  slackMs,
  startClient,
  startPair,
  startServer,
} from './hosts.ts';
import { LogRecorder } from './log-recorder.ts';
import { rejection, thrown, watch } from './outcome.ts';
import { Ask, CHANNEL, Never, Notice } from './packets.ts';
import { connectUnrouted } from './unrouted-client.ts';

/** Of a host that shows nothing but its parts. */
const board = new StatusBoard({
  sections: () =>
    hostSections(
      {
        state: 'serving',
        lifecycleGeneration: 1n,
        diagnosticsLevel: 'errors',
        deadline: undefined,
        shutdownResult: undefined,
      },
      [],
      undefined,
    ),
  lifecycleGeneration: () => 1n,
  date: () => new Date(),
});
const noStores = { location: undefined, relocation: undefined };
const stopped = { outcome: 'stopped', reason: 'none' };
const late = { outcome: 'forceStopped', reason: 'deadlineExceeded' };

test('[CS-008] what was accepted ends and is answered, what comes later is refused', async () => {
  const gate = new Gate();
  const handled: unknown[] = [];
  const port = await quietPort();
  const { server, client } = await startPair({
    answer: async (asked) => {
      await gate.opened;
      handled.push(asked);
      return `answer to ${String(asked)}`;
    },
    with: (builder) =>
      builder.listen(port).addSendHandler(Notice, (sent) => gate.opened.then(() => void handled.push(sent))),
  });
  const crossing = await connectUnrouted(endpointOf(server));
  const answer = ask(client, 'request');
  await client.routeClient.sendToChannel(CHANNEL, Notice('send')).submit();
  await accepted(server, 'request', 1);
  await accepted(server, 'send', 1);

  const down = watch(server.shutdown());
  expect(server.state).toBe('draining');
  await until(() => crossing.serverState === DescriptorState.draining, 'clients hear of the drain');
  expect((await rejection(crossing.request(Ask('crossing')))).kind).toBe('Rejected');
  await crossing.send(Notice('crossing'));
  await until(() => counters(server, 'send').accepted === 2, 'the crossing send is counted');
  await until(
    () => client.clientServerChannel(CHANNEL).servers()[0]?.draining === true,
    'this client hears of it, too',
  );
  expect((await rejection(client.routeClient.requestToChannel(CHANNEL, Ask(1)).timeoutMs(20).submit())).kind).toBe(
    'NotFound',
  );
  expect(down.state).toBe('pending');

  gate.open();
  await until(() => down.state !== 'pending', 'the server ends');
  expect(down.value).toEqual(stopped);
  expect(await answer).toBe('answer to request');
  expect(handled.sort()).toEqual(['request', 'send']);
  expect(server.state).toBe('stopped');
  expect(await isFree(port)).toBe(true);
});

test('[CALL-005] while a host ends, its own new calls are ShuttingDown, those of its handlers go on', async () => {
  const gate = new Gate();
  const downstream = await startServer({ answer: (asked) => `stock of ${String(asked)}` });
  const results: unknown[] = [];
  const host = makeHost();
  host.addClientServerChannel(CHANNEL).client().connect(endpointOf(downstream));
  host
    .addClientServerChannel('shop')
    .server()
    .addRequestHandler(Ask, async (asked, { signal }) => {
      await gate.opened;
      results.push(await thrown(ask(host, asked))); // not known as a part of this handler's work
      return ask(host, asked, signal);
    });
  await host.start();
  await host.clientServerChannel(CHANNEL).whenReady(1);
  const client = makeHost();
  client
    .addClientServerChannel('shop')
    .client()
    .connect(host.clientServerChannel('shop').endpoint ?? '');
  await client.start();
  const answer = client.routeClient.requestToChannel('shop', Ask('apples')).submit();
  await until(() => host.query.counters().some(({ running }) => running === 1), 'the handler runs');

  const down = host.shutdown();
  const refused = await rejection(ask(host, 'pears'));
  expect(refused).toMatchObject({ kind: 'ShuttingDown', submitted: false });
  expect((await rejection(host.routeClient.sendToChannel(CHANNEL, Notice(1)).submit())).kind).toBe('ShuttingDown');
  gate.open();
  expect(await answer).toBe('stock of apples');
  expect(results).toMatchObject([{ kind: 'ShuttingDown' }]);
  expect(await down).toEqual(stopped);
});

test('[CALL-005] [C09] calls of a host that wait for a target or a reply end ShuttingDown with it', async () => {
  const gate = new Gate();
  const { server, client } = await startPair({ answer: () => gate.opened });
  const submitted = watch(ask(client, 1));
  await accepted(server, 'request', 1);
  const lonely = makeHost({ sendTimeoutMs: patientMs });
  lonely.addClientServerChannel(CHANNEL).client().connect(NOBODY);
  await lonely.start();
  const waiting = [
    watch(ask(lonely, 1)),
    watch(lonely.routeClient.sendToChannel(CHANNEL, Notice(1)).submit()),
    watch(lonely.clientServerChannel(CHANNEL).whenReady(1)),
  ];
  await loopTurns(2);
  expect([submitted, ...waiting].map(({ state }) => state)).toEqual(Array(4).fill('pending'));
  await Promise.all([client.shutdown(), lonely.shutdown()]);
  expect(submitted.value).toMatchObject({ kind: 'ShuttingDown', submitted: true });
  for (const { value } of waiting) expect(value).toMatchObject({ kind: 'ShuttingDown', submitted: false });
  gate.open();
});

test('[CALL-005] sends that wait for room end ShuttingDown with their host', async () => {
  const gate = new Gate();
  const server = await startServer({
    options: { inboundDispatch: { maxQueuedApplicationJobs: 1, coreHwmProfile: 'compact' } },
    with: (builder) => builder.concurrency(1).addSendHandler(Notice, () => gate.opened),
  });
  const client = await startClient([server], { with: (builder) => builder.setSendTimeoutMs(patientMs) });
  const sends = Array.from({ length: 30 }, () =>
    watch(client.routeClient.sendToChannel(CHANNEL, Notice('x'.repeat(30_000))).submit()),
  );
  await until(() => sends.some(({ state }) => state === 'resolved'), 'some are accepted');
  expect(sends.at(-1)?.state).toBe('pending');
  const down = client.shutdown();
  gate.open();
  await down;
  const refused = sends.filter(({ state }) => state === 'rejected');
  expect(refused.length).toBeGreaterThan(10);
  for (const { value } of refused) expect(value).toMatchObject({ kind: 'ShuttingDown', submitted: false });
  expect(sends.filter(({ state }) => state === 'pending')).toEqual([]);
});

test('[C25] a handler that never ends is given up at the deadline: its signal aborts, its caller is told', async () => {
  const signals: AbortSignal[] = [];
  const port = await quietPort();
  const { server, client } = await startPair({ with: (builder) => builder.listen(port).addRequestHandler(Never, (_, { signal }) => {
    signals.push(signal);
    return new Promise(() => undefined);
  }) }); // prettier-ignore
  const outcome = watch(client.routeClient.requestToChannel(CHANNEL, Never(1)).submit());
  await accepted(server, 'request', 1);
  const since = performance.now();
  expect(await server.shutdown({ deadlineMs: 200 })).toEqual(late);
  const tookMs = performance.now() - since;
  expect(tookMs).toBeGreaterThanOrEqual(199);
  expect(tookMs).toBeLessThan(200 + 2_000 + slackMs);
  expect(signals[0]?.aborted).toBe(true);
  await until(() => outcome.state === 'rejected', 'the caller hears of it');
  expect(outcome.value).toMatchObject({ kind: 'ShuttingDown', submitted: true });
  expect(server.state).toBe('stopped');
  expect(await isFree(port)).toBe(true);
});

test('[C25] messages that still wait for a handler at the deadline are given up too', async () => {
  const { server, client } = await startPair({
    answer: () => new Promise(() => undefined),
    with: (builder) => builder.concurrency(1),
  });
  const calls = [1, 2, 3].map((value) => watch(ask(client, value)));
  await accepted(server, 'request', 3);
  expect(counters(server, 'request')).toMatchObject({ running: 1, queued: 2 });
  expect(await server.shutdown({ deadlineMs: 50 })).toEqual(late);
  await until(() => calls.every(({ state }) => state === 'rejected'), 'the callers hear of it');
  for (const { value } of calls) expect(value).toMatchObject({ kind: 'ShuttingDown', submitted: true });
  expect(counters(server, 'request').queued).toBe(0);
});

test.each(['requestStop', 'stop'] as const)(
  '[C25] a service whose %s never ends is given up at the deadline',
  async (stage) => {
    const events: string[] = [];
    const host = makeHost();
    host.addHostedService({ start: async () => undefined, stop: () => void events.push('stop of the other') });
    host.addHostedService({
      start: async () => undefined,
      stop: () => undefined,
      [stage]: () => new Promise<void>(() => undefined),
    });
    await host.start();
    const since = performance.now();
    expect(await host.shutdown({ deadlineMs: 100 })).toEqual(late);
    expect(performance.now() - since).toBeLessThan(100 + 2_000 + slackMs);
    expect([events, host.state]).toEqual([['stop of the other'], 'stopped']);
  },
);

test('[C25] the deadline comes from the options where the call gives none', async () => {
  const host = makeHost({ shutdownDeadlineMs: 50 });
  host.addHostedService({ start: async () => undefined, stop: () => new Promise(() => undefined) });
  await host.start();
  expect(await host.shutdown()).toEqual(late);
});

test('[C25] all callers share one result, and the first deadline counts', async () => {
  const gate = new Gate();
  const { server, client } = await startPair({ answer: () => gate.opened });
  const answer = ask(client, 1);
  await accepted(server, 'request', 1);
  const calls = [
    server.shutdown({ deadlineMs: 60_000 }),
    server.shutdown({ deadlineMs: 1 }),
    server[Symbol.asyncDispose](),
  ];
  gate.open();
  const [first, second, disposed] = await Promise.all(calls);
  expect(first).toEqual(stopped);
  expect(second).toBe(first);
  expect(disposed).toBeUndefined();
  expect(await server.shutdown({ deadlineMs: 1 })).toBe(first);
  await answer;
});

test('[C25] the signal of a shutdown ends that caller’s waiting and nothing else', async () => {
  const gate = new Gate();
  const { server, client } = await startPair({ answer: () => gate.opened.then(() => 'in time') });
  const answer = ask(client, 1);
  await accepted(server, 'request', 1);
  const controller = new AbortController();
  const impatient = watch(server.shutdown({ signal: controller.signal }));
  const patient = watch(server.shutdown());
  const reason = new Error('no time');
  controller.abort(reason);
  await until(() => impatient.state === 'rejected', 'the waiting ends');
  expect(impatient.value).toBe(reason);
  expect([patient.state, server.state]).toEqual(['pending', 'draining']);
  gate.open();
  expect(await answer).toBe('in time');
  await until(() => patient.state === 'resolved', 'the shutdown ends');
  expect(patient.value).toEqual(stopped);
});

test.each([0, -1, 1.5, NaN, Infinity, 2_147_483_648, '100'])(
  '[C25] deadline %p is refused and nothing ends',
  async (value) => {
    const server = await startServer();
    expect((await rejection(server.shutdown({ deadlineMs: value as number }))).message).toMatch(
      /^\[InvalidOperation\] deadlineMs: .* is not allowed, allowed: integer 1\.\.2147483647$/,
    );
    expect(server.state).toBe('serving');
  },
);

test('[C25] a host leaves with the block that uses it', async () => {
  const used: Host[] = [];
  {
    await using server = await startServer();
    await using client = await startClient([server]);
    used.push(server, client);
    expect(await ask(client, 'inside')).toBe('inside');
  }
  expect(used.map(({ state }) => state)).toEqual(['stopped', 'stopped']);
});

test('[CS-008] a manual client forgets a server that ends and finds the one that comes after it', async () => {
  const port = await quietPort();
  const first = await startServer({ answer: () => 'first', with: (builder) => builder.listen(port) });
  const client = await startClient([first], { options: { sendTimeoutMs: patientMs } });
  const channel = client.clientServerChannel(CHANNEL);
  expect(await ask(client, 1)).toBe('first');
  await first.shutdown();
  await until(() => channel.servers()[0]?.state !== 'ready', 'the client knows');
  await startServer({ answer: () => 'second', with: (builder) => builder.listen(port) });
  expect(await ask(client, 2)).toBe('second'); // waits for a first target
});

test('[CORE-011] what cannot be freed makes the result teardownFailed, and everything else is freed', async () => {
  const log = new LogRecorder();
  const problems = new Problems();
  const options = resolveHostOptions({ logger: log }, problems);
  const description = { options, stores: noStores, codecs: new CodecRegistry().freeze(problems), filters: [] };
  const wiring = wire(description, board, () => []);
  const closed: string[] = [];
  const topic = (name: string, close: () => Promise<void>): Topic => ({
    validate: () => undefined,
    open: async () => undefined,
    announce: async () => undefined,
    serve: () => undefined,
    drain: () => undefined,
    drained: async () => undefined,
    abort: () => undefined,
    close: () => {
      closed.push(name);
      return close();
    },
    listeners: () => [],
    fail: () => undefined,
    counters: () => [],
    showIn: () => undefined,
  });
  const topics = [
    topic('a', async () => undefined),
    topic('b', () => Promise.reject(new Error('socket is stuck'))),
    topic('c', async () => undefined),
  ];
  const services = new HostedServices([], { onStarting: () => undefined, onStopFailed: () => undefined });
  const result = await new Shutdown(topics, services, wiring, 1_000).run();
  expect(result).toEqual({ outcome: 'forceStopped', reason: 'teardownFailed' });
  expect(closed).toEqual(['a', 'b', 'c']);
  expect(log.of('zlink.runtime.teardown_failed')).toMatchObject([{ error: 'socket is stuck' }]);
});

test('[C06] [CORE-011] what the log of a host holds back is written when the host has freed everything', async () => {
  const log = new LogRecorder();
  const problems = new Problems();
  const options = resolveHostOptions({ logger: log }, problems);
  const description = { options, stores: noStores, codecs: new CodecRegistry().freeze(problems), filters: [] };
  const wiring = wire(description, board, () => []);
  for (let round = 0; round < 3; round++) {
    wiring.parts.log.warn('test', { eventId: 'test.often' });
    wiring.parts.onUnhandled(new Error('no'), { where: 'here' });
  }
  await wiring.close();
  expect(log.of('test.often')).toEqual([{ eventId: 'test.often' }, { eventId: 'test.often', suppressed: 2 }]);
  expect(log.of('zlink.runtime.unhandled_error')).toMatchObject([{ where: 'here' }, { suppressed: 2 }]);
});

test('[DRAIN-007] who shuts down from a logger that hears of the shutdown shares its result', async () => {
  const inner: Promise<unknown>[] = [];
  const again = (record: object): void => {
    if ('state' in record && record.state === 'draining') inner.push(server.shutdown());
  };
  const server: Host = await startServer({
    options: { logger: { debug: again, info: again, warn: again, error: again } },
  });
  const outer = server.shutdown();
  expect(inner).toHaveLength(1);
  expect([await outer, await inner[0]]).toEqual([stopped, stopped]);
});
