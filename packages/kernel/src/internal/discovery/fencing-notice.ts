/**
 * What the log says of admission that closes for want of a renewal, and that opens again.
 *
 * Owns the timer that tells. Leaves deciding to the OwnerLease, which compares the clock at every question: a process that
 * stood still may refuse a message before this has told why.
 *
 * 1. One record when an episode begins, however many renewals fail in it, and one when it ends.
 * 2. None begins while the lease is known to be absent: that is told of already. None is told of after the end.
 */
import type { Logger } from '../../observe/index.ts';
import type { Clock, TimerHandle } from '../time/index.ts';

type FencingState =
  | { readonly kind: 'quiet' }
  | { readonly kind: 'proven'; readonly deadline: TimerHandle }
  | { readonly kind: 'fenced'; readonly sinceMs: number };

export class FencingNotice {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #windowMs: number;
  #state: FencingState = { kind: 'quiet' };

  /** @param windowMs - for so long a proof admits work */
  constructor(clock: Clock, logger: Logger, windowMs: number) {
    this.#clock = clock;
    this.#logger = logger;
    this.#windowMs = windowMs;
  }

  /** A proof that began then admits work. */
  proven(atMs: number): void {
    const before = this.#state;
    const leftMs = atMs + this.#windowMs - this.#clock.nowMs();
    const deadline = this.#clock.setBackgroundTimer(() => this.#passed(atMs), leftMs);
    this.#become({ kind: 'proven', deadline });
    if (before.kind === 'fenced') this.#tellEnd(before.sinceMs);
  }

  /** The lease was found absent. */
  lapsed(): void {
    if (this.#state.kind === 'proven') this.#become({ kind: 'quiet' }); // 2; an episode that was told goes on
  }

  stop(): void {
    this.#become({ kind: 'quiet' });
  }

  #passed(provenAtMs: number): void {
    this.#become({ kind: 'fenced', sinceMs: provenAtMs + this.#windowMs }); // 1
    const unrenewedMs = Math.round(this.#clock.nowMs() - provenAtMs);
    const text = `no renewal for ${unrenewedMs} ms; ClientServer servers of this host refuse new messages until the store answers`;
    this.#logger.warn({ eventId: 'zlink.location.fenced', unrenewedMs, text });
  }

  #tellEnd(sinceMs: number): void {
    const fencedMs = Math.round(this.#clock.nowMs() - sinceMs);
    const text = `renewed after ${fencedMs} ms without admission; ClientServer servers of this host take new messages again`;
    this.#logger.warn({ eventId: 'zlink.location.unfenced', fencedMs, text });
  }

  #become(next: FencingState): void {
    if (this.#state.kind === 'proven') this.#clock.clearTimer(this.#state.deadline);
    this.#state = next;
  }
}
