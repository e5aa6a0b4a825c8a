import { describeValue, Problems } from '@zlink/kernel/errors';
import { checkFlag, checkMethods } from '../../src/options/option-kinds.ts';

function textsOf(check: (problems: Problems) => void): readonly string[] {
  const texts: string[] = [];
  const problems = new Problems();
  problems.note = (text) => void texts.push(text);
  problems.add = (option, value, allowed) => void texts.push(`${option}: ${describeValue(value)}, allowed: ${allowed}`);
  check(problems);
  return texts;
}

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
