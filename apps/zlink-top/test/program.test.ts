import { jest } from '@jest/globals';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run, runTop, startHost } from './children.ts';
import { newFolder } from './folders.ts';
import { sampleLine } from './sample-host.ts';

jest.setTimeout(60_000); // tells a hang from a success

const page = (): string => readFileSync(new URL('../../../docs/inspector.md', import.meta.url), 'utf8');

let folder: string;
const servers: Server[] = [];
const sockets: Socket[] = [];

beforeEach(() => {
  folder = newFolder();
});

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
});

/** What is no ZLink host. */
async function listen(name: string, greeting: string): Promise<string> {
  const path = join(folder, name);
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined).resume();
    socket.write(greeting);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return path;
}

// eslint-disable-next-line no-control-regex -- control characters are what is looked for
const controls = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/;

test('[MON-001] --once --plain prints one view of a real host with its rates, and ends', async () => {
  const host = await startHost(folder, 'billing');
  const { code, stdout, stderr } = await runTop(folder, '--once', '--plain', '--interval', '300').finished;
  expect([code, stderr]).toEqual([0, '']);
  const lines = stdout.split('\n');
  expect(lines[0]).toMatch(/^zlink-top {2}\d\d:\d\d:\d\d {2}1 host {2}every 0\.3 s$/);
  expect(lines[2]).toMatch(new RegExp(`^billing {2}pid ${host.pid} {2}serving {2}up \\d+ s {2}generation \\d+$`));
  expect(stdout).toMatch(/^ {2}listens {2}tcp:\/\/127\.0\.0\.1:\d+ {2}client server billing$/m);
  expect(stdout).toMatch(/^ {2}billing request +[<\d.,]+ +[<\d.,]+ +0 +0 +\d+ +\d+ {2}channel$/m);
  expect(stdout).toMatch(/^ {2}mesh game {2}node \S+ {2}degraded: no_ready_peer$/m);
  expect(stdout).toMatch(/^ {4}peer {2}tcp:\/\/127\.0\.0\.1:1 {2}(connecting|reconnecting) /m);
  expect(stdout).toMatch(/^ {4}server {2}tcp:\/\/127\.0\.0\.1:\d+ {2}ready +weight 100, local/m);
  expect(stdout).not.toMatch(controls);
});

test('[MON-001] what a real host takes in and handles shows as messages per second', async () => {
  await startHost(folder, 'billing');
  const top = runTop(folder, '--plain', '--interval', '100');
  // Between two looks a busy machine may let none through; it does not go on like that.
  await top.printed(/^ {2}billing request +[\d.,]*[1-9][\d.,]* +[\d.,]*[1-9][\d.,]* +0 +0 +\d+ +\d+ {2}channel$/m);
  top.kill('SIGTERM');
  expect(await top.finished).toMatchObject({ code: 0, stderr: '' });
});

test('[MON-001] several hosts are found, each report is a line of JSON, and an orderly end is one, too', async () => {
  const [a, b] = await Promise.all([startHost(folder, 'a'), startHost(folder, 'b')]);
  const top = runTop(folder, '--json', '--interval', '100');
  await top.printed(/"name":"a"[^\n]*"rates":/);
  await top.printed(/"name":"b"[^\n]*"rates":/);
  a.kill('SIGTERM');
  expect(await a.finished).toMatchObject({ code: 0 });
  await top.printed(/"kind":"ended"/);
  b.kill('SIGTERM');
  const { code, stdout, stderr } = await top.finished;
  expect([code, stderr]).toEqual([0, '']);
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { kind: string; path: string; snapshot?: object; rates?: object[] });
  expect(lines.filter(({ kind }) => kind === 'ended').map(({ path }) => path)).toEqual([a.socket, b.socket]);
  const report = lines.find(({ rates }) => rates !== undefined);
  expect(report).toMatchObject({
    zlink: 1,
    kind: 'report',
    snapshot: { host: { state: expect.any(String) as string } },
  });
  expect(report!.rates).toContainEqual(
    expect.objectContaining({
      owner: 'billing',
      surface: 'channel',
      verb: 'request',
      handled: expect.any(Number) as number,
    }),
  );
  expect(await b.finished).toMatchObject({ code: 0 }); // it says that it ends before it removes its socket
  expect(readdirSync(join(folder, 'zlink-top'))).toEqual([]);
});

test('[MON-001] a host that is killed is shown, the others go on, and its socket is removed by the next who looks', async () => {
  const [killed, other] = await Promise.all([startHost(folder, 'killed'), startHost(folder, 'other')]);
  const top = runTop(folder, '--plain', '--interval', '100');
  await top.printed(/^killed {2}pid \d+ {2}serving/m);
  killed.kill('SIGKILL');
  await killed.finished;
  await top.printed(/^killed {2}pid \d+ {2}ended without a word: killed, or crashed$/m);
  await top.printed(/killed, or crashed[^]*killed, or crashed[^]*^other {2}pid \d+ {2}serving/m);
  expect(existsSync(killed.socket)).toBe(true);
  const { code, stdout } = await runTop(folder, '--once', '--plain', '--interval', '100').finished;
  expect(code).toBe(0);
  expect(stdout).not.toContain('killed');
  expect(existsSync(killed.socket)).toBe(false);
  other.kill('SIGTERM');
  expect(await top.finished).toMatchObject({ code: 0, stderr: '' });
});

test('[MON-001] the socket of a killed host is removed by the next host, and one with a given path is replaced', async () => {
  const path = join(folder, 'mine.sock');
  for (const args of [[], [path]]) {
    const killed = await startHost(folder, 'killed', ...args);
    killed.kill('SIGKILL');
    await killed.finished;
    expect(existsSync(killed.socket)).toBe(true);
    const next = await startHost(folder, 'next', ...args);
    expect(existsSync(killed.socket)).toBe(args.length > 0);
    const { code, stdout } = await runTop(folder, '--once', '--interval', '100', next.socket).finished;
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^next {2}pid/m)]);
    next.kill('SIGTERM');
    expect(await next.finished).toMatchObject({ code: 0 });
    expect(existsSync(next.socket)).toBe(false);
  }
});

test('[C25] SIGTERM ends it, and the host does not mind', async () => {
  const host = await startHost(folder, 'billing');
  const top = runTop(folder, '--plain', '--interval', '100');
  await top.printed(/^billing {2}pid/m);
  top.kill('SIGTERM');
  expect(await top.finished).toMatchObject({ code: 0, stderr: '' });
  expect(await runTop(folder, '--once', '--interval', '100').finished).toMatchObject({ code: 0 });
  host.kill('SIGTERM');
  expect(await host.finished).toMatchObject({ code: 0 });
});

test('[MON-001] without any host it says where it has looked', async () => {
  const { code, stdout, stderr } = await runTop(folder).finished;
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^zlink-top: no host found: [^\n]*zlink-top[^\n]*\n[^\n]*inspector\(host\)/);
  expect(stderr).toContain(folder);
});

test.each<[string, (given: string) => string | Promise<string>, RegExp]>([
  ['is not there', (given) => join(given, 'none.sock'), /none\.sock: there is no such socket\n$/],
  [
    'is no ZLink host',
    () => listen('http.sock', 'HTTP/1.1 400 Bad Request\r\n\r\n'),
    /no inspector of this version is there/,
  ],
  [
    'speaks another version',
    () => listen('new.sock', '{"zlink":2,"kind":"report"}\n'),
    /speaks version 2, this program/,
  ],
  [
    'sends hostile text',
    () => listen('evil.sock', '{"zlink":1,"kind":"refused","reason":"\x9b2J\\u001b[2J"}\n'),
    /refuses: ·2J·\[2J/,
  ],
])('[C06] a socket that %s is a clear failure', async (_, path, text) => {
  const { code, stdout, stderr } = await runTop(folder, '--plain', await path(folder)).finished;
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(text);
  expect(stderr).not.toMatch(controls);
});

test('[C06] a host whose reports nest too deeply to be written is a clear failure, and the others are shown', async () => {
  const host = await startHost(folder, 'billing');
  const nested = `{"x":${'['.repeat(200_000)}${']'.repeat(200_000)},`;
  const lines = [0, 100].map((uptimeMs) => sampleLine({ uptimeMs }).replace('{', nested));
  const deep = await listen('deep.sock', lines.join(''));
  const { code, stdout, stderr } = await runTop(folder, '--once', '--json', '--interval', '100', deep, host.socket)
    .finished;
  const reason = 'no inspector of this version is there: it nests deeper than 32 levels';
  expect([code, stderr]).toEqual([1, `zlink-top: ${deep}: ${reason}\n`]);
  const shown = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as object);
  expect(shown).toHaveLength(2);
  expect(shown).toContainEqual({ zlink: 1, kind: 'failed', path: deep, reason });
  expect(shown).toContainEqual(expect.objectContaining({ kind: 'report', name: 'billing' }));
});

test('[C06] a named socket that never answers ends --once with a failure, and the others are shown', async () => {
  const host = await startHost(folder, 'billing');
  const mute = await listen('mute.sock', '');
  const { code, stdout, stderr } = await runTop(folder, '--once', '--interval', '100', mute, host.socket).finished;
  expect([code, stderr]).toEqual([1, `zlink-top: ${mute}: it does not answer\n`]);
  expect(stdout).toContain(`${mute}  it does not answer\n`);
  expect(stdout).toMatch(/^billing {2}pid/m);
});

test.each([
  [['--interval', '99'], '--interval: "99" is not allowed, allowed: integer 100..3600000'],
  [['--interval', '1e3'], '--interval: "1e3" is not allowed, allowed: integer 100..3600000'],
  [['--json', '--plain'], '--plain and --json: one of them at most'],
  [['--colour'], "Unknown option '--colour'"],
  [[''], 'path: "" is not allowed, allowed: the name of a socket'],
])('[HOSTREG-003] %j is refused with what is allowed', async (args, text) => {
  const { code, stdout, stderr } = await runTop(folder, ...args).finished;
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr.startsWith(`zlink-top: ${text}`)).toBe(true);
  expect(stderr).toContain('usage: zlink-top');
});

test('[HOSTREG-005] the host of docs/inspector.md can be looked at, and ends by itself', async () => {
  const [, code = ''] = /^```js\n([^]*?)^```$/m.exec(page()) ?? [];
  const script = fileURLToPath(new URL('../.test-results/looked-at.mjs', import.meta.url)); // here it finds what it imports
  mkdirSync(dirname(script), { recursive: true });
  // What it says behind its last line: before that the host may not serve yet, and nobody listens to the signal.
  writeFileSync(script, `${code.replace('7200', '0')}console.log('started');\n`);
  const host = run(folder, script);
  await host.printed(/^started\n/);
  expect(existsSync(join(folder, `zlink-top/${host.pid}.sock`))).toBe(true);
  const { stdout } = await runTop(folder, '--once', '--interval', '100').finished;
  expect(stdout).toMatch(/^looked-at\.mjs {2}pid \d+ {2}serving/m);
  host.kill('SIGTERM');
  expect(await host.finished).toMatchObject({ code: 0, stdout: 'started\n', stderr: '' });
});

test('[HOSTREG-005] --help prints the usage that the documentation shows', async () => {
  const { code, stdout, stderr } = await runTop(folder, '--help').finished;
  expect([code, stderr]).toEqual([0, '']);
  expect(page()).toContain(stdout);
});
