import { describeValue, Problems } from '../../src/errors/index.ts';
import { checkInteger, checkOptionNames, hasMethods, isObject } from '../../src/internal/options/index.ts';

function textsOf(check: (problems: Problems) => void): readonly string[] {
  const texts: string[] = [];
  const problems = new Problems();
  problems.note = (text) => void texts.push(text);
  problems.add = (option, value, allowed) => void texts.push(`${option}: ${describeValue(value)}, allowed: ${allowed}`);
  check(problems);
  return texts;
}

test('[ERR-002] an option that does not exist is a problem, with the nearest one that does', () => {
  const known = ['bindHost', 'advertiseHost'];
  const check = (group: unknown) => textsOf((problems) => checkOptionNames('network', group, known, problems));
  for (const group of [undefined, {}, { bindHost: 1, advertiseHost: undefined }]) expect(check(group)).toEqual([]);
  expect(check({ bindhost: 1, colour: 2 })).toEqual([
    'network: there is no option "bindhost", did you mean "bindHost"?',
    'network: there is no option "colour", known: bindHost, advertiseHost',
  ]);
  for (const group of [null, 'x', 7, []])
    expect(check(group)).toEqual([`network: ${describeValue(group)}, allowed: an object`]);
});

test('[ERR-002] an integer in its range is told from everything else', () => {
  const check = (value: unknown, max?: number) =>
    textsOf((problems) => expect(checkInteger('size', value, 1, max, problems)).toBe(isRight(value, max)));
  const isRight = (value: unknown, max: number | undefined) => value === 1 || (value === 8 && max !== 7);
  for (const value of [0, 8, 1.5, NaN, Infinity, '1', 1n, null, undefined]) {
    expect(check(value, 7)).toEqual([`size: ${describeValue(value)}, allowed: integer 1..7`]);
  }
  expect([check(1, 7), check(8)]).toEqual([[], []]);
  for (const value of [0, 2 ** 53]) expect(check(value)).toEqual([`size: ${value}, allowed: integer from 1`]);
});

test('[ERR-002] what has properties, and what has all methods, is told from everything else', () => {
  for (const value of [{}, [], Object.create(null)]) expect(isObject(value)).toBe(true);
  for (const value of [null, undefined, 'x', 7, () => undefined]) expect(isObject(value)).toBe(false);
  const open = (): void => undefined;
  expect(hasMethods({ open, close: open }, ['open', 'close'])).toBe(true);
  for (const value of [null, 'x', { open }, { open, close: 1 }])
    expect(hasMethods(value, ['open', 'close'])).toBe(false);
});
