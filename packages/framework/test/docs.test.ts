import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { jsonCodec } from '@zlink/kernel/codec';
import { ErrorKind } from '@zlink/kernel/errors';
import * as wire from '@zlink/kernel/internal/wire';
import * as location from '@zlink/kernel/location';
import {
  compile,
  programsOf,
  readDoc as read,
  runCompiled,
  runProgram,
  type Run,
  typescriptExample,
  writePrograms,
} from './doc-programs.ts';

test('[ERR-001] docs/errors.md lists every kind with its number', () => {
  const rows = [...read('errors.md').matchAll(/^\| `(\w+)` +\| +(\d+) \|/gm)].map(([, kind, number]) => [
    kind,
    Number(number),
  ]);
  expect(Object.fromEntries(rows)).toEqual(ErrorKind);
});

test('[HOSTREG-005] docs/limits.md agrees with the code', () => {
  const rows = [...read('limits.md').matchAll(/^\|[^|]*\| +(\d+)(?: [a-z]+)? +\| `(\w+)` +\|/gm)];
  const documented = Object.fromEntries<number>(rows.map(([, value, name = '']) => [name, Number(value)]));
  const { WIRE_MAJOR: _major, WIRE_MINOR: _minor, ...constants } = wire;
  const all = Object.entries({ ...constants, ...location });
  const limits = Object.fromEntries(all.filter(([, value]) => typeof value === 'number'));
  expect(documented).toEqual(limits);
});

const limitMs = 180_000;
const docs = new URL('../../../docs/', import.meta.url);
const pages = readdirSync(docs).filter((name) => name.endsWith('.md'));
const ofTypeScript = (page: string): string[] =>
  programsOf(page).flatMap(({ file }) => (file.endsWith('.ts') ? [file] : []));
const sourcesIn = (folder: URL): string[] =>
  (existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : [])
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(new URL(name, folder), 'utf8'));
const allSources = (): string[] => {
  const packages = new URL('../../', import.meta.url);
  return readdirSync(packages).flatMap((name) => sourcesIn(new URL(`${name}/src/`, packages)));
};
const exactly = (text: string): RegExp => new RegExp(`^${text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`);

test.each(pages)('[HOSTREG-005] links of docs/%s lead somewhere', (page) => {
  const links = [...read(page).matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map(([, link = '']) => link);
  const missing = links.filter((link) => !link.startsWith('https://') && !existsSync(new URL(link, docs)));
  expect(missing).toEqual([]);
});

test.each(pages.filter((page) => programsOf(page).some(({ prints }) => prints !== undefined)))(
  '[HOSTREG-005] the programs of docs/%s print what the page says, and end by themselves',
  async (page) => {
    const folder = writePrograms(page);
    let server: { readonly run: Run; readonly prints: string } | undefined;
    let port = '0';
    for (const { file, prints } of programsOf(page)) {
      if (prints === undefined) continue;
      if (file.startsWith('server.')) {
        const run = runProgram(folder, file);
        port = (await run.printed(/serving at tcp:\/\/127\.0\.0\.1:(\d+)\n/))[1] ?? '';
        server = { run, prints: prints.replace(':7200', `:${port}`) };
      } else {
        expect({ file, ...(await runProgram(folder, file, [], { PORT: port }).ended) }).toEqual({
          file,
          code: 0,
          stdout: prints,
        });
      }
    }
    if (server === undefined) return;
    await server.run.printed(exactly(server.prints)); // a message may arrive after its sender has ended
    server.run.stop();
    expect(await server.run.ended).toEqual({ code: 0, stdout: server.prints });
  },
  limitMs,
);

test.each(pages.filter((page) => ofTypeScript(page).length > 0))(
  '[MSG-001] the compiler accepts the programs of docs/%s, mistakes that it is said to catch aside',
  async (page) => {
    expect(await compile(writePrograms(page)).ended).toEqual({ code: 0, stdout: '' });
  },
  limitMs,
);

test('[HOSTREG-005] docs/typescript.md shows the files of its example', () => {
  const shown = programsOf('typescript.md').map(({ code }) => code);
  const files = readdirSync(typescriptExample).filter((name) => name.endsWith('.ts'));
  expect(files.length).toBeGreaterThan(0);
  for (const name of files) expect(shown).toContain(readFileSync(join(typescriptExample, name), 'utf8'));
});

test(
  '[CS-001] the TypeScript example, compiled, runs without anything that knows TypeScript',
  async () => {
    const folder = writePrograms('typescript.md');
    expect(await compile(folder).ended).toEqual({ code: 0, stdout: '' });
    const server = runCompiled(folder, 'server.js');
    const [, port] = await server.printed(/serving at tcp:\/\/127\.0\.0\.1:(\d+)\n/);
    expect(await runCompiled(folder, 'client.js', port).ended).toEqual({ code: 0, stdout: 'order 7: 3 charged\n' });
    await server.printed(/the client has its receipt\n/);
    server.stop();
    expect(await server.ended).toMatchObject({ code: 0 });
  },
  limitMs,
);

test('[ERR-002] docs/troubleshooting.md lists every kind of log record', () => {
  const written = allSources().flatMap((text) =>
    [...text.matchAll(/\beventId: ('[^']*'|[^,\n]+)/g)].map(([, id = '']) => id),
  );
  expect(written.filter((id) => !/^'zlink(?:\.[a-z_]+)+'$/.test(id))).toEqual([]); // none is put together at run time
  const rows = [
    ...read('troubleshooting.md').matchAll(/^\| `(zlink\.\S+)` +\| `(?:debug|info|warn|error)` +\| .{20}/gm),
  ];
  const documented = rows.map(([, id]) => `'${id}'`);
  expect(documented.sort()).toEqual([...new Set(written)].sort());
});

test('[ERR-002] docs/troubleshooting.md quotes what hosts that do not find each other really say', () => {
  const [, section = ''] = /^## Hosts do not find each other\n([^]*?)^## /m.exec(read('troubleshooting.md')) ?? [];
  const seen = [...section.matchAll(/^\| (.*?`.*?) \| /gm)].map(([, cell = '']) => cell);
  const quotes = seen.flatMap((cell) => [...cell.matchAll(/`(?:\[\w+\] )?([^`]+)`/g)].map(([, quote = '']) => quote));
  const texts = quotes.flatMap((quote) => quote.split(/[…"]/)).map((text) => text.trim());
  const telling = texts.filter((text) => text.length >= 10 && !text.startsWith('tcp://'));
  expect(telling.length).toBeGreaterThan(12);
  const written = allSources().join('\n');
  expect(telling.filter((text) => !written.includes(text))).toEqual([]);
});

test('[CODEC-005] docs/messages.md says what JSON makes of values', () => {
  const expressions = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text);
  const evaluate = (text: string): unknown => runInNewContext(`(${text})`);
  const overTheWire = (value: unknown): unknown => jsonCodec.decode(jsonCodec.encode(value, undefined), undefined);
  const rows = [...read('messages.md').matchAll(/^\| (`[^|]+`) +\| ([^|]+?) +\| /gm)];
  expect(rows.length).toBeGreaterThan(10);
  for (const [, sent = '', got = ''] of rows) {
    for (const text of expressions(sent)) {
      const value = evaluate(text);
      if (got === 'refused') expect(() => overTheWire(value)).toThrow(/^\[InvalidOperation\]/);
      else
        expect([text, overTheWire(value)]).toEqual([text, got === 'the same' ? value : evaluate(expressions(got)[0]!)]);
    }
  }
});

test(
  '[CS-011] [CS-008] a server that takes weight 0 before it stops, as docs/operating.md says, fails no call',
  async () => {
    // The moment of the page is one of a machine that has time for every process.
    const folder = writePrograms('operating.md', (code) => code.replace('setTimeout(500)', 'setTimeout(4_000)'));
    const servers = [runProgram(folder, 'server.mjs'), runProgram(folder, 'server.mjs')];
    const endpoints = await Promise.all(
      servers.map(async (server) => (await server.printed(/serving at (\S+)\n/))[1] ?? ''),
    );
    const client = runProgram(folder, 'load.mjs', endpoints);
    await client.printed(/calling\n/);
    servers[0]?.stop();
    const stopped = await servers[0]?.ended;
    expect(stopped?.code).toBe(0);
    expect(stopped?.stdout).toMatch(/\nstopped\n$/);
    client.stop();
    const { code, stdout } = await client.ended;
    expect(code).toBe(0);
    expect(stdout).toMatch(/^calling\n[1-9]\d{2,} answered, 0 failed\n$/);
    servers[1]?.stop();
    expect(await servers[1]?.ended).toMatchObject({ code: 0 });
  },
  limitMs,
);
