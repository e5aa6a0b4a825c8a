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
import { RecordLane } from './record-lane.ts';
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

/** An error with the key by which it is limited. */
interface WaitingError {
  readonly key: string;
  readonly record: DispatchErrorRecord;
}

export class RecordQueue {
  readonly #clock: Pick<Clock, 'nowMs'>;
  readonly #logger: Logger;
  readonly #log: RateLimitedLog;
  readonly #nextTurn: (callback: () => void) => void;
  readonly #onTurn = (): void => this.#writeSome();
  readonly #phases = new RecordLane<MessageFlowRecord>();
  readonly #errors = new RecordLane<WaitingError>();
  #nextPlace = 0;
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
    if (this.#isClosed) return this.#logger.debug(record); // 3
    this.#phases.add(record, this.#nextPlace++);
    this.#hop();
  }

  addError(key: string, record: DispatchErrorRecord): void {
    if (this.#isFull) {
      this.#dropped++;
      if (this.#phases.count === 0) return;
      this.#phases.removeLatest();
    }
    if (this.#isClosed) return this.#log.warn(key, record); // 3
    this.#errors.add({ key, record }, this.#nextPlace++);
    this.#hop();
  }

  /** Writes what waits (3). */
  close(): void {
    this.#isClosed = true;
    this.#writeFor(CLOSE_MS);
    this.#dropped += this.#count;
    this.#phases.clear();
    this.#errors.clear();
  }

  get #count(): number {
    return this.#phases.count + this.#errors.count;
  }

  get #isFull(): boolean {
    return this.#count >= LIMIT;
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
    for (let written = 0; this.#count > 0; written++) {
      if (written % RECORDS_PER_LOOK === 1 && this.#clock.nowMs() >= endAtMs) return;
      this.#writeOldest();
    }
  }

  #writeOldest(): void {
    if (this.#phases.firstPlace < this.#errors.firstPlace) return this.#logger.debug(this.#phases.takeOldest());
    const { key, record } = this.#errors.takeOldest();
    this.#log.warn(key, record);
  }
}
