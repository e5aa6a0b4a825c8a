import fc from 'fast-check';
import { ZLinkError } from '../../src/errors/index.ts';
import { boundedText, errorText } from '../../src/observe/index.ts';

test.each([
  [new Error('plain'), 'plain'],
  [new TypeError('typed'), 'TypeError: typed'],
  [new ZLinkError('NotFound', 'no such thing'), '[NotFound] no such thing'],
  [new Error(''), 'thrown object Error'],
  [new Error('two\r\nlines\u2028here'), 'two lines here'],
  [null, 'thrown null'],
  [undefined, 'thrown undefined'],
  ['text', 'thrown "text"'],
  [{ secret: 'inside' }, 'thrown object'],
  [{ name: 5, message: 'like an error' }, 'like an error'],
])('[C11] errorText names what was thrown: %p', (thrown, text) => {
  expect(errorText(thrown)).toBe(text);
});

test('[C11] errorText never throws and is one bounded line', () => {
  const getter = {
    get message(): never {
      throw new Error('getter');
    },
  };
  expect(errorText(getter)).toBe('thrown object');
  fc.assert(
    fc.property(fc.anything(), fc.string({ unit: 'binary' }), (value, message) => {
      for (const text of [errorText(value), errorText(new Error(message))]) {
        expect(text.length).toBeLessThanOrEqual(256);
        expect(text).not.toMatch(/[\r\n]/);
      }
    }),
  );
});

test('[C11] a cut leaves no half of a surrogate pair', () => {
  expect(boundedText('ab😀', 3)).toBe('ab');
  expect(boundedText('ab😀', 4)).toBe('ab😀');
});
