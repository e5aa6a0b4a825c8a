import { describeValue, Problems } from '@zlink/kernel/errors';
import { checkFlag, checkMethods, checkOptionNames } from '../../src/options/option-names.ts';

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

test('[ERR-002] a flag is true or false, nothing that is only taken for one', () => {
  const check = (value: unknown) => textsOf((problems) => checkFlag('expose', value, problems));
  for (const value of [true, false, undefined]) expect(check(value)).toEqual([]);
  for (const value of ['false', 0, null])
    expect(check(value)).toEqual([`expose: ${describeValue(value)}, allowed: true or false`]);
});

test('[ERR-002] an object needs all of its methods', () => {
  const check = (value: unknown) =>
    textsOf((problems) => checkMethods('door', value, ['open', 'close'], 'a door', problems));
  const open = (): void => undefined;
  for (const value of [undefined, { open, close: open }]) expect(check(value)).toEqual([]);
  for (const value of [null, 'x', { open }, { open, close: 1 }]) {
    expect(check(value)).toEqual([`door: ${describeValue(value)}, allowed: a door`]);
  }
});
