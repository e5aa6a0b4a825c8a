import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { catalogue } from '../src/scenarios/catalogue.ts';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

/** Rows of the table of patterns: the name, in which `*` stands for the rest, and the text about its bars. */
const rows = [...readme.matchAll(/^\| `([A-Za-z0-9*-]+)` +\| (.+?) +\|$/gm)].map(([, name = '', text = '']) => ({
  pattern: new RegExp(`^${name.replace('*', '.+')}$`),
  text,
}));

test('[CORE-001] the README names every pattern with the bars that the bench judges by', () => {
  for (const { name, comparisons } of catalogue) {
    const row = rows.find(({ pattern }) => pattern.test(name));
    expect([name, row !== undefined]).toEqual([name, true]);
    for (const { bar } of comparisons) {
      if (bar !== undefined) expect(row?.text.match(/\d+(\.\d+)?/g)).toContain(String(bar.ratio));
    }
  }
});

test('[CORE-001] the README names no pattern that does not exist', () => {
  expect(rows.length).toBeGreaterThan(5);
  for (const { pattern } of rows)
    expect([pattern.source, catalogue.some(({ name }) => pattern.test(name))]).toEqual([pattern.source, true]);
});
