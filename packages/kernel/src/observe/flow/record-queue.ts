/**
 * Records on their way to the logger.
 *
 * Owns that messages never wait for it: what is to be told is kept, and written in later turns of the event loop (TRACE-012).
 * Leaves what a record says to its form.
 *
 * 1. At most 4,096 wait. When so many do, an ordinary phase is not taken; errors, drops and back pressure take the place of
 *    the latest ordinary one. What is left out is counted.
 * 2. They are written in the order in which they were added, for about 1 ms at a time and an eighth of all time, with rests
 *    of a second at most: a slow logger takes no more from messages.
 * 3. No hop is ordered while nothing waits. Closing takes 100 ms at most, whatever waits; what comes then is written at once.
 * 4. Phases go to the logger at `debug`, errors to the rate-limited log at `warn`; neither throws (TRACE-001).
 * 5. A record that the logger itself causes waits behind those that are being written.
 */
import { afterPendingReads, type Clock, type TimerHandle } from '../../internal/time/index.ts';
import type { Logger } from '../logger.ts';
import type { RateLimitedLog } from '../rate-limited-log.ts';
import type { FollowedMessage } from './message-facts.ts';
import type { FlowPlace } from './place.ts';
import type { RecordForm } from './record-form.ts';
import type { DispatchErrorRecord, FlowPhase } from './records.ts';
import { SlotRing } from './slot-ring.ts';
import { WaitingError } from './waiting-error.ts';
import { type PhaseDetails, WaitingPhase } from './waiting-phase.ts';

const LIMIT = 4_096;
const WRITING_MS = 1;
/** After writing, of the time that it took (2); a process that was stopped meanwhile does not rest for long. */
const REST_SHARE = 7;
const REST_LIMIT_MS = 1_000;
const CLOSE_MS = 100;
/** The clock is asked after the first record of a turn, and then after so many; after each one while the logger is slow. */
const RECORDS_PER_LOOK = 4;
const SLOW_MS = 0.2;

export interface RecordQueueOptions {
  readonly clock: Pick<Clock, 'nowMs' | 'setTimer' | 'clearTimer'>;
  /** A guarded one. */
  readonly logger: Logger;
  /** Over that logger. */
  readonly log: RateLimitedLog;
  /** A hop to a later turn of the event loop; by default after all that this turn sends and can receive. */
  readonly nextTurn?: (callback: () => void) => void;
}

export class RecordQueue {
  readonly #form: RecordForm;
  readonly #clock: RecordQueueOptions['clock'];
  readonly #logger: Logger;
  readonly #log: RateLimitedLog;
  readonly #nextTurn: (callback: () => void) => void;
  readonly #onTurn = (): void => this.#writeSome();
  readonly #onRested = (): void => this.#nextTurn(this.#onTurn);
  readonly #phases = new SlotRing(LIMIT, () => new WaitingPhase());
  /** Drops and back pressure. */
  readonly #troubles = new SlotRing(LIMIT, () => new WaitingPhase());
  readonly #errors = new SlotRing(LIMIT, () => new WaitingError());
  #nextOrder = 0;
  #dropped = 0;
  #isHopOrdered = false;
  #isWriting = false;
  #restEndsAtMs = -Infinity;
  #rest: TimerHandle | undefined;
  #isClosed = false;

  constructor(form: RecordForm, options: RecordQueueOptions) {
    this.#form = form;
    this.#clock = options.clock;
    this.#logger = options.logger;
    this.#log = options.log;
    this.#nextTurn = options.nextTurn ?? afterPendingReads;
  }

  /** How many were left out (1). */
  get dropped(): number {
    return this.#dropped;
  }

  addPhase(place: FlowPlace, phase: FlowPhase, message: FollowedMessage, details: PhaseDetails): void {
    const isTrouble = phase === 'dropped' || phase === 'backpressured';
    if (isTrouble ? !this.#makesRoom() : this.#isFull) {
      this.#dropped++;
      return;
    }
    (isTrouble ? this.#troubles : this.#phases)
      .claim()
      .hold(this.#nextOrder++, this.#form.now(), place, phase, message, details);
    this.#added();
  }

  addError(key: string, record: DispatchErrorRecord): void {
    if (!this.#makesRoom()) {
      this.#dropped++;
      return;
    }
    this.#errors.claim().hold(this.#nextOrder++, key, record);
    this.#added();
  }

  /** Writes what waits (3). */
  close(): void {
    this.#isClosed = true;
    if (this.#rest !== undefined) this.#clock.clearTimer(this.#rest);
    if (!this.#isWriting) this.#writeFor(CLOSE_MS, 1);
    this.#dropped += this.#count;
    for (const ring of [this.#phases, this.#troubles, this.#errors]) ring.clear();
  }

  get #count(): number {
    return this.#phases.count + this.#troubles.count + this.#errors.count;
  }

  get #isFull(): boolean {
    return this.#count >= LIMIT;
  }

  /** For what is left out last (1). */
  #makesRoom(): boolean {
    if (!this.#isFull) return true;
    if (this.#phases.count === 0) return false;
    this.#phases.removeLatest();
    this.#dropped++;
    return true;
  }

  #added(): void {
    if (this.#isWriting) return; // 5
    if (this.#isClosed)
      this.#writeFor(CLOSE_MS, 1); // 3
    else this.#hop();
  }

  #hop(): void {
    if (this.#isHopOrdered) return;
    this.#isHopOrdered = true;
    const restMs = this.#restEndsAtMs - this.#clock.nowMs();
    if (restMs <= 0) this.#nextTurn(this.#onTurn);
    else this.#rest = this.#clock.setTimer(this.#onRested, restMs);
  }

  #writeSome(): void {
    if (this.#isClosed) return;
    const startedAtMs = this.#clock.nowMs();
    this.#writeFor(WRITING_MS, RECORDS_PER_LOOK);
    const nowMs = this.#clock.nowMs();
    this.#restEndsAtMs = nowMs + Math.min((nowMs - startedAtMs) * REST_SHARE, REST_LIMIT_MS); // 2
    this.#isHopOrdered = false;
    if (this.#count > 0) this.#hop();
  }

  /** @param perLook - so many records at most pass between two looks at the clock */
  #writeFor(ms: number, perLook: number): void {
    let lookedAtMs = this.#clock.nowMs();
    const endAtMs = lookedAtMs + ms;
    let beforeLook = 1;
    this.#isWriting = true;
    while (this.#count > 0) {
      this.#writeOldest();
      if (--beforeLook > 0) continue;
      const nowMs = this.#clock.nowMs();
      if (nowMs >= endAtMs) break;
      beforeLook = nowMs - lookedAtMs > SLOW_MS ? 1 : perLook;
      lookedAtMs = nowMs;
    }
    this.#isWriting = false;
  }

  #writeOldest(): void {
    const phases = this.#phases.firstOrder < this.#troubles.firstOrder ? this.#phases : this.#troubles;
    if (phases.firstOrder < this.#errors.firstOrder) this.#writePhase(phases.takeOldest());
    else this.#writeError(this.#errors.takeOldest());
  }

  #writePhase(waiting: WaitingPhase): void {
    const record = this.#form.phase(waiting);
    waiting.release();
    this.#logger.debug(record);
  }

  #writeError(waiting: WaitingError): void {
    const { key, record } = waiting;
    waiting.release();
    this.#log.warn(key, record!); // it was held
  }
}
