import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { loopTurns, until } from '@zlink/testing';
import { runTop } from '../src/top.ts';
import type { ViewModel } from '../src/view/render.ts';
import type { HostView } from '../src/watch/host-watch.ts';
import { newFolder } from './folders.ts';
import { sampleLine } from './sample-host.ts';

interface FakeHost {
  readonly path: string;
  /** Of the one client. */
  readonly sockets: Socket[];
  isClosed: boolean;
}

let folder: string;
const servers: Server[] = [];

beforeEach(() => {
  folder = newFolder();
});

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
});

async function fakeHost(name: string): Promise<FakeHost> {
  const host: FakeHost = { path: join(folder, name), sockets: [], isClosed: false };
  const server = createServer((socket) => {
    host.sockets.push(socket);
    socket.resume().once('close', () => (host.isClosed = true));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(host.path, resolve));
  return host;
}

const twoReports = (name: string): string =>
  [0, 100].map((uptimeMs) => sampleLine({ name, uptimeMs, pid: 1 })).join('');

test('[MON-001] --once shows a host as it was seen, however long another one lets wait', async () => {
  const [quick, slow] = [await fakeHost('quick.sock'), await fakeHost('slow.sock')];
  const changes: HostView[] = [];
  let last: ViewModel | undefined;
  const code = runTop(
    {
      options: { once: true, intervalMs: 60_000 }, // the fake hosts do not keep to it, and giving up is no matter here
      paths: [quick.path, slow.path],
      areNamed: true,
      display: () => ({
        changed: (view) => changes.push(view),
        show: () => undefined,
        close: (model) => (last = model),
      }),
      complain: () => undefined,
      nowMs: () => 0,
      date: () => new Date(0),
    },
    new AbortController().signal,
  );
  await until(() => quick.sockets.length + slow.sockets.length === 2, 'both are asked');
  quick.sockets[0]!.write(`${twoReports('quick')}${twoReports('not read any more')}`);
  await until(() => quick.isClosed, 'enough was seen of the quick one');
  await loopTurns(50);
  slow.sockets[0]!.write(twoReports('slow'));
  expect(await code).toBe(0);
  const named = (view: HostView): unknown => [view.kind, view.kind === 'live' ? view.report.name : undefined];
  const both = [
    ['live', 'quick'],
    ['live', 'slow'],
  ];
  expect(last?.hosts.map(named)).toEqual(both);
  expect(changes.map(named)).toEqual(both);
});
