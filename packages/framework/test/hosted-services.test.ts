import type { Host, HostedService } from '@zlink/framework';
import { DescriptorState } from '@zlink/kernel/internal/wire';
import { until } from '@zlink/testing';
import { Gate, isFree, quietPort } from '@zlink/testing/internal';
import {
  accepted,
  ask,
  counters,
  endpointOf,
  makeHost,
  makeServer,
  patientMs,
  startClient,
  startDialing,
  startServer,
} from './hosts.ts';
import { LogRecorder } from './log-recorder.ts';
import { rejection, thrown, watch } from './outcome.ts';
import { Ask, CHANNEL, Notice } from './packets.ts';
import { connectUnrouted } from './unrouted-client.ts';

/** A service that writes down when it is called, and in which state of the host. */
function recorded(name: string, host: Host, events: string[], override: Partial<HostedService> = {}): HostedService {
  const note = (stage: string): void => void events.push(`${stage} ${name}, ${host.state}`);
  return {
    start: async (signal) => {
      note('start');
      await override.start?.(signal);
      note('started');
    },
    requestStop: () => {
      note('requestStop');
      return override.requestStop?.();
    },
    stop: () => {
      note('stop');
      return override.stop?.();
    },
  };
}

test('[SVC-001] services start one after another before the host serves, and stop in reverse', async () => {
  const events: string[] = [];
  const host = makeServer();
  for (const name of ['a', 'b', 'c']) host.addHostedService(recorded(name, host, events));
  await host.start();
  expect(events.splice(0)).toEqual([
    'start a, starting',
    'started a, starting',
    'start b, starting',
    'started b, starting',
    'start c, starting',
    'started c, starting',
  ]);
  await host.shutdown();
  expect(events).toEqual([
    'requestStop c, draining',
    'requestStop b, draining',
    'requestStop a, draining',
    'stop c, draining',
    'stop b, draining',
    'stop a, draining',
  ]);
});

test('[SVC-001] stop requests come at the beginning of the end, stops only after accepted work', async () => {
  const events: string[] = [];
  const gate = new Gate();
  const host = makeServer({
    answer: async () => {
      await gate.opened;
      events.push('handler ends');
      return 'done';
    },
  });
  host.addHostedService(recorded('a', host, events));
  await host.start();
  const client = await startClient([host]);
  const answer = ask(client, 1);
  await accepted(host, 'request', 1);
  events.length = 0;
  const down = host.shutdown();
  await until(() => events.length > 0, 'the stop request');
  expect(events).toEqual(['requestStop a, draining']);
  gate.open();
  await down;
  expect(events).toEqual(['requestStop a, draining', 'handler ends', 'stop a, draining']);
  expect(await answer).toBe('done');
});

test('[SVC-001] calls to other hosts work inside the start of a service', async () => {
  const other = await startServer({ answer: (asked) => `${String(asked)} answered` });
  const answers: unknown[] = [];
  const host = makeHost({ sendTimeoutMs: patientMs });
  host.addClientServerChannel(CHANNEL).client().connect(endpointOf(other));
  host.addHostedService({
    start: async (signal) => {
      answers.push(await ask(host, 'from start', signal));
      await host.routeClient.sendToChannel(CHANNEL, Ask('one-way')).submit();
    },
    stop: async () => {
      // The host takes no new calls any more.
      answers.push((await rejection(ask(host, 'from stop'))).kind);
    },
  });
  await host.start();
  expect(answers).toEqual(['from start answered']);
  await host.shutdown();
  expect(answers).toEqual(['from start answered', 'ShuttingDown']);
  await accepted(other, 'send', 1);
});

test('[SVC-001] [CS-004] clients wait for a server that has not served yet', async () => {
  const gate = new Gate();
  const host = makeServer({ answer: () => 'served' });
  host.addHostedService({ start: () => gate.opened, stop: () => undefined });
  const starting = host.start();
  await until(() => host.query.listeners().length === 1, 'the port is bound');
  const client = await startDialing([host], { options: { sendTimeoutMs: patientMs } });
  const channel = client.clientServerChannel(CHANNEL);
  await until(() => channel.servers()[0]?.state === 'admitted', 'the server admits the client');
  const answer = watch(ask(client, 1));
  const ready = watch(channel.whenReady(1));
  await connectUnrouted(endpointOf(host)); // a round trip later
  expect([answer.state, ready.state, counters(host, 'request').accepted]).toEqual(['pending', 'pending', 0]);
  gate.open();
  await starting;
  await until(() => answer.state === 'resolved' && ready.state === 'resolved', 'the waiting call is served');
  expect(answer.value).toBe('served');
});

test('[SVC-001] messages that come before the host serves are refused: requests Unavailable, one-way dropped', async () => {
  const handled: string[] = [];
  const gate = new Gate();
  const host = makeServer({
    answer: () => handled.push('request'),
    with: (server) => server.addSendHandler(Notice, () => void handled.push('send')),
  });
  host.addHostedService({ start: () => gate.opened, stop: () => undefined });
  const starting = host.start();
  await until(() => host.query.listeners().length === 1, 'the port is bound');
  const client = await connectUnrouted(endpointOf(host));
  expect(client.serverState).toBe(DescriptorState.starting);
  await client.send(Notice(1));
  const error = await rejection(client.request(Ask(1)));
  expect(error).toMatchObject({ kind: 'Unavailable', submitted: true });
  expect(handled).toEqual([]);
  for (const verb of ['send', 'request'] as const) {
    const { accepted: taken, dropped } = counters(host, verb);
    expect([taken, Object.values(dropped)]).toEqual([1, [1]]);
  }
  gate.open();
  await starting;
  await until(() => client.serverState === DescriptorState.serving, 'the server serves');
  await client.send(Notice(2));
  await client.request(Ask(2));
  expect(handled).toEqual(['send', 'request']);
});

test('[SVC-001] a service that fails to start fails the host, and what had started stops in reverse', async () => {
  const events: string[] = [];
  const port = await quietPort();
  const log = new LogRecorder();
  const cause = new Error('no database');
  const host = makeServer({ options: { logger: log }, with: (server) => server.listen(port) });
  for (const name of ['a', 'b']) host.addHostedService(recorded(name, host, events));
  host.addHostedService(recorded('c', host, events, { start: () => Promise.reject(cause) }));
  host.addHostedService(recorded('d', host, events));
  const error = await rejection(host.start());
  expect(error).toMatchObject({ kind: 'InternalFailure', cause });
  expect(error.message).toBe('[InternalFailure] hosted service 3 (object) failed to start');
  expect(events).toEqual([
    'start a, starting',
    'started a, starting',
    'start b, starting',
    'started b, starting',
    'start c, starting',
    'requestStop b, starting',
    'requestStop a, starting',
    'stop b, starting',
    'stop a, starting',
  ]);
  expect([host.state, host.query.listeners(), await isFree(port)]).toEqual(['error', [], true]);
  await expect(host.shutdown()).resolves.toEqual({ outcome: 'stopped', reason: 'none' });
  expect(events).toHaveLength(9); // nobody is stopped twice
});

test('[SVC-001] a service that throws at once fails the start like one that rejects', async () => {
  const host = makeHost();
  const start = (): Promise<void> => {
    throw new TypeError('not configured');
  };
  host.addHostedService({ start, stop: () => undefined });
  expect(await thrown(host.start())).toMatchObject({ kind: 'InternalFailure', cause: { message: 'not configured' } });
});

test('[SVC-001] [DISP-004] failing stops are logged and reported, and nobody else misses their own', async () => {
  const events: string[] = [];
  const log = new LogRecorder();
  const reported: [unknown, string][] = [];
  const host = makeHost({ logger: log, onUnhandled: (error, { where }) => void reported.push([error, where]) });
  const [first, second] = [new Error('will not'), new Error('can not')];
  host.addHostedService(recorded('a', host, events));
  host.addHostedService(
    recorded('b', host, events, {
      requestStop: () => {
        throw first;
      },
      stop: () => Promise.reject(second),
    }),
  );
  host.addHostedService(recorded('c', host, events));
  await host.start();
  events.length = 0;
  await expect(host.shutdown()).resolves.toEqual({ outcome: 'stopped', reason: 'none' });
  expect(events.map((event) => event.split(',')[0])).toEqual([
    'requestStop c',
    'requestStop b',
    'requestStop a',
    'stop c',
    'stop b',
    'stop a',
  ]);
  const places = ['requestStop of hosted service 2 (object)', 'stop of hosted service 2 (object)'];
  expect(reported).toEqual([
    [first, places[0]],
    [second, places[1]],
  ]);
  expect(log.of('zlink.runtime.hosted_service_failed')).toEqual([
    expect.objectContaining({ where: places[0], error: 'will not' }),
    expect.objectContaining({ where: places[1], error: 'can not' }),
  ]);
});

test.each<[string, () => void]>([
  [
    'throws',
    () => {
      throw new Error('listener is broken');
    },
  ],
  ['rejects', () => Promise.reject(new Error('listener is broken')) as never], // an async listener fits the contract
])('[SVC-001] [DISP-004] an onUnhandled that %s does not keep the others from stopping', async (_, onUnhandled) => {
  const events: string[] = [];
  const log = new LogRecorder();
  const host = makeHost({ logger: log, onUnhandled });
  host.addHostedService(recorded('a', host, events));
  host.addHostedService(recorded('b', host, events, { stop: () => Promise.reject(new Error('can not')) }));
  await host.start();
  await expect(host.shutdown()).resolves.toEqual({ outcome: 'stopped', reason: 'none' });
  expect(events.at(-1)).toBe('stop a, draining');
  expect(log.of('zlink.runtime.on_unhandled_failed')).toMatchObject([{ error: 'listener is broken' }]);
});

test('[SVC-001] a service without a stop request is only stopped', async () => {
  const stopped = new Gate();
  const host = makeHost();
  host.addHostedService({ start: async () => undefined, stop: () => stopped.open() });
  await host.start();
  await host.shutdown();
  await stopped.opened;
});
