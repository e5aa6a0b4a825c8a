/**
 * The end of one call's patience: its timeout, or its caller's abort.
 *
 * Owns one timer and one listener, both gone after `dispose`. Leaves to the call what its end means.
 */
import type { Clock, TimerHandle } from '@zlink/kernel/internal/time';

type LimitReason = 'timeout' | 'aborted';

export class CallLimit {
  /** Resolves when the patience is over, and never if it is disposed before. */
  readonly over: Promise<void>;
  readonly timeoutMs: number;
  readonly #clock: Clock;
  readonly #timer: TimerHandle;
  readonly #signal: AbortSignal | undefined;
  readonly #onAbort: () => void;
  #reason: LimitReason | undefined;
  #resolve: () => void = () => undefined; // replaced at once by the promise below

  constructor(clock: Clock, timeoutMs: number, signal: AbortSignal | undefined) {
    this.over = new Promise((resolve) => (this.#resolve = resolve));
    this.timeoutMs = timeoutMs;
    this.#clock = clock;
    this.#signal = signal;
    this.#onAbort = () => this.#end('aborted');
    this.#timer = clock.setTimer(() => this.#end('timeout'), timeoutMs);
    signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  get reason(): LimitReason | undefined {
    return this.#reason;
  }

  get abortReason(): unknown {
    return this.#signal?.reason as unknown;
  }

  dispose(): void {
    this.#clock.clearTimer(this.#timer);
    this.#signal?.removeEventListener('abort', this.#onAbort);
  }

  #end(reason: LimitReason): void {
    this.#reason ??= reason;
    this.#resolve();
  }
}
