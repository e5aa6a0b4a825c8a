/**
 * Records on their way to the logger.
 *
 * Owns that messages never wait for it: entries are kept, and written in later turns of the event loop (TRACE-012). Leaves
 * what an entry says to the entry.
 *
 * 1. At most 4,096 wait. When so many do, a phase is not taken; an error takes the place of the latest phase. What is left
 *    out is counted.
 * 2. They are written in the order in which they were added, and for 1 ms per turn: a slow logger costs messages no more.
 * 3. No hop is ordered while nothing waits. Closing takes 100 ms at most, whatever waits; what comes then is written at once.
 */
import type { Clock } from '../../internal/time/index.ts';
import type { RecordEntry } from './record-entry.ts';

/** Never throws. */
interface EntryWriter {
  write(entry: RecordEntry): void;
}

const LIMIT = 4_096;
const TURN_MS = 1;
const CLOSE_MS = 100;

export class RecordQueue {
  readonly #writer: EntryWriter;
  readonly #clock: Pick<Clock, 'nowMs'>;
  readonly #nextTurn: (callback: () => void) => void;
  readonly #phases = new Line();
  readonly #errors = new Line();
  readonly #onTurn = (): void => this.#writeSome();
  #order = 0;
  #dropped = 0;
  #isHopOrdered = false;
  #isClosed = false;

  constructor(writer: EntryWriter, clock: Pick<Clock, 'nowMs'>, nextTurn: (callback: () => void) => void) {
    this.#writer = writer;
    this.#clock = clock;
    this.#nextTurn = nextTurn;
  }

  /** How many were left out (1). */
  get dropped(): number {
    return this.#dropped;
  }

  addPhase(entry: RecordEntry): void {
    if (this.#isFull) this.#dropped++;
    else this.#add(this.#phases, entry);
  }

  addError(entry: RecordEntry): void {
    if (this.#isFull) {
      this.#dropped++;
      if (!this.#phases.removeLast()) return;
    }
    this.#add(this.#errors, entry);
  }

  /** Writes what waits (3). */
  close(): void {
    this.#isClosed = true;
    this.#writeFor(CLOSE_MS);
    this.#dropped += this.#waiting;
    this.#phases.clear();
    this.#errors.clear();
  }

  get #waiting(): number {
    return this.#phases.length + this.#errors.length;
  }

  get #isFull(): boolean {
    return this.#waiting >= LIMIT;
  }

  #add(line: Line, entry: RecordEntry): void {
    if (this.#isClosed) return this.#writer.write(entry); // 3
    entry.order = this.#order++;
    line.push(entry);
    this.#hop();
  }

  #hop(): void {
    if (this.#isHopOrdered) return;
    this.#isHopOrdered = true;
    this.#nextTurn(this.#onTurn);
  }

  #writeSome(): void {
    this.#isHopOrdered = false;
    this.#writeFor(TURN_MS); // 2
    if (this.#waiting > 0) this.#hop();
  }

  #writeFor(ms: number): void {
    const endAtMs = this.#clock.nowMs() + ms;
    for (let entry = this.#next(); entry !== undefined; entry = this.#next()) {
      this.#writer.write(entry);
      if (this.#clock.nowMs() >= endAtMs) return;
    }
  }

  #next(): RecordEntry | undefined {
    const phase = this.#phases.first;
    const error = this.#errors.first;
    if (phase === undefined) return this.#errors.shift();
    const isErrorNext = error !== undefined && error.order < phase.order;
    return isErrorNext ? this.#errors.shift() : this.#phases.shift();
  }
}

/** First in, first out; the memory of what has left goes when all has, or when it is the larger part. */
class Line {
  #entries: RecordEntry[] = [];
  #head = 0;

  get length(): number {
    return this.#entries.length - this.#head;
  }

  get first(): RecordEntry | undefined {
    return this.#entries[this.#head];
  }

  push(entry: RecordEntry): void {
    this.#entries.push(entry);
  }

  shift(): RecordEntry | undefined {
    if (this.length === 0) return undefined;
    const entry = this.#entries[this.#head++];
    if (this.#head >= LIMIT || this.length === 0) {
      this.#entries = this.#entries.slice(this.#head);
      this.#head = 0;
    }
    return entry;
  }

  clear(): void {
    this.#entries = [];
    this.#head = 0;
  }

  /** Whether there was one. */
  removeLast(): boolean {
    return this.length > 0 && this.#entries.pop() !== undefined;
  }
}
