import { getEventListeners } from 'node:events';
import type { ChannelContext } from '@zlink/kernel/dispatch';
import { deadlineOf } from '@zlink/kernel/internal/time';
import { loopTurns, seededRandom, until } from '@zlink/testing';
import { Gate, type Outcome, rejection, watch } from '@zlink/testing/internal';
import { type Cluster, arrangeCluster } from './cluster.ts';
import { CHANNEL, dialingClient, startClient, startServer } from './arrange.ts';
import { Ask, Notice } from './packets.ts';
import type { TestHost } from './test-host.ts';

type Handle = (given: unknown, context: ChannelContext) => unknown;

interface Chain {
  readonly cluster: Cluster;
  readonly a: TestHost;
  readonly b: TestHost;
  readonly c: TestHost;
}

/** A asks B on `billing`, B asks C on `stock` with whatever `atB` makes of it. */
async function arrangeChain(atB: (stock: TestHost) => Handle, atC: Handle): Promise<Chain> {
  const cluster = arrangeCluster();
  const c = cluster.host('c');
  c.channel('stock').server().addRequestHandler(Ask, atC);
  await c.start();
  const b = cluster.host('b');
  b.channel('stock')
    .client()
    .connect(c.channel('stock').endpoint ?? '');
  b.channel(CHANNEL).server().addRequestHandler(Ask, atB(b));
  await b.start();
  await b.channel('stock').whenReady(1);
  const a = await startClient(cluster, [b], { name: 'a' });
  return { cluster, a, b, c };
}

/** Ends when the signal of its request does, with its reason. */
function untilAborted({ signal }: ChannelContext): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}

test('[C12] [CALL-002] an abort of the caller reaches every handler down the line, with a reason', async () => {
  const signals: AbortSignal[] = [];
  const { a, b, c } = await arrangeChain(
    (stock) =>
      async (given, { signal }) => {
        signals.push(signal);
        return stock.request('stock', Ask(given)).submit(signal);
      },
    (_, context) => {
      signals.push(context.signal);
      return untilAborted(context);
    },
  );
  const controller = new AbortController();
  const outcome = watch(a.request(CHANNEL, Ask(1)).submit(controller.signal));
  await until(() => signals.length === 2, 'C works');
  expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
  controller.abort('nobody needs it');
  await loopTurns(1);
  expect(outcome).toEqual({ state: 'rejected', value: 'nobody needs it' });
  await loopTurns(8);
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  for (const { reason } of signals) expect(reason).toMatchObject({ kind: 'Unavailable' });
  expect(b.counters(CHANNEL, 'request').dropped).toEqual({ cancelled: 1 });
  expect(c.counters('stock', 'request').dropped).toEqual({ cancelled: 1 });
  expect([...b.unhandled, ...c.unhandled]).toEqual([]); // they did as they were told
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  for (const signal of signals) expect(getEventListeners(signal, 'abort')).toHaveLength(0);
});

test('[C12] the deadline of the caller reaches every handler down the line, though theirs would be later', async () => {
  const signals: AbortSignal[] = [];
  const { cluster, a } = await arrangeChain(
    (stock) =>
      async (given, { signal }) => {
        signals.push(signal);
        return stock.request('stock', Ask(given)).submit(signal);
      },
    (_, context) => {
      signals.push(context.signal);
      return untilAborted(context);
    },
  );
  const outcome = watch(a.request(CHANNEL, Ask(1)).timeoutMs(300).submit());
  await until(() => signals.length === 2, 'C works');
  await cluster.clock.advanceAsync(299);
  expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
  await cluster.clock.advanceAsync(1 + 16);
  expect(outcome.value).toMatchObject({ kind: 'DeadlineExceeded', submitted: true });
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  expect(signals[0]?.reason).toMatchObject({ kind: 'DeadlineExceeded' });
});

test('[C12] in 1,000 of 1,000 runs the last handler has no more time than the caller had left', async () => {
  const random = seededRandom(12);
  const seen: { remainingMs: number; leftMs: number }[] = [];
  let endsAtMs = 0;
  const { cluster, a } = await arrangeChain(
    (stock) =>
      async (given, { signal }) => {
        cluster.clock.stall(Math.floor(random() * 299)); // B works before it asks on
        return stock.request('stock', Ask(given)).submit(signal);
      },
    (given, { signal }) => {
      const nowMs = cluster.clock.nowMs();
      seen.push({ remainingMs: (deadlineOf(signal) ?? Infinity) - nowMs, leftMs: endsAtMs - nowMs });
      return given;
    },
  );
  for (let run = 0; run < 1_000; run++) {
    endsAtMs = cluster.clock.nowMs() + 300;
    const call = a.request(CHANNEL, Ask(run)).timeoutMs(300).submit();
    await expect(call).resolves.toBe(run);
  }
  expect(seen).toHaveLength(1_000);
  expect(seen.filter(({ remainingMs }) => !(remainingMs > 0 && remainingMs <= 300))).toEqual([]);
  expect(seen.filter(({ remainingMs, leftMs }) => remainingMs > leftMs)).toEqual([]);
});

test('[C12] a handler whose time has run out starts nothing any more', async () => {
  const errors: unknown[] = [];
  const { cluster, a, c } = await arrangeChain(
    (stock) =>
      async (given, { signal }) => {
        cluster.clock.stall(300); // no timer had its turn yet
        const error = await rejection(stock.request('stock', Ask(given)).submit(signal));
        errors.push(error);
        throw error;
      },
    () => 'never',
  );
  const outcome = watch(a.request(CHANNEL, Ask(1)).timeoutMs(300).submit());
  await until(() => errors.length === 1, 'B was refused');
  expect(errors[0]).toMatchObject({ kind: 'DeadlineExceeded', submitted: false });
  await cluster.clock.advanceAsync(20);
  expect(outcome.value).toMatchObject({ kind: 'DeadlineExceeded' });
  expect(c.counters('stock', 'request').accepted).toBe(0);
});

test('[C12] aborted before it was written, nothing is sent and no handler runs', async () => {
  const cluster = arrangeCluster();
  const server = await startServer(cluster, 'server', { with: (s) => s.addSendHandler(Notice, () => undefined) });
  const client = await startClient(cluster, [server]);
  const late = await dialingClient(cluster, ['tcp://127.0.0.1:7700'], { name: 'late' });
  const controller = new AbortController();
  const outcomes: Outcome[] = [
    watch(client.request(CHANNEL, Ask(1)).submit(AbortSignal.abort('early'))),
    watch(client.send(CHANNEL, Notice({ text: '' })).submit(AbortSignal.abort('early'))),
    watch(late.request(CHANNEL, Ask(1)).submit(controller.signal)),
    watch(late.send(CHANNEL, Notice({ text: '' })).submit(controller.signal)),
  ];
  controller.abort('early');
  await loopTurns(4);
  expect(outcomes).toEqual(outcomes.map(() => ({ state: 'rejected', value: 'early' })));
  const other = await startServer(cluster, 'other', { port: 7_700 });
  await cluster.clock.advanceAsync(1_000);
  for (const host of [server, other]) expect(host.counters(CHANNEL, 'request').accepted).toBe(0);
  expect(server.counters(CHANNEL, 'send').accepted).toBe(0);
});

test('[C12] a request that still waits in the queue of the server is dropped there and never runs', async () => {
  const cluster = arrangeCluster();
  const gate = new Gate();
  const ran: unknown[] = [];
  const server = await startServer(cluster, 'server', {
    answer: async (given) => {
      ran.push(given);
      await gate.opened;
      return given;
    },
    with: (s) => s.concurrency(1),
  });
  const client = await startClient(cluster, [server]);
  const first = watch(client.request(CHANNEL, Ask('first')).submit());
  const controller = new AbortController();
  const second = watch(client.request(CHANNEL, Ask('second')).submit(controller.signal));
  await until(() => server.counters(CHANNEL, 'request').queued === 1, 'the second one waits');
  controller.abort('enough');
  await loopTurns(8);
  expect(second).toEqual({ state: 'rejected', value: 'enough' });
  expect(server.counters(CHANNEL, 'request')).toMatchObject({ queued: 0, dropped: { cancelled: 1 } });
  gate.open();
  await loopTurns(8);
  expect(first.value).toBe('first');
  expect(ran).toEqual(['first']);
});

test('[C12] an abort after the reply is no error and finds no listener', async () => {
  const cluster = arrangeCluster();
  let signal: AbortSignal | undefined;
  const server = await startServer(cluster, 'server', { answer: (_, context) => ((signal = context.signal), 'done') });
  const client = await startClient(cluster, [server]);
  const controller = new AbortController();
  await expect(client.request(CHANNEL, Ask(1)).submit(controller.signal)).resolves.toBe('done');
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  controller.abort('enough');
  await loopTurns(8);
  expect(signal?.aborted).toBe(false);
  expect(server.counters(CHANNEL, 'request')).toMatchObject({ handled: 1, dropped: {} });
});

test('[CALL-002] a handler may start many calls with its signal: one listener, none when they have ended', async () => {
  const counts: number[] = [];
  const { a } = await arrangeChain(
    (stock) =>
      async (_, { signal }) => {
        const listeners = (): number => getEventListeners(signal, 'abort').length;
        const calls = Array.from({ length: 50 }, (__, i) => stock.request('stock', Ask(i)).submit(signal));
        counts.push(listeners());
        const answers = await Promise.all(calls);
        counts.push(listeners());
        return answers.length;
      },
    (given) => given,
  );
  await expect(a.request(CHANNEL, Ask(1)).submit()).resolves.toBe(50);
  expect(counts).toEqual([1, 0]);
});
