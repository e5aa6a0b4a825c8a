/**
 * One run of `zlink-top`: which hosts, how often, until when.
 *
 * Owns the watches, the timer and the exit code. Leaves the process (signals, streams) to main.
 *
 * 1. It ends when nobody is left to look at, when the person wants it to, or after one view; then nothing of it is left.
 * 2. One host that fails or ends is shown and changes nothing for the others.
 * 3. A host that does not answer holds up neither the first view nor the end of `--once`.
 */
import type { TopOptions } from './arguments.ts';
import type { Display } from './display.ts';
import type { ViewModel } from './view/render.ts';
import { printable } from './view/printable.ts';
import { HostWatch } from './watch/host-watch.ts';

const ANSWER_WITHIN_MS = 5_000;

/** 0 all went well; 1 a host that was named, or every host, could not be looked at; 2 the command line is wrong. */
export type ExitCode = 0 | 1 | 2;

export interface TopParts {
  readonly options: Pick<TopOptions, 'once' | 'intervalMs'>;
  readonly paths: readonly string[];
  /** Whether somebody has named them: one that fails is a failure then. */
  readonly areNamed: boolean;
  readonly display: (top: { redraw(): void; quit(): void }) => Display;
  readonly complain: (text: string) => void;
  readonly nowMs: () => number;
  readonly date: () => Date;
}

export function runTop(parts: TopParts, signal: AbortSignal): Promise<ExitCode> {
  return new Promise((resolve) => new Top(parts, resolve).start(signal));
}

class Top {
  readonly #parts: TopParts;
  readonly #resolve: (code: ExitCode) => void;
  readonly #watches: HostWatch[] = [];
  readonly #display: Display;
  #redrawing: NodeJS.Timeout | undefined;
  #givingUp: NodeJS.Timeout | undefined;
  #hasShown = false;
  #isOver = false;

  constructor(parts: TopParts, resolve: (code: ExitCode) => void) {
    this.#parts = parts;
    this.#resolve = resolve;
    this.#display = parts.display({ redraw: () => this.#redraw(), quit: () => this.#end() });
  }

  start(signal: AbortSignal): void {
    const { paths, options, nowMs } = this.#parts;
    const { intervalMs, once } = options;
    signal.addEventListener('abort', () => this.#end(), { once: true });
    for (const path of paths) {
      this.#watches.push(new HostWatch({ path, intervalMs, nowMs, onChange: (watch) => this.#changed(watch) }));
    }
    const answerMs = once ? intervalMs + ANSWER_WITHIN_MS : ANSWER_WITHIN_MS;
    this.#givingUp = setTimeout(() => this.#giveUp(), answerMs); // 3
    if (!once) this.#redrawing = setInterval(() => this.#show(), intervalMs);
  }

  #changed(watch: HostWatch): void {
    if (this.#isOver) return;
    const { once } = this.#parts.options;
    if (!once || isDone(watch)) this.#display.changed(watch.view);
    if (once && isDone(watch)) watch.close();
    if (once ? this.#watches.every(isDone) : this.#watches.every(({ isOver }) => isOver)) this.#finish();
    else if (!this.#hasShown && this.#watches.every(hasAnswered)) this.#firstShow();
  }

  /** Until the first answers there is nothing worth showing. */
  #firstShow(): void {
    if (this.#parts.options.once) return;
    this.#show();
    this.#redrawing?.refresh();
  }

  #giveUp(): void {
    if (this.#parts.options.once) {
      for (const watch of this.#watches) if (!isDone(watch)) watch.fail('it does not answer'); // ends by the last of them
    } else if (!this.#hasShown) {
      this.#hasShown = true;
      this.#show();
    }
  }

  #redraw(): void {
    if (this.#hasShown) this.#show();
  }

  #show(): void {
    if (!this.#hasShown && !this.#watches.every(hasAnswered)) return;
    this.#hasShown = true;
    this.#display.show(this.#model());
  }

  #model(): ViewModel {
    const { date, nowMs, options } = this.#parts;
    const hosts = this.#watches.map(({ view }) => view);
    return { hosts, intervalMs: options.intervalMs, now: date(), nowMs: nowMs() };
  }

  /** Nothing more will come. */
  #finish(): void {
    const isAnythingToShow = this.#watches.some(({ view }) => view.kind !== 'failed');
    this.#end(isAnythingToShow ? this.#model() : undefined);
  }

  #end(last?: ViewModel): void {
    if (this.#isOver) return;
    this.#isOver = true; // 1
    clearInterval(this.#redrawing);
    clearTimeout(this.#givingUp);
    for (const watch of this.#watches) watch.close();
    this.#display.close(last);
    this.#resolve(this.#judge());
  }

  #judge(): ExitCode {
    const { areNamed, complain } = this.#parts;
    let failed = 0;
    for (const { view } of this.#watches) {
      if (view.kind !== 'failed') continue;
      failed++;
      complain(`${printable(view.path)}: ${printable(view.reason)}`);
    }
    return failed === this.#watches.length || (failed > 0 && areNamed) ? 1 : 0;
  }
}

const hasAnswered = ({ view }: HostWatch): boolean => view.kind !== 'connecting';

/** For one view: rates need two reports. */
const isDone = ({ view, isOver }: HostWatch): boolean => isOver || (view.kind === 'live' && view.rates !== undefined);
