import { loopTurns, until } from '@zlink/testing';
import { Gate } from '@zlink/testing/internal';
import { accepted, ask, counters, makeHost, patientMs, startClient, startPair, startServer } from './hosts.ts';
import { watch } from './outcome.ts';
import { Ask, CHANNEL, Notice } from './packets.ts';

test('[JOBQ-004] a permit is held while a message waits and returned before its handler’s first instruction', async () => {
  const gate = new Gate();
  const inHandler: unknown[] = [];
  const { server, client } = await startPair({
    options: { inboundDispatch: { maxQueuedApplicationJobs: 10 } },
    answer: async (asked) => {
      inHandler.push(server.query.inboundDispatch().permitsInUse);
      await gate.opened;
      inHandler.push(server.query.inboundDispatch().permitsInUse); // no permit for what continues
      return asked;
    },
    with: (builder) => builder.concurrency(2),
  });
  const calls = [1, 2, 3, 4, 5].map((value) => ask(client, value));
  await accepted(server, 'request', 5);
  expect(server.query.inboundDispatch()).toEqual({ permitsInUse: 3, max: 10, flow: 'RUNNING' });
  expect(counters(server, 'request')).toMatchObject({ running: 2, queued: 3 });
  gate.open();
  expect(await Promise.all(calls)).toEqual([1, 2, 3, 4, 5]);
  expect(server.query.inboundDispatch().permitsInUse).toBe(0);
  // Five began, each without its own permit: of those that came together, the later ones still held theirs.
  expect(inHandler).toHaveLength(10);
  for (const permits of inHandler) expect(permits).toBeLessThanOrEqual(4);
});

test('[JOBQ-005] with one permit one message waits at the handler, the next ones outside, and all are handled in order', async () => {
  const gate = new Gate();
  const handled: unknown[] = [];
  const { server, client } = await startPair({
    options: { inboundDispatch: { maxQueuedApplicationJobs: 1 } },
    answer: async (asked) => {
      await gate.opened;
      handled.push(asked);
      return asked;
    },
    with: (builder) => builder.concurrency(1),
  });
  const dispatch = () => server.query.inboundDispatch();
  expect(dispatch()).toEqual({ permitsInUse: 0, max: 1, flow: 'RUNNING' });
  const first = ask(client, 0);
  await until(() => counters(server, 'request').running === 1, 'the first runs');
  expect(dispatch()).toEqual({ permitsInUse: 0, max: 1, flow: 'RUNNING' });

  const later = Array.from({ length: 20 }, (_, at) => ask(client, at + 1));
  await until(() => dispatch().permitsInUse === 1, 'the second waits');
  expect(dispatch()).toEqual({ permitsInUse: 1, max: 1, flow: 'PAUSED' });
  const other = await startClient([server]); // control records go on
  const otherCall = watch(ask(other, 'other'));
  await loopTurns(20);
  expect(dispatch()).toEqual({ permitsInUse: 1, max: 1, flow: 'PAUSED' });
  expect(counters(server, 'request')).toMatchObject({ accepted: 2, running: 1, queued: 1 });

  gate.open();
  await Promise.all([first, ...later]);
  await until(() => otherCall.state === 'resolved', 'the other client is served');
  const own = handled.filter((asked) => asked !== 'other');
  expect(own).toEqual(Array.from({ length: 21 }, (_, at) => at));
  expect(dispatch()).toEqual({ permitsInUse: 0, max: 1, flow: 'RUNNING' });
});

test('[JOBQ-005] receiving pauses and resumes at the thresholds', async () => {
  const gates: Gate[] = [];
  const { server, client } = await startPair({
    options: {
      inboundDispatch: { maxQueuedApplicationJobs: 10, pauseThresholdPercent: 75, resumeThresholdPercent: 35 },
    },
    answer: (asked) => {
      const gate = new Gate();
      gates.push(gate);
      return gate.opened.then(() => asked);
    },
    with: (builder) => builder.concurrency(1),
  });
  const dispatch = () => server.query.inboundDispatch();
  const calls: Promise<unknown>[] = [];
  const add = async (count: number): Promise<void> => {
    for (let at = 0; at < count; at++) calls.push(ask(client, calls.length));
    await accepted(server, 'request', calls.length);
  };
  await add(1 + 7);
  expect(dispatch()).toEqual({ permitsInUse: 7, max: 10, flow: 'RUNNING' });
  await add(1); // ceil(10 × 75 %) = 8
  expect(dispatch()).toEqual({ permitsInUse: 8, max: 10, flow: 'PAUSED' });
  const flows: string[] = [];
  for (let done = 0; done < calls.length; done++) {
    await until(() => gates.length > done, 'the next handler runs');
    const { permitsInUse, flow } = dispatch();
    flows.push(`${permitsInUse} ${flow}`);
    gates[done]?.open();
  }
  expect(flows).toEqual([
    '8 PAUSED',
    '7 PAUSED',
    '6 PAUSED',
    '5 PAUSED',
    '4 PAUSED',
    '3 RUNNING', // floor(10 × 35 %)
    '2 RUNNING',
    '1 RUNNING',
    '0 RUNNING',
  ]);
  expect(await Promise.all(calls)).toEqual(calls.map((_, at) => at));
});

test('[JOBQ-005] a server that is full fills its clients’ windows: their sends wait, and none is lost', async () => {
  const gate = new Gate();
  let handled = 0;
  const server = await startServer({
    options: { inboundDispatch: { maxQueuedApplicationJobs: 1, coreHwmProfile: 'compact' } },
    with: (builder) =>
      builder.concurrency(1).addSendHandler(Notice, async () => {
        await gate.opened;
        handled++;
      }),
  });
  const client = await startClient([server], { with: (builder) => builder.setSendTimeoutMs(patientMs) });
  const payload = 'x'.repeat(30_000);
  const sends = Array.from({ length: 60 }, () =>
    watch(client.routeClient.sendToChannel(CHANNEL, Notice(payload)).submit()),
  );
  await until(() => server.query.inboundDispatch().flow === 'PAUSED', 'the server pauses');
  await loopTurns(50);
  const waiting = sends.filter(({ state }) => state === 'pending').length;
  // The window of the profile is 256 KiB: some eight or nine of these messages, and what was taken for a permit.
  expect(sends.length - waiting).toBeGreaterThanOrEqual(8);
  expect(sends.length - waiting).toBeLessThanOrEqual(12);
  gate.open();
  await until(() => handled === 60, 'all are handled');
  expect(sends.filter(({ state }) => state === 'resolved')).toHaveLength(60);
  expect(counters(server, 'send')).toMatchObject({ accepted: 60, handled: 60, failed: 0, dropped: {} });
});

test('[JOBQ-005] a send that finds no room in time ends DeadlineExceeded, and the others are not touched', async () => {
  const gate = new Gate();
  const server = await startServer({
    options: { inboundDispatch: { maxQueuedApplicationJobs: 1, coreHwmProfile: 'compact' } },
    with: (builder) => builder.concurrency(1).addSendHandler(Notice, () => gate.opened),
  });
  const client = await startClient([server], { with: (builder) => builder.setSendTimeoutMs(200) });
  const sends = Array.from({ length: 30 }, () =>
    watch(client.routeClient.sendToChannel(CHANNEL, Notice('x'.repeat(30_000))).submit()),
  );
  await until(() => sends.every(({ state }) => state !== 'pending'), 'all sends end');
  const refused = sends.filter(({ state }) => state === 'rejected');
  for (const { value } of refused) expect(value).toMatchObject({ kind: 'DeadlineExceeded', submitted: false });
  expect(refused.length).toBeGreaterThan(10);
  gate.open();
  const took = sends.length - refused.length;
  await until(() => counters(server, 'send').handled === took, 'what was accepted is handled');
  expect(counters(server, 'send').accepted).toBe(took);
});

test('[JOBQ-009] [CORE-015] a reply waits while its host is paused, and then needs no permit', async () => {
  const gate = new Gate();
  const stock = makeHost();
  stock
    .addClientServerChannel('stock')
    .server()
    .addRequestHandler(Ask, () => 'in stock');
  await stock.start();
  const host = makeHost({ inboundDispatch: { maxQueuedApplicationJobs: 1 } });
  host
    .addClientServerChannel('stock')
    .client()
    .connect(stock.clientServerChannel('stock').endpoint ?? '');
  host
    .addClientServerChannel(CHANNEL)
    .server()
    .concurrency(1)
    .addRequestHandler(Ask, () => gate.opened);
  await host.start();
  const caller = await startClient([host]);
  await host.clientServerChannel('stock').whenReady(1);

  const held = [1, 2, 3].map((value) => ask(caller, value));
  await until(() => host.query.inboundDispatch().flow === 'PAUSED', 'the host has no permit left');
  const reply = watch(host.routeClient.requestToChannel('stock', Ask(1)).submit());
  await until(() => stock.query.counters().some(({ handled }) => handled === 1), 'the reply is on its way');
  await ask(await startClient([await startServer()]), 'a round trip later');
  expect([reply.state, host.query.inboundDispatch().permitsInUse]).toEqual(['pending', 1]);
  gate.open();
  await until(() => reply.state === 'resolved', 'the reply is delivered');
  expect(reply.value).toBe('in stock');
  await Promise.all(held);
  expect(host.query.inboundDispatch()).toEqual({ permitsInUse: 0, max: 1, flow: 'RUNNING' });
});
