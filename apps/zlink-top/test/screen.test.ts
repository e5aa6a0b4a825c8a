import { EventEmitter } from 'node:events';
import { screenDisplay } from '../src/display.ts';
import { Screen } from '../src/view/screen.ts';
import { liveView } from './sample-host.ts';

const enter = '\x1b[?1049h\x1b[?25l\x1b[?7l';
const leave = '\x1b[?7h\x1b[?25h\x1b[?1049l';

class Terminal extends EventEmitter {
  readonly isTTY = true;
  columns = 30;
  rows = 5;
  text = '';
  isRaw = false;
  isReading = false;
  write(text: string): void {
    this.text += text;
  }
  setRawMode(isRaw: boolean): void {
    this.isRaw = isRaw;
  }
  resume(): void {
    this.isReading = true;
  }
  pause(): void {
    this.isReading = false;
  }
}

function openScreen(terminal: Terminal) {
  const asked = { resize: 0, quit: 0 };
  const parts = {
    output: terminal,
    input: terminal,
    onResize: () => void asked.resize++,
    onQuit: () => void asked.quit++,
  };
  return { asked, parts };
}

test('[MON-001] the terminal is given back as it was, once', () => {
  const terminal = new Terminal();
  const { parts } = openScreen(terminal);
  const screen = new Screen(parts);
  expect(terminal).toMatchObject({ text: enter, isRaw: true, isReading: true });
  screen.draw(['one', 'two']);
  expect(terminal.text).toBe(`${enter}\x1b[Hone\x1b[K\r\ntwo\x1b[K\x1b[J`);
  screen.close();
  screen.close();
  screen.draw(['late']);
  expect(terminal).toMatchObject({ isRaw: false, isReading: false });
  expect(terminal.text.endsWith(`two\x1b[K\x1b[J${leave}`)).toBe(true);
  expect([terminal.listenerCount('data'), terminal.listenerCount('resize')]).toEqual([0, 0]);
});

test('[MON-001] q and Ctrl-C end it, other keys do not', () => {
  const terminal = new Terminal();
  const { asked, parts } = openScreen(terminal);
  new Screen(parts);
  for (const keys of ['x', '\x1b[A', 'Z']) terminal.emit('data', Buffer.from(keys));
  expect(asked.quit).toBe(0);
  for (const keys of ['q', 'Q', '\x03', 'aq']) terminal.emit('data', Buffer.from(keys));
  expect(asked.quit).toBe(4);
  terminal.emit('resize');
  expect(asked.resize).toBe(1);
});

test('[MON-001] a picture fits the terminal as it is now, and the last one stays to be read', () => {
  const terminal = new Terminal();
  const display = screenDisplay(openScreen(terminal).parts, false);
  const model = { hosts: [liveView()], intervalMs: 1_000, now: new Date(2026, 0, 1, 12, 0, 5), nowMs: 1_000 };
  display.show(model);
  const pictureOf = (text: string): string[] => text.slice(text.lastIndexOf('\x1b[H') + 3).split('\x1b[K');
  const small = pictureOf(terminal.text);
  expect(small).toHaveLength(6);
  expect(Math.max(...small.map((line) => line.trim().length))).toBe(29);
  terminal.columns = 120;
  terminal.rows = 40;
  display.show(model);
  expect(pictureOf(terminal.text)[0]).toBe('zlink-top  12:00:05  1 host  every 1 s  q ends');
  display.close(model);
  const [, after = ''] = terminal.text.split(leave);
  expect(after).toMatch(/^zlink-top {2}12:00:05 {2}1 host {2}every 1 s\n\nbilling {2}pid 4242/);
});

test('[C25] a terminal that is gone changes nothing', () => {
  const terminal = new Terminal();
  const screen = new Screen(openScreen(terminal).parts);
  terminal.write = () => {
    throw new Error('EIO');
  };
  expect(() => screen.close()).not.toThrow();
});
