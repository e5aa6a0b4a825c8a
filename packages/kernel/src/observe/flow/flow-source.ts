/**
 * Begins flows.
 *
 * Owns the ids: UUIDv7 of the calendar time and a pool of random words, so that the platform is asked once for many.
 */
import { systemDateMs } from '../../internal/time/index.ts';
import { CarriedFlow, type FlowOrigin, originNumber } from './flow.ts';

export interface FlowSourceOptions {
  /** Calendar time in ms. */
  readonly dateMs?: () => number;
  /** Fills with random 32-bit words, fit for ids. */
  readonly fillRandom?: (words: Int32Array) => void;
}

const POOL_WORDS = 1_024;
const WORDS_PER_ID = 3;

export class FlowSource {
  readonly dateMs: () => number;
  readonly #fillRandom: (words: Int32Array) => void;
  readonly #pool = new Int32Array(POOL_WORDS);
  #next = POOL_WORDS;

  constructor(options: FlowSourceOptions = {}) {
    this.dateMs = options.dateMs ?? systemDateMs;
    this.#fillRandom = options.fillRandom ?? ((words) => void crypto.getRandomValues(words));
  }

  begin(origin: FlowOrigin): CarriedFlow {
    if (this.#next + WORDS_PER_ID > POOL_WORDS) {
      this.#fillRandom(this.#pool);
      this.#next = 0;
    }
    const at = this.#next;
    this.#next = at + WORDS_PER_ID;
    const ms = this.dateMs();
    return new CarriedFlow(
      originNumber(origin),
      undefined,
      (ms / 0x1_0000) | 0, // the upper 32 of its 48 bits
      ((ms & 0xffff) << 16) | 0x7000 | (this.#pool[at]! & 0x0fff), // version 7
      (2 << 30) | (this.#pool[at + 1]! & 0x3fff_ffff), // variant 10
      this.#pool[at + 2]!,
    );
  }
}
