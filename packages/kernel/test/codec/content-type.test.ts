import fc from 'fast-check';
import { canonicalContentType } from '../../src/codec/content-type.ts';

test.each([
  ['application/json', 'application/json'],
  [' \tApplication/X-Protobuf\t ', 'application/x-protobuf'],
  ["!#$%&'*+-.^_`|~09/Az", "!#$%&'*+-.^_`|~09/az"],
  ['application/vnd.acme+json', 'application/vnd.acme+json'],
])('[CODEC-002] %j is registered as %j', (text, canonical) => {
  expect(canonicalContentType(text)).toBe(canonical);
});

test.each([
  [''],
  [' '],
  ['json'],
  ['/json'],
  ['application/'],
  ['application/json/x'],
  ['application/json; charset=utf-8'],
  ['application/json;'],
  ['application /json'],
  ['application/ json'],
  ['application/js on'],
  ['\napplication/json'],
  ['application/json\n'],
  ['\u00a0application/json'],
  ['application/jsön'],
  ['application/\u212aml'], // the Kelvin sign, which Unicode lower-cases to k
  ['application/"json"'],
  ['application/json\0'],
  [`a/${'b'.repeat(254)}`],
  [7],
  [undefined],
  [['application/json']],
])('[CODEC-002] %j is no content type', (text) => {
  expect(canonicalContentType(text)).toBeUndefined();
});

test('[CODEC-002] 255 characters are allowed', () => {
  expect(canonicalContentType(`a/${'b'.repeat(253)}`)).toHaveLength(255);
});

test('[CODEC-002] the canonical form is ASCII, lower case and its own canonical form', () => {
  const token = fc.string({ unit: fc.constantFrom(...'abcXYZ019!+-.^_`|~'), minLength: 1, maxLength: 20 });
  const blanks = fc.string({ unit: fc.constantFrom(' ', '\t'), maxLength: 3 });
  fc.assert(
    fc.property(blanks, token, token, blanks, (before, type, subtype, after) => {
      const canonical = canonicalContentType(`${before}${type}/${subtype}${after}`);
      expect(canonical).toBe(`${type}/${subtype}`.toLowerCase());
      expect(canonicalContentType(canonical)).toBe(canonical);
    }),
  );
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 12 }), fc.string({ unit: 'binary', maxLength: 12 }), (a, b) => {
      const canonical = canonicalContentType(`${a}/${b}`);
      if (canonical !== undefined) expect(canonical).toMatch(/^[\x21-\x40\x5b-\x7e]+$/);
    }),
  );
});
