import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Child } from '../src/child.ts';
import { Processes } from '../src/processes.ts';
import type { ServerReport } from '../src/shop/reports.ts';
import { built } from './paths.ts';

const limitMs = 60_000; // tells a hang from a success, also on a machine that has no time for the test

function forkServer(port = 0): ChildProcess {
  return fork(built('shop/server.js'), ['elm', '100', String(port)], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
}

function startServer(port = 0): Child<ServerReport> {
  return new Child<ServerReport>('server elm', forkServer(port));
}

test('[CS-008] SIGTERM drains a server, which reports and then ends by itself', async () => {
  const server = startServer();
  await server.expect('ready', limitMs);
  server.drain();
  const { outcome, counts } = await server.expect('stopped', limitMs);
  expect(outcome).toBe('stopped');
  expect(counts.requests).toEqual({ accepted: 0, handled: 0, failed: 0, dropped: {}, unfinished: 0 });
  await server.expectEnd(limitMs);
  expect(await server.ended).toEqual({ code: 0, signal: null });
}, 240_000);

test('[C25] a server whose parent is gone ends', async () => {
  const child = forkServer();
  await once(child, 'message'); // it is ready
  child.disconnect(); // what the child sees when its parent has died
  expect(await once(child, 'exit')).toEqual([1, null]);
}, 240_000);

test('[C25] a server whose parent is gone before it looked ends', async () => {
  const child = forkServer();
  child.disconnect();
  expect(await once(child, 'exit')).toEqual([1, null]);
}, 240_000);

test('[CS-003] a port in use is named by the server that cannot have it', async () => {
  const first = startServer();
  const { endpoint } = await first.expect('ready', limitMs);
  const second = startServer(Number(new URL(endpoint).port));
  await expect(second.expect('ready', limitMs)).rejects.toThrow(
    `server elm failed: [AlreadyExists] channel "shop" server: address ${endpoint} is in use`,
  );
  await second.ended;
  first.drain();
  await first.expectEnd(limitMs);
}, 240_000);

test('[C25] a child that ends untold is trouble, with its last words, and none is left behind', async () => {
  let report!: (error: Error) => void; // set before the constructor returns
  const trouble = new Promise<Error>((resolve) => {
    report = resolve;
  });
  const processes = new Processes(report);
  const server = processes.start<ServerReport>('server elm', new URL('./missing.js', import.meta.url), []);
  expect((await trouble).message).toMatch(/^server elm ended unexpectedly \(code 1\)\n[^]*missing\.js/);
  await expect(server.expect('ready', limitMs)).rejects.toThrow('server elm ended unexpectedly');
  await processes.endAll();
  expect(server.isRunning).toBe(false);
}, 240_000);

test('[C25] a child that was told to end is no trouble', async () => {
  const server = startServer();
  await server.expect('ready', limitMs);
  server.end('SIGKILL');
  expect(await server.ended).toEqual({ code: null, signal: 'SIGKILL' });
  expect(server.mayEnd).toBe(true);
}, 240_000);

test('[C25] a child that somebody else has killed explains the trouble, also if it is noticed at the end only', async () => {
  const entry = new URL(`file://${built('shop/server.js')}`);
  for (const isKilled of [true, false]) {
    const processes = new Processes(() => undefined);
    const start = (name: string): Child<ServerReport> =>
      processes.start<ServerReport>(`server ${name}`, entry, [name, '100', '0']);
    const [elm, oak] = [start('elm'), start('oak')];
    await Promise.all([elm, oak].map((server) => server.expect('ready', limitMs)));
    if (isKilled) process.kill(oak.pid!, 'SIGKILL');
    await processes.endAll();
    expect(processes.cause?.message).toBe(isKilled ? 'server oak ended unexpectedly (SIGKILL)' : undefined);
  }
}, 240_000);

test('[C25] a report that does not come in time is an error', async () => {
  const server = startServer();
  await server.expect('ready', limitMs);
  await expect(server.expect('stopped', 1)).rejects.toThrow('server elm did not report "stopped" within 1 ms');
  server.end('SIGKILL');
  await server.ended;
}, 240_000);
