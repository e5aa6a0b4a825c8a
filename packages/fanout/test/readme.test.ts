import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const read = (path: string): Promise<string> => readFile(join(import.meta.dirname, '..', path), 'utf8');

test('[FAN-001] the code in the README is part of the example that is run', async () => {
  const readme = await read('README.md');
  const example = await read('examples/compose.mjs');
  const blocks = [...readme.matchAll(/```js\n(.*?)```/gs)].map(([, code]) => code ?? '');
  expect(blocks).toHaveLength(1);
  for (const code of blocks) expect(example).toContain(code);
});
