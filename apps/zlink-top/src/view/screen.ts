/**
 * The whole terminal, redrawn in place.
 *
 * Owns the state of the terminal. Leaves what is drawn to the view.
 *
 * 1. It is given back as it was, once, however the program ends: `close` may be called at any time, also at the process's exit.
 * 2. A picture is one write, so that no half one is ever seen.
 */

/** The part of `process.stdout` that is needed. */
interface TerminalOutput {
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
  on(event: 'resize', listener: () => void): unknown;
  off(event: 'resize', listener: () => void): unknown;
}

/** The part of `process.stdin`. */
interface TerminalInput {
  readonly isTTY?: boolean;
  setRawMode?(isRaw: boolean): unknown;
  resume(): unknown;
  pause(): unknown;
  on(event: 'data', listener: (keys: Buffer) => void): unknown;
  off(event: 'data', listener: (keys: Buffer) => void): unknown;
}

export interface ScreenParts {
  readonly output: TerminalOutput;
  readonly input: TerminalInput;
  readonly onResize: () => void;
  readonly onQuit: () => void;
}

// The other buffer keeps what was on the terminal; lines must not wrap, or the picture would scroll.
const ENTER = '\x1b[?1049h\x1b[?25l\x1b[?7l';
const LEAVE = '\x1b[?7h\x1b[?25h\x1b[?1049l';
const HOME = '\x1b[H';
const CLEAR_REST_OF_LINE = '\x1b[K';
const CLEAR_BELOW = '\x1b[J';

const CTRL_C = 0x03;
const QUIT_KEYS = new Set([CTRL_C, 'q'.charCodeAt(0), 'Q'.charCodeAt(0)]);

export class Screen {
  readonly #parts: ScreenParts;
  readonly #onKeys = (keys: Buffer): void => {
    if (keys.some((key) => QUIT_KEYS.has(key))) this.#parts.onQuit();
  };
  #isOpen = true;

  constructor(parts: ScreenParts) {
    this.#parts = parts;
    const { output, input, onResize } = parts;
    output.write(ENTER);
    output.on('resize', onResize);
    if (input.isTTY !== true) return; // keys come from a terminal only
    input.setRawMode?.(true);
    input.on('data', this.#onKeys);
    input.resume();
  }

  get room(): { readonly columns: number; readonly rows: number } {
    const { columns = 80, rows = 24 } = this.#parts.output;
    return { columns: columns - 1, rows }; // behind a full line, clearing its rest would take its last character
  }

  draw(lines: readonly string[]): void {
    if (!this.#isOpen) return;
    const picture = lines.map((line) => `${line}${CLEAR_REST_OF_LINE}`).join('\r\n');
    this.#parts.output.write(`${HOME}${picture}${CLEAR_BELOW}`); // 2
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false; // 1
    const { output, input, onResize } = this.#parts;
    output.off('resize', onResize);
    input.off('data', this.#onKeys);
    try {
      output.write(LEAVE);
      if (input.isTTY !== true) return;
      input.pause();
      input.setRawMode?.(false);
    } catch {
      // The terminal is gone: there is nothing to give back.
    }
  }
}
