import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { basename, join } from 'node:path';
import { createHost, type RuntimeSnapshot } from '@zlink/framework';
import { loopTurns, ManualClock, until } from '@zlink/testing';
import { resolveInspectorOptions, type InspectorOptions } from '../src/inspector/inspector-options.ts';
import { createInspector, type Inspector, inspector } from '../src/inspector/inspector.ts';
import type { Inspectable } from '../src/inspector/report-source.ts';
import { REQUEST_WITHIN_MS, TAKEN_WITHIN_MS } from '../src/inspector/viewer.ts';
import { hostLine, readHostLine } from '../src/report/report.ts';
import { requestLine } from '../src/report/request.ts';
import { leaveDead } from './dead-socket.ts';
import { newFolder, surroundingsIn } from './folders.ts';
import { sampleHost, sampleSnapshot } from './sample-host.ts';

let clock: ManualClock;
let folder: string;
let problems: string[];
const inspectors: Inspector[] = [];
const clients: Client[] = [];

beforeEach(() => {
  clock = new ManualClock();
  folder = newFolder();
  problems = [];
});

afterEach(async () => {
  for (const { socket } of clients.splice(0)) socket.destroy();
  for (const each of inspectors.splice(0)) await each.stop();
  expect(clock.pendingTimers).toBe(0);
  expect(readdirSync(folder).filter((name) => name.endsWith('.sock'))).toEqual([]);
});

async function start(host: Inspectable = sampleHost(), options: InspectorOptions = {}): Promise<Inspector> {
  const given = { path: join(folder, 'a.sock'), name: 'billing', ...options };
  const onProblem = ({ message }: Error): void => void problems.push(message);
  const resolved = resolveInspectorOptions({ onProblem, ...given });
  const made = createInspector(host, resolved, surroundingsIn(folder), clock);
  inspectors.push(made);
  await made.start(new AbortController().signal);
  return made;
}

interface Client {
  readonly socket: Socket;
  readonly lines: string[];
  isClosed: boolean;
}

async function lookAt(
  path = join(folder, 'a.sock'),
  request: string | undefined = requestLine(1_000),
): Promise<Client> {
  const socket = connect({ path });
  const client: Client = { socket, lines: [], isClosed: false };
  clients.push(client);
  let rest = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    client.lines.push(...lines);
  });
  socket.once('error', () => undefined).once('close', () => (client.isClosed = true));
  await new Promise((resolve) => socket.once('connect', resolve));
  if (request !== undefined) socket.write(request);
  return client;
}

const closed = (client: Client): Promise<void> => until(() => client.isClosed, 'the connection is closed');
const linesOf = (client: Client, count: number): Promise<void> =>
  until(() => client.lines.length >= count, `${count} lines, has ${client.lines.length}`);

test('[MON-001] a client gets a report at once, and then one per interval', async () => {
  let sequence = 0n;
  await start(sampleHost(() => sampleSnapshot({ sequence: ++sequence })));
  const client = await lookAt(undefined, requestLine(250));
  await linesOf(client, 1);
  for (let count = 2; count <= 4; count++) {
    await clock.advanceAsync(250);
    await linesOf(client, count);
  }
  const reports = client.lines.map((line) => JSON.parse(line) as { uptimeMs: number; snapshot: { sequence: string } });
  expect(reports.map(({ snapshot }) => snapshot.sequence)).toEqual(['1', '2', '3', '4']);
  expect(reports.map(({ uptimeMs }) => uptimeMs)).toEqual([0, 250, 500, 750]);
  expect(reports[0]).toMatchObject({ zlink: 1, kind: 'report', pid: process.pid, name: 'billing' });
});

test('[MON-013] however many look, a host makes no more reports than its time allows', async () => {
  let made = 0;
  const host = sampleHost(() => {
    made++;
    clock.stall(10); // it takes so long
    return sampleSnapshot();
  });
  await start(host);
  const all = await Promise.all(Array.from({ length: 8 }, () => lookAt(undefined, requestLine(100))));
  for (const client of all) await linesOf(client, 1);
  expect(made).toBe(1);
  const beganAtMs = clock.nowMs();
  while (all.some(({ lines }) => lines.length < 10)) await clock.advanceAsync(100);
  expect(made).toBeGreaterThan(2);
  expect(made * 10).toBeLessThanOrEqual((clock.nowMs() - beganAtMs) / 20 + 10);
});

test('[MON-013] a client that does not read gets one report more at most, and is dropped', async () => {
  let made = 0;
  const host = sampleHost(() => {
    made++;
    const routeMeshes = [{ ...sampleSnapshot().routeMeshes[0]!, meshName: 'x'.repeat(4_000_000) }];
    return sampleSnapshot({ routeMeshes });
  });
  await start(host);
  const client = await lookAt(undefined, requestLine(1_000));
  client.socket.pause();
  await until(() => made === 1, 'the first report');
  await loopTurns(50);
  await clock.advanceAsync(TAKEN_WITHIN_MS - 1);
  expect(made).toBe(1);
  await clock.advanceAsync(1);
  expect(clock.pendingTimers).toBe(0);
  client.socket.resume();
  await closed(client);
  expect(client.lines).toEqual([]);
});

test('[C06] whoever does not ask in time, or sends anything else, is dropped, and the others go on', async () => {
  await start();
  const good = await lookAt();
  const garbage = [
    'GET / HTTP/1.1\r\n\r\n',
    '{"zlink":2,"intervalMs":1000}\n',
    '{"zlink":1,"intervalMs":1}\n',
    '\n',
    Buffer.alloc(100_000, 0xff).toString('latin1'),
    `${requestLine(1_000)}${requestLine(1_000)}`,
    `${requestLine(1_000)}${'x'.repeat(300)}`,
    `${' '.repeat(256)}${requestLine(1_000)}`,
  ];
  for (const text of garbage) await closed(await lookAt(undefined, text));
  const late = await lookAt(undefined, requestLine(1_000));
  await linesOf(late, 1);
  late.socket.write('more\n');
  await closed(late);
  const silent = await lookAt(undefined, '{"zlink":1');
  await loopTurns(50);
  await clock.advanceAsync(REQUEST_WITHIN_MS);
  await closed(silent);
  await linesOf(good, 3);
  expect(good.isClosed).toBe(false);
  expect(problems).toEqual([]);
});

test('[MON-013] no more than the allowed number look at a time', async () => {
  await start(sampleHost(), { maxClients: 2 });
  const [first, second] = [await lookAt(), await lookAt()];
  await linesOf(first, 1);
  await linesOf(second, 1);
  const third = await lookAt();
  await closed(third);
  expect(third.lines).toEqual([hostLine('refused', { reason: '2 look at it already' }).trim()]);
  first.socket.destroy();
  await until(() => clock.pendingTimers === 1, 'the first one has left');
  await linesOf(await lookAt(), 1);
});

test('[MON-013] who connects and does not ask takes no place, unless very many do', async () => {
  await start(sampleHost(), { maxClients: 1 });
  const silent: Client[] = [];
  for (let count = 0; count < 64; count++) silent.push(await lookAt(undefined, ''));
  await until(() => clock.pendingTimers === 64, 'all have connected');
  const beyond = await lookAt(undefined, '');
  await closed(beyond);
  expect(beyond.lines).toEqual([hostLine('refused', { reason: '64 have connected and not asked yet' }).trim()]);
  const [asking, late] = silent as [Client, Client];
  asking.socket.write(requestLine(1_000));
  await linesOf(asking, 1);
  late.socket.write(requestLine(1_000));
  await closed(late);
  expect(late.lines).toEqual([hostLine('refused', { reason: '1 look at it already' }).trim()]);
  expect(JSON.parse(asking.lines[0]!)).toMatchObject({ kind: 'report' });
  expect(asking.isClosed).toBe(false);
});

test('[C25] a stop tells all who look, also the one that does not read, and leaves nothing', async () => {
  const large = [{ ...sampleSnapshot().routeMeshes[0]!, meshName: 'x'.repeat(4_000_000) }];
  let routeMeshes: RuntimeSnapshot['routeMeshes'] = [];
  const shown = await start(sampleHost(() => sampleSnapshot({ routeMeshes })));
  const [reader, silent] = [await lookAt(), await lookAt(undefined, '')];
  await linesOf(reader, 1);
  routeMeshes = large;
  await clock.advanceAsync(60);
  const stalled = await lookAt();
  stalled.socket.pause();
  await until(() => clock.pendingTimers === 4, 'its report waits');
  await loopTurns(50);
  expect(shown.path).toBe(join(folder, 'a.sock'));
  const stopped = Promise.resolve(shown.stop());
  await closed(reader);
  await closed(silent);
  expect(reader.lines.at(-1)).toBe('{"zlink":1,"kind":"end"}');
  await clock.advanceAsync(500);
  await stopped;
  expect(shown.path).toBeUndefined();
  expect(clock.pendingTimers).toBe(0);
  expect(readdirSync(folder)).toEqual([]);
});

test('[MON-013] a host that cannot be read is told of, and only who asked is dropped', async () => {
  let isBroken = true;
  const host = sampleHost(() => {
    if (isBroken) throw new Error('no snapshot');
    return sampleSnapshot();
  });
  await start(host);
  await closed(await lookAt());
  expect(problems).toEqual(['zlink-top cannot look at this host: no snapshot']);
  isBroken = false;
  await linesOf(await lookAt(), 1);
});

test('[MON-013] an inspector that cannot listen fails no start, whatever its listener does', async () => {
  writeFileSync(join(folder, 'taken'), '');
  const told = await start(sampleHost(), { path: join(folder, 'taken') });
  expect(told.path).toBeUndefined();
  expect(problems).toEqual([
    `zlink-top cannot look at this host: ${folder}/taken is there, and no socket of this user`,
  ]);
  await start(sampleHost(), {
    path: join(folder, 'taken'),
    onProblem: () => {
      throw new Error('nor can this');
    },
  });
});

test('[MON-013] hosts of one process have sockets of their own, and one that a dead process has left is removed', async () => {
  const alone = { onProblem: ({ message }: Error): void => void problems.push(message) };
  const make = async (): Promise<Inspector> => {
    const made = createInspector(sampleHost(), resolveInspectorOptions(alone), surroundingsIn(folder), clock);
    inspectors.push(made);
    await made.start(new AbortController().signal);
    return made;
  };
  const ours = join(folder, 'zlink-top');
  mkdirSync(ours, { mode: 0o700 });
  await leaveDead(join(ours, '1.sock'));
  await leaveDead(join(ours, `${process.pid}.sock`)); // its process had the same number
  const paths = [(await make()).path, (await make()).path];
  expect(paths).toEqual([join(ours, `${process.pid}.sock`), join(ours, `${process.pid}-2.sock`)]);
  expect(problems).toEqual([]);
  expect(readdirSync(ours).sort()).toEqual(paths.map((path = '') => basename(path)).sort());
  for (const path of paths) await linesOf(await lookAt(path), 1);
});

test('[HOSTREG-005] a host is what an inspector takes and what takes an inspector', async () => {
  const host = createHost({ testing: { allowSeveralHosts: true } });
  const shown = inspector(host, { path: join(folder, 'real.sock') });
  await host.addHostedService(shown).start();
  const client = await lookAt(shown.path);
  await linesOf(client, 1);
  expect(readHostLine(client.lines[0]!)).toMatchObject({ report: { snapshot: { host: { state: 'serving' } } } });
  expect(await host.shutdown()).toMatchObject({ outcome: 'stopped' });
  await closed(client);
  expect(client.lines.at(-1)).toBe('{"zlink":1,"kind":"end"}');
});

test('[HOSTREG-003] options that are not allowed are all told at once', () => {
  const wrong = { path: '', name: 'x'.repeat(81), maxClients: 65, onProblem: 1 } as unknown as InspectorOptions;
  expect(() => resolveInspectorOptions(wrong)).toThrow(
    expect.objectContaining({
      name: 'ConfigurationError',
      problems: [
        'inspector path is not allowed, allowed: the name of a file',
        'inspector name is not allowed, allowed: a text of 1..80 characters',
        'inspector maxClients is not allowed, allowed: integer 1..64',
        'inspector onProblem is not allowed, allowed: a function',
      ],
    }) as Error,
  );
});
