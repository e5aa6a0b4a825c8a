import { readFileSync } from 'node:fs';
import { ErrorKind } from '@zlink/kernel/errors';
import * as wire from '@zlink/kernel/internal/wire';

const read = (name: string): string => readFileSync(new URL(`../../../docs/${name}`, import.meta.url), 'utf8');

test('[ERR-001] docs/errors.md lists every kind with its number', () => {
  const rows = [...read('errors.md').matchAll(/^\| `(\w+)` +\| +(\d+) \|/gm)].map(([, kind, number]) => [
    kind,
    Number(number),
  ]);
  expect(Object.fromEntries(rows)).toEqual(ErrorKind);
});

test('[HOSTREG-005] docs/limits.md agrees with the code', () => {
  const rows = [...read('limits.md').matchAll(/^\|[^|]*\| +(\d+)(?: ms)? +\| `(\w+)` +\|/gm)];
  const documented = Object.fromEntries<number>(rows.map(([, value, name = '']) => [name, Number(value)]));
  const { WIRE_MAJOR: _major, WIRE_MINOR: _minor, ...constants } = wire;
  const limits = Object.fromEntries(Object.entries(constants).filter(([, value]) => typeof value === 'number'));
  expect(documented).toEqual(limits);
});
