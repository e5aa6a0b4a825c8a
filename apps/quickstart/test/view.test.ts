import { createView, type Frame, type Output } from '../src/view.ts';

const frame: Frame = {
  lines: ['', '  what there is to see at one moment, of all servers'],
  line: 'all of it in one line',
};

const noon = () => new Date(2026, 0, 1, 12, 0, 5);
const escape = '\x1b';

function capture(output: Partial<Output> = {}) {
  const written: string[] = [];
  return { written, output: { ...output, write: (text: string) => written.push(text) } };
}

const terminal = { isTTY: true, rows: 40, columns: 100 };

test('[CS-001] without a terminal every line has a time and no control character', () => {
  const { written, output } = capture();
  const view = createView(output, {}, noon);
  view.tell(['one', '', 'two']);
  view.show(frame);
  view.close(['three']);
  const lines = written.join('').split('\n');
  expect(lines[0]).toBe('12:00:05  one');
  expect(lines[1]).toBe('');
  expect(lines[3]).toMatch(/^12:00:05 {2}all of it in one line$/);
  expect(lines[4]).toBe('12:00:05  three');
  expect(written.join('')).not.toContain(escape);
});

test.each([
  ['NO_COLOR', { NO_COLOR: '1' }, terminal],
  ['CI', { CI: 'true' }, terminal],
  ['TERM=dumb', { TERM: 'dumb' }, terminal],
  ['a terminal without room', {}, { ...terminal, rows: 8 }],
])('[CS-001] %s gets plain lines on a terminal, too', (_name, environment, shape) => {
  const { written, output } = capture(shape);
  createView(output, environment, noon).show(frame);
  expect(written.join('')).not.toContain(escape);
});

test('[CS-001] an empty NO_COLOR is none', () => {
  const { written, output } = capture(terminal);
  createView(output, { NO_COLOR: '' }, noon).show(frame);
  expect(written.join('')).toContain(escape);
});

test('[CS-001] on a terminal a frame replaces the last one, and what was told stays', () => {
  const { written, output } = capture(terminal);
  const view = createView(output, {}, noon);
  view.show(frame);
  const height = frame.lines.length;
  view.tell(['a server is drained']);
  expect(written.at(-1)).toContain(`${escape}[${height}A${escape}[Ja server is drained\n`);
  view.close(['the end']);
  expect(written.join('').split('a server is drained')).toHaveLength(2);
  expect(written.at(-2)).toContain(`${escape}[${height}A${escape}[Jthe end\n`);
  expect(written.at(-1)).toBe(`${escape}[?25h`);
});

test('[CS-001] no line of a frame is wider than the terminal', () => {
  const { written, output } = capture({ ...terminal, columns: 30 });
  createView(output, {}, noon).show(frame);
  const lines = written.join('').split(`${escape}[J`)[1]!.split('\n');
  expect(Math.max(...lines.map((line) => line.length))).toBe(29);
});
