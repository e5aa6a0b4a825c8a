/** What the reference tables in docs promise about every row. */
import { readFileSync } from 'node:fs';

/** The cells of every row of the tables of a page, without headings. */
function rowsOf(page: string): string[][] {
  const text = readFileSync(new URL(`../../../docs/${page}`, import.meta.url), 'utf8');
  const lines = text.split('\n').filter((line) => line.startsWith('|'));
  const isRule = (line: string | undefined): boolean => /^\| *:?-/.test(line ?? '');
  const rows = lines.filter((line, index) => !isRule(line) && !isRule(lines[index + 1]));
  return rows.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

test('[ERR-001] docs/errors.md says of every kind when it comes and what to do', () => {
  const rows = rowsOf('errors.md');
  expect(rows).toHaveLength(13);
  for (const [kind, , when = '', remedy = ''] of rows) {
    expect([kind, when.length > 10, remedy.length > 5]).toEqual([kind, true, true]);
  }
  const taken = rows.find(([kind]) => kind === '`AlreadyExists`');
  expect(taken?.[2]).toMatch(/address of a listener is in use/);
});

test('[HOSTREG-005] docs/limits.md gives every figure a unit', () => {
  const rows = rowsOf('limits.md');
  expect(rows.length).toBeGreaterThan(25);
  for (const [what, limit = '', ...others] of rows) {
    const figures = others.length > 1 ? [limit] : [limit, ...others]; // the second table has figures in its last column, too
    for (const figure of figures)
      expect([what, figure]).toEqual([what, expect.stringMatching(/\d (?:%|[a-z]{2,})|unit/)]);
  }
});
