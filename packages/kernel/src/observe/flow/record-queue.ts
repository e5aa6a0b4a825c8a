/**
 * Records on their way to the logger.
 *
 * Owns that messages never wait for it: records are kept, and written in later turns of the event loop (TRACE-012). Leaves
 * what a record says to its form.
 *
 * 1. At most 4,096 wait. When so many do, a phase is not taken; an error takes the place of the latest phase. What is left
 *    out is counted.
 * 2. They are written in the order in which they were added, and for about 1 ms per turn: a slow logger costs messages no
 *    more.
 * 3. No hop is ordered while nothing waits. Closing takes 100 ms at most, whatever waits; what comes then is written at once.
 * 4. Phases go to the logger at `debug`, errors to the rate-limited log at `warn`; neither throws (TRACE-001).
 */
import type { Clock } from '../../internal/time/index.ts';
import type { Logger } from '../logger.ts';
import type { RateLimitedLog } from '../rate-limited-log.ts';
import type { DispatchErrorRecord, MessageFlowRecord } from './records.ts';

const LIMIT = 4_096;
const TURN_MS = 1;
const CLOSE_MS = 100;
/** The clock is asked after the first record of a turn, and then after so many. */
const RECORDS_PER_LOOK = 8;

export interface RecordQueueOptions {
  readonly clock: Pick<Clock, 'nowMs'>;
  /** A guarded one. */
  readonly logger: Logger;
  /** Over that logger. */
  readonly log: RateLimitedLog;
  /** A hop to a later turn of the event loop; default `setImmediate`. */
  readonly nextTurn?: (callback: () => void) => void;
}

/** An error with the key by which it is limited; a phase waits as it is. */
class WaitingError {
  readonly key: string;
  readonly record: DispatchErrorRecord;

  constructor(key: string, record: DispatchErrorRecord) {
    this.key = key;
    this.record = record;
  }
}

export class RecordQueue {
  readonly #clock: Pick<Clock, 'nowMs'>;
  readonly #logger: Logger;
  readonly #log: RateLimitedLog;
  readonly #nextTurn: (callback: () => void) => void;
  readonly #onTurn = (): void => this.#writeSome();
  /** `[#head…]` wait. */
  #waiting: (MessageFlowRecord | WaitingError)[] = [];
  #head = 0;
  #dropped = 0;
  #isHopOrdered = false;
  #isClosed = false;

  constructor(options: RecordQueueOptions) {
    this.#clock = options.clock;
    this.#logger = options.logger;
    this.#log = options.log;
    this.#nextTurn = options.nextTurn ?? setImmediate;
  }

  /** How many were left out (1). */
  get dropped(): number {
    return this.#dropped;
  }

  /** Whether there is room for a phase (1); asked before one is made. */
  takesPhase(): boolean {
    if (!this.#isFull) return true;
    this.#dropped++;
    return false;
  }

  addPhase(record: MessageFlowRecord): void {
    this.#add(record);
  }

  addError(key: string, record: DispatchErrorRecord): void {
    if (this.#isFull) {
      this.#dropped++;
      if (!this.#removeLatestPhase()) return;
    }
    this.#add(new WaitingError(key, record));
  }

  /** Writes what waits (3). */
  close(): void {
    this.#isClosed = true;
    this.#writeFor(CLOSE_MS);
    this.#dropped += this.#count;
    this.#waiting = [];
    this.#head = 0;
  }

  get #count(): number {
    return this.#waiting.length - this.#head;
  }

  get #isFull(): boolean {
    return this.#count >= LIMIT;
  }

  #add(entry: MessageFlowRecord | WaitingError): void {
    if (this.#isClosed) return this.#write(entry); // 3
    this.#waiting.push(entry);
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
    if (this.#count > 0) this.#hop();
  }

  #writeFor(ms: number): void {
    const endAtMs = this.#clock.nowMs() + ms;
    for (let written = 0; this.#head < this.#waiting.length; written++) {
      if (written % RECORDS_PER_LOOK === 1 && this.#clock.nowMs() >= endAtMs) break;
      this.#write(this.#waiting[this.#head++]!);
    }
    if (this.#head < LIMIT && this.#count > 0) return;
    this.#waiting = this.#waiting.slice(this.#head);
    this.#head = 0;
  }

  #write(entry: MessageFlowRecord | WaitingError): void {
    if (entry instanceof WaitingError) this.#log.warn(entry.key, entry.record);
    else this.#logger.debug(entry);
  }

  /** Whether there was one. */
  #removeLatestPhase(): boolean {
    for (let at = this.#waiting.length - 1; at >= this.#head; at--) {
      if (this.#waiting[at] instanceof WaitingError) continue;
      this.#waiting.splice(at, 1);
      return true;
    }
    return false;
  }
}
