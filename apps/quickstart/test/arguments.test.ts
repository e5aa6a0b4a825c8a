import { readArguments } from '../src/arguments.ts';

test('[CS-001] without arguments calls go on for 20 seconds on free ports', () => {
  expect(readArguments([])).toEqual({ seconds: 20, port: 0 });
});

test('[CS-001] arguments are read', () => {
  expect(readArguments(['--seconds', '5', '--port=7200'])).toEqual({ seconds: 5, port: 7_200 });
  expect(readArguments(['--help'])).toBe('help');
});

test.each([
  [['--seconds', '2'], '--seconds: "2" is not allowed, allowed: integer 3..50'],
  [['--seconds', ''], '--seconds: "" is not allowed, allowed: integer 3..50'],
  [['--seconds', '4.5'], '--seconds: "4.5" is not allowed, allowed: integer 3..50'],
  [['--port', '65534'], '--port: "65534" is not allowed, allowed: integer 0..65533'],
  [['--fast'], "Unknown option '--fast'"],
])('[CS-001] %j is refused with a reason', (args, text) => {
  expect(() => readArguments(args)).toThrow(text);
});
