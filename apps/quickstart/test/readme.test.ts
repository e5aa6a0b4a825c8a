import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runScript } from '@zlink/testing/internal';
import { repository } from './paths.ts';

const limitMs = 300_000; // tells a hang from a success, also on a machine that has no time for the examples
const readmes = ['README.md', 'packages/framework/README.md', 'packages/kernel/README.md'];
const read = (name: string): string => readFileSync(repository(name), 'utf8');
/** A process without time to run says so, as it should. */
const warnings: unknown = expect.stringMatching(/^(\{"level":"warn".*\}\n)*$/);
const example = (name: string): string => repository(`docs/examples/${name}.mjs`);

test('[HOSTREG-005] the code that READMEs show is the code of the examples, each shown once', () => {
  const blocks = readmes.flatMap((name) => [...read(name).matchAll(/^```js\n([^]*?)^```$/gm)].map(([, code]) => code));
  const names = readdirSync(repository('docs/examples')).filter((name) => name.endsWith('.mjs'));
  const files = names.map((name) => read(`docs/examples/${name}`));
  expect(blocks.sort()).toEqual(files.sort());
});

test.each(readmes)('[HOSTREG-005] links of %s lead somewhere', (name) => {
  const links = [...read(name).matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)].map(([, link]) => link!);
  const files = links.filter((link) => !link.startsWith('https://'));
  expect(files.length).toBeGreaterThan(0);
  expect(files.filter((file) => !existsSync(join(dirname(repository(name)), file)))).toEqual([]);
});

test('[HOSTREG-005] the README of the kernel lists exactly its exports', () => {
  const listed = [...read('packages/kernel/README.md').matchAll(/^\| `@zlink\/kernel\/(\S+)`/gm)].map(
    ([, name]) => `./${name}`,
  );
  const { exports } = JSON.parse(read('packages/kernel/package.json')) as { exports: object };
  expect([...listed, './package.json'].sort()).toEqual(Object.keys(exports).sort());
});

test(
  '[CS-001] the first two processes of the README work, and both end by themselves',
  async () => {
    const server = runScript(example('server'), [], { env: { PORT: '0' } });
    const [, port] = await server.printed(/serving at tcp:\/\/127\.0\.0\.1:(\d+)/);
    const client = await runScript(example('client'), [], { env: { PORT: port } }).finished;
    expect(client).toEqual({ code: 0, stdout: 'order 7: 3 charged\n', stderr: warnings });
    await server.printed(/the client has its receipt/);
    server.kill('SIGTERM');
    expect(await server.finished).toMatchObject({ code: 0, stderr: warnings });
  },
  limitMs,
);

test.each([
  ['one-process', '5\n'],
  ['failed-call', 'NotFound false\n'],
])(
  '[C25] the example %s prints what it says and ends by itself',
  async (name, stdout) => {
    expect(await runScript(example(name)).finished).toMatchObject({ code: 0, stdout });
  },
  limitMs,
);
