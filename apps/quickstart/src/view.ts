/**
 * Where the demo is shown: redrawn in place on a terminal, as lines with a time anywhere else.
 *
 * Owns what is on the screen. Leaves wording to the acts.
 *
 * V1 What is told stays; what is shown is replaced by the next.
 * V2 No line that will be replaced is wider than the terminal: a wrapped one would break the redrawing.
 * V3 `close` gives the terminal back as it was.
 */
/** What there is to see at one moment. */
export interface Frame {
  /** For a terminal. */
  readonly lines: readonly string[];
  /** The same in one line, for logs. */
  readonly line: string;
}

export interface View {
  /** How often `show` is worth calling. */
  readonly everyMs: number;
  tell(lines: readonly string[]): void;
  show(frame: Frame): void;
  /** The last lines of an act, in place of what was shown. */
  close(lines: readonly string[]): void;
}

/** The part of `process.stdout` that a view needs. */
export interface Output {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** A frame and a line above it. */
const minRows = 12;

export function createView(output: Output, environment: Environment, now: () => Date = () => new Date()): View {
  return isRedrawable(output, environment) ? new TerminalView(output) : new PlainView(output, now);
}

function isRedrawable({ isTTY, rows = 0 }: Output, environment: Environment): boolean {
  const { NO_COLOR, TERM, CI } = environment;
  if (isTTY !== true || rows < minRows || TERM === 'dumb') return false;
  return (NO_COLOR ?? '') === '' && (CI ?? '') === ''; // set but empty means unset (no-color.org)
}

class PlainView implements View {
  readonly everyMs = 1_000;
  readonly #output: Output;
  readonly #now: () => Date;

  constructor(output: Output, now: () => Date) {
    this.#output = output;
    this.#now = now;
  }

  tell(lines: readonly string[]): void {
    const time = this.#now().toTimeString().slice(0, 8);
    for (const line of lines) this.#output.write(line === '' ? '\n' : `${time}  ${line}\n`);
  }

  show({ line }: Frame): void {
    this.tell([line]);
  }

  close(lines: readonly string[]): void {
    this.tell(lines);
  }
}

const hideCursor = '\x1b[?25l';
const showCursor = '\x1b[?25h';
const clearBelow = '\x1b[J';

class TerminalView implements View {
  readonly everyMs = 250;
  readonly #output: Output;
  #shownLines: readonly string[] = [];

  constructor(output: Output) {
    this.#output = output;
  }

  tell(lines: readonly string[]): void {
    this.#draw(lines, this.#shownLines); // V1
  }

  show({ lines }: Frame): void {
    this.#draw([], lines);
  }

  close(lines: readonly string[]): void {
    this.#draw(lines, []);
    this.#output.write(showCursor); // V3
  }

  /** In one write, so that no half picture is ever seen. */
  #draw(told: readonly string[], shown: readonly string[]): void {
    const back = this.#shownLines.length > 0 ? `\x1b[${this.#shownLines.length}A` : '';
    const text = [...told, ...shown.map((line) => this.#fit(line))].map((line) => `${line}\n`).join('');
    this.#output.write(`${hideCursor}${back}${clearBelow}${text}`);
    this.#shownLines = shown;
  }

  #fit(line: string): string {
    return line.slice(0, (this.#output.columns ?? 80) - 1); // V2
  }
}
