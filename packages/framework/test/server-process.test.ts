/** Hosts against a server in a process of its own. */
import { message, request } from '@zlink/framework';
import { until } from '@zlink/testing';
import { type Child, startChild } from './child.ts';
import { makeHost } from './hosts.ts';
import { rejection, watch } from './outcome.ts';
import type { LogRecord } from './log-recorder.ts';
import type { Host } from '@zlink/framework';

/** On a busy machine. What holds a process holds it for good, or as long as silence: 15 s. */
const exitWithinMs = 10_000;
const CHANNEL = 'stall';
const Block = request<number, number>('stall.block');
const Echo = request<unknown, unknown>('stall.echo');
const Slow = request<number, string>('stall.slow');
const Notice = message<unknown>('stall.notice');

async function startServer(): Promise<{
  readonly server: Child;
  readonly endpoint: string;
  readonly signals: unknown;
}> {
  const server = startChild('server.mjs');
  const { endpoint, signals } = await server.event('ready');
  return { server, endpoint: String(endpoint), signals };
}

async function startClient(endpoint: string): Promise<Host> {
  const client = makeHost();
  client.addClientServerChannel(CHANNEL).client().connect(endpoint);
  await client.start();
  await client.clientServerChannel(CHANNEL).whenReady(1);
  return client;
}

const stallsOf = (server: Child): LogRecord[] =>
  server.stderr
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as LogRecord) // the default logger writes one object per line
    .filter(({ eventId }) => eventId === 'zlink.runtime.event_loop_stalled');

test('[C16] [LIVE-002] a server whose event loop stands still for 4 s loses no link and answers every call', async () => {
  const blockedMs = 4_000;
  const { server, endpoint } = await startServer();
  const client = await startClient(endpoint);
  const { routeClient } = client;
  const states = new Set<string | undefined>();
  const echoes: Promise<unknown>[] = [];
  const blocking = watch(routeClient.requestToChannel(CHANNEL, Block(blockedMs)).submit());
  const isOver = (): boolean => {
    states.add(client.clientServerChannel(CHANNEL).servers()[0]?.state);
    if (echoes.length < 100) echoes.push(routeClient.requestToChannel(CHANNEL, Echo(echoes.length)).submit());
    return blocking.state !== 'pending';
  };
  await until(isOver, 'the blocking call is answered');
  expect(blocking.value).toBe(blockedMs);
  expect(await Promise.all(echoes)).toEqual(echoes.map((_, at) => at));
  expect([...states]).toEqual(['ready']);
  await until(() => stallsOf(server).length > 0, 'the stall is logged');
  expect(stallsOf(server)).toMatchObject([
    { level: 'warn', lastHandler: { owner: CHANNEL, packetName: 'stall.block' } }, // and none of those that came after it
  ]);
  expect(stallsOf(server)[0]?.['stalledMs']).toBeGreaterThan(blockedMs - 1_000);
  server.signal('SIGTERM');
  expect((await server.ended).code).toBe(0);
}, 120_000);

test('[C16] the handler that blocked the event loop is named in the log, with the time it took', async () => {
  const { server, endpoint } = await startServer();
  const client = await startClient(endpoint);
  await client.routeClient.requestToChannel(CHANNEL, Echo(1)).submit();
  await client.routeClient.requestToChannel(CHANNEL, Block(1_700)).submit();
  await until(() => stallsOf(server).length > 0, 'the stall is logged');
  const [stall, ...others] = stallsOf(server);
  expect(others).toEqual([]);
  expect(stall).toMatchObject({ level: 'warn', lastHandler: { owner: CHANNEL, packetName: 'stall.block' } });
  expect(stall?.['stalledMs']).toBeGreaterThanOrEqual(1_000);
  expect(stall?.['stalledMs']).toBeLessThanOrEqual(1_700 + 8_000); // a busy machine is late
});

test('[C25] [CS-008] at SIGTERM an application ends its host: accepted work is done, then the process is over', async () => {
  const { server, endpoint, signals } = await startServer();
  expect(signals).toBe(0); // the host itself listens to no signal
  const client = await startClient(endpoint);
  const { routeClient } = client;
  const slow = Array.from({ length: 20 }, () => routeClient.requestToChannel(CHANNEL, Slow(300)).submit());
  const notices = Array.from({ length: 50 }, (_, at) => routeClient.sendToChannel(CHANNEL, Notice(at)).submit());
  await Promise.all(notices);
  await routeClient.requestToChannel(CHANNEL, Echo(1)).submit(); // all before it has arrived
  server.signal('SIGTERM');
  await server.event('draining');
  expect(await Promise.all(slow)).toEqual(slow.map(() => 'finished'));
  const down = await server.event('down');
  const end = await server.ended;
  expect(down['result']).toEqual({ outcome: 'stopped', reason: 'none' });
  expect(down['handled']).toEqual({ slow: 20, notice: 50 });
  expect(down['resources']).toEqual([]);
  expect([end.code, end.signal]).toEqual([0, null]);
  expect(end.atMs - down.atMs).toBeLessThan(exitWithinMs);
  expect((await rejection(routeClient.requestToChannel(CHANNEL, Echo(2)).timeoutMs(50).submit())).kind).toBe(
    'NotFound',
  );
});
