/** Hosts against a server in a process of its own. */
import { isZLinkError, message, request } from '@zlink/framework';
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
const Who = request<null, string>('stall.who');
const Endless = request<null, null>('stall.endless');

async function startServer(...args: string[]): Promise<{
  readonly server: Child;
  readonly endpoint: string;
  readonly signals: unknown;
}> {
  const server = startChild('server.mjs', ...args);
  const { endpoint, signals } = await server.event('ready');
  return { server, endpoint: String(endpoint), signals };
}

async function startClient(...endpoints: string[]): Promise<Host> {
  const client = makeHost();
  const role = client.addClientServerChannel(CHANNEL).client();
  for (const endpoint of endpoints) role.connect(endpoint);
  await client.start();
  await client.clientServerChannel(CHANNEL).whenReady(endpoints.length);
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
  const long = (): LogRecord[] => stallsOf(server).filter(({ stalledMs }) => Number(stalledMs) > blockedMs - 1_000);
  await until(() => long().length > 0, 'the stall is logged');
  expect(long()).toMatchObject([
    { level: 'warn', lastHandler: { owner: CHANNEL, packetName: 'stall.block' } }, // and none of those that came after it
  ]);
  server.signal('SIGTERM');
  expect((await server.ended).code).toBe(0);
}, 120_000);

test('[C16] the handler that blocked the event loop is named in the log, with the time it took', async () => {
  const sinceMs = performance.now();
  const { server, endpoint } = await startServer();
  const client = await startClient(endpoint);
  await client.routeClient.requestToChannel(CHANNEL, Echo(1)).submit();
  await client.routeClient.requestToChannel(CHANNEL, Block(1_700)).submit();
  // A machine that had no time for the process makes stalls of others, or of nobody, beside it.
  const named = (): LogRecord[] =>
    stallsOf(server).filter(
      ({ lastHandler }) => (lastHandler as LogRecord | undefined)?.['packetName'] === 'stall.block',
    );
  await until(() => named().length > 0, 'the stall is logged');
  const [stall, ...others] = named();
  expect(others).toEqual([]);
  expect(stall).toMatchObject({ level: 'warn', lastHandler: { owner: CHANNEL, packetName: 'stall.block' } });
  expect(stall?.['stalledMs']).toBeGreaterThanOrEqual(1_000);
  expect(stall?.['stalledMs']).toBeLessThanOrEqual(performance.now() - sinceMs);
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

test('[C20] [CS-008] two SIGTERMs, with 20 calls in hand and 200 in line: none fails, new ones go elsewhere, the process is over', async () => {
  const [a, b] = [await startServer('a', '20', '60000', '221'), await startServer('b')];
  const busy = await startClient(a.endpoint);
  const client = await startClient(a.endpoint, b.endpoint);
  const who = (): Promise<string> => client.routeClient.requestToChannel(CHANNEL, Who(null)).submit();
  const calls = Array.from({ length: 220 }, () => busy.routeClient.requestToChannel(CHANNEL, Slow(300)).submit());
  const results = Promise.all(calls);
  await busy.routeClient.sendToChannel(CHANNEL, Notice(1)).submit();
  await a.server.event('busy');

  a.server.signal('SIGTERM');
  await a.server.event('draining');
  a.server.signal('SIGTERM');
  /** Whether the client has heard of it; later it is not connected any more. */
  const isTold = (): boolean => {
    const status = client.clientServerChannel(CHANNEL).servers()[0];
    return status?.draining === true || status?.state !== 'ready';
  };
  let refusals = 0;
  /** One that crosses the word of the drain has not run and may be asked again. */
  const refused = (error: unknown): string => {
    if (!isZLinkError(error) || error.kind !== 'Rejected') return String(error);
    refusals++;
    return 'a';
  };
  const before = new Set<string>();
  const afterwards = new Set<string>();
  const down = watch(a.server.event('down'));
  while (down.state === 'pending' || afterwards.size === 0) {
    const answers = isTold() ? afterwards : before;
    answers.add(await who().catch(refused));
  }
  expect([...before].filter((by) => by !== 'a' && by !== 'b')).toEqual([]);
  expect([...afterwards]).toEqual(['b']);
  expect(refusals).toBeLessThan(3); // the word leaves before the first of them
  expect(await results).toEqual(calls.map(() => 'finished'));
  const said = await a.server.event('down');
  expect(said).toMatchObject({ result: { outcome: 'stopped', reason: 'none' }, handled: { slow: 220, notice: 1 } });
  expect(said['resources']).toEqual([]);
  const end = await a.server.ended;
  expect([end.code, end.signal]).toEqual([0, null]);
  expect(end.atMs - said.atMs).toBeLessThan(exitWithinMs);
});

test('[C20] [DRAIN-006] a handler that never ends is cut at the end of the grace: its caller is told, the process fails and says what it cut', async () => {
  const graceMs = 1_000;
  const { server, endpoint } = await startServer('a', '20', String(graceMs), '22');
  const client = await startClient(endpoint);
  const { routeClient } = client;
  const endless = Array.from({ length: 20 }, () =>
    watch(routeClient.requestToChannel(CHANNEL, Endless(null)).submit()),
  );
  const waiting = watch(routeClient.requestToChannel(CHANNEL, Echo(1)).submit()); // for one of them to end
  await routeClient.sendToChannel(CHANNEL, Notice(1)).submit();
  await server.event('busy');
  server.signal('SIGTERM');
  const down = await server.event('down');
  const end = await server.ended;
  await until(() => [...endless, waiting].every(({ state }) => state !== 'pending'), 'all callers are told');
  for (const { value } of [...endless, waiting]) expect(value).toMatchObject({ kind: 'ShuttingDown' });
  expect(down['result']).toEqual({ outcome: 'forceStopped', reason: 'deadlineExceeded' });
  expect(down['counters']).toMatchObject([
    { verb: 'send', accepted: 1, dropped: { shutdown: 1 } },
    { verb: 'request', accepted: 21, dropped: { shutdown: 1 }, running: 20 },
  ]);
  expect([end.code, end.signal]).toEqual([1, null]);
  expect(down['tookMs']).toBeGreaterThanOrEqual(graceMs - 1); // by its own clock: its words may come late
  expect(down['tookMs']).toBeLessThan(graceMs + exitWithinMs);
  expect(end.atMs - down.atMs).toBeLessThan(exitWithinMs);
});
