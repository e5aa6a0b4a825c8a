/**
 * The one way from discovery to the Location Store.
 *
 * Owns how long an answer is waited for, the repetition of commits whose outcome is unknown, whether the store is taken
 * for ready or degraded, and its end. Leaves what is read and written to its users.
 *
 * 1. Every call ends in bounded time, with an answer or a StoreError, whatever the store does.
 * 2. A commit is repeated unchanged and under its operation id, and only within the time for which the store remembers it;
 *    a submission that was not applied says nothing about an earlier one of the same batch (LOC-070).
 * 3. Only answers and failures of the store move its health. What it says too late, and what was given up here, does not;
 *    neither does a call of a large reading, which may fail by its size alone while all else works.
 * 4. Reading and writing fail each on its own: a store that answers reads and refuses writes stays degraded, instead of being
 *    ready and degraded by turns.
 * 5. Who waits for an answer gets it after `recoveredAtMs` was set and the listeners were told.
 */
import {
  type CommitResult,
  type LocationStore,
  type StoreBatch,
  StoreError,
  type StoreRead,
  type StoreReadResult,
  type StoreScan,
  type StoreScanResult,
} from '../../location/index.ts';
import { errorText, type HostMeter, type Logger, type StoreOperation } from '../../observe/index.ts';
import type { Clock } from '../time/index.ts';
import { boundedCall, pause } from './bounded-call.ts';

export interface StoreChange extends Pick<StoreBatch, 'conditions' | 'mutations'> {
  /** As what a failure of it is counted; default `write`. */
  readonly operation?: StoreOperation;
}

export interface StoreCallsOptions {
  readonly store: LocationStore;
  readonly clock: Clock;
  /** Bounds every call that is not given a time of its own. */
  readonly callTimeoutMs: number;
  readonly logger: Logger;
  readonly meter?: HostMeter | undefined;
  readonly newOperationId?: () => string;
}

export interface CommitTerms {
  readonly signal: AbortSignal | undefined;
  /** Asked before each repetition; where it may not be repeated its outcome stays unknown. */
  readonly mayRepeat: () => boolean;
}

/** The calls of a reading that takes many of them. */
export interface ReadingCalls {
  /** @throws StoreError */
  read(request: StoreRead, signal?: AbortSignal): Promise<StoreReadResult>;
  /** @throws StoreError */
  scan(request: StoreScan): Promise<StoreScanResult>;
}

type Health =
  { readonly kind: 'ready' } | { readonly kind: 'degraded'; readonly sinceMs: number; readonly problem: string };

type Way = 'reading' | 'writing';

interface CallTerms {
  /** Undefined: its failures are not counted. */
  readonly operation?: StoreOperation;
  /** Undefined: it says nothing about the health of the store (3). */
  readonly way?: Way;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
}

/** Shorter than the store's memory for operations by far more than a call takes (2). */
const repeatForMs = 60_000;
const firstPauseMs = 50;
const longestPauseMs = 1_000;
const disposeLimitMs = 2_000;

const ready: Health = { kind: 'ready' };

export class StoreCalls {
  /** Without a word about the health of the store (3). */
  readonly unjudged: ReadingCalls = {
    read: (request, signal) => this.#call((inner) => this.#store.read(request, inner), { operation: 'read', signal }),
    scan: (request) => this.#call((signal) => this.#store.scan(request, signal), { operation: 'scan' }),
  };
  readonly #store: LocationStore;
  readonly #clock: Clock;
  readonly #callTimeoutMs: number;
  readonly #logger: Logger;
  readonly #meter: HostMeter | undefined;
  readonly #newOperationId: () => string;
  readonly #healthListeners: (() => void)[] = [];
  readonly #disruptionListeners: (() => void)[] = [];
  /** Comes when the store is to be disposed. */
  readonly #ending = new AbortController();
  readonly #failing = new Set<Way>();
  #health: Health = ready;
  #recoveredAtMs: number | undefined;
  /** A disruption was reported and nothing has succeeded since. */
  #isDisrupted = false;
  #unlisten: (() => void) | undefined;
  #closing: Promise<unknown> | undefined;

  constructor(options: StoreCallsOptions) {
    this.#store = options.store;
    this.#clock = options.clock;
    this.#callTimeoutMs = options.callTimeoutMs;
    this.#logger = options.logger;
    this.#meter = options.meter;
    this.#newOperationId = options.newOperationId ?? (() => crypto.randomUUID().replaceAll('-', ''));
  }

  /** Why the store is degraded, for people; undefined while it is ready (LOC-064). */
  get problem(): string | undefined {
    return this.#health.kind === 'degraded' ? this.#health.problem : undefined;
  }

  /** Since when the store fails; undefined while it is ready. */
  get failingSinceMs(): number | undefined {
    return this.#health.kind === 'degraded' ? this.#health.sinceMs : undefined;
  }

  /** The first success after the last outage or disruption, or that disruption itself; undefined: there was none (LOC-065). */
  get recoveredAtMs(): number | undefined {
    return this.#recoveredAtMs;
  }

  /** @param listener - the store has become degraded or ready; must not throw */
  onHealth(listener: () => void): void {
    this.#healthListeners.push(listener);
  }

  /** @param listener - acknowledged commits may be lost (LOC-019); must not throw */
  onDisruption(listener: () => void): void {
    this.#disruptionListeners.push(listener);
  }

  /**
   * One try to open the store; listening for disruptions begins with the first.
   *
   * @throws StoreError, or the signal's reason
   */
  async open(signal: AbortSignal): Promise<void> {
    try {
      await this.#call((inner) => this.#listenAndOpen(inner), { way: 'reading', signal });
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    }
  }

  /** @throws StoreError */
  read(request: StoreRead, signal?: AbortSignal): Promise<StoreReadResult> {
    return this.#call((inner) => this.#store.read(request, inner), { way: 'reading', operation: 'read', signal });
  }

  /**
   * One submission under an operation id of its own.
   *
   * @throws StoreError
   */
  attempt(change: StoreChange, timeoutMs: number, signal?: AbortSignal): Promise<CommitResult> {
    const { operation = 'write' } = change;
    return this.#submit(this.#batchOf(change), { way: 'writing', operation, timeoutMs, signal });
  }

  /**
   * Submits until the outcome is known, for 60 s at most.
   *
   * @throws StoreError: `notApplied`, or `unknown` when the time is over, it may not be repeated, the signal aborted or the
   *   store is being closed; then only reading tells
   */
  async commit(change: StoreChange, { signal, mayRepeat }: CommitTerms): Promise<CommitResult> {
    const { operation = 'write' } = change;
    const batch = this.#batchOf(change);
    const giveUpAtMs = this.#clock.nowMs() + repeatForMs;
    let isUnknown = false;
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      try {
        const timeoutMs = Math.min(this.#callTimeoutMs, giveUpAtMs - this.#clock.nowMs());
        return await this.#submit(batch, { way: 'writing', operation, timeoutMs, signal });
      } catch (error) {
        const failure = error as StoreError; // 1
        isUnknown ||= failure.outcome !== 'notApplied'; // 2
        if (!isUnknown) throw failure;
        await this.#pauseAfter(failure, pauseMs, giveUpAtMs, signal);
        if (!mayRepeat()) throw asUnknown(failure);
      }
    }
  }

  /** Gives up what waits, ends listening and disposes the store, once. Gives, and logs, what that threw. */
  close(): Promise<unknown> {
    return (this.#closing ??= this.#end());
  }

  #batchOf({ conditions, mutations }: StoreChange): StoreBatch {
    return { operationId: this.#newOperationId(), conditions, mutations };
  }

  #submit(batch: StoreBatch, terms: CallTerms): Promise<CommitResult> {
    return this.#call((signal) => this.#store.commit(batch, signal), terms);
  }

  async #pauseAfter(failure: StoreError, pauseMs: number, giveUpAtMs: number, signal?: AbortSignal): Promise<void> {
    const signals = [this.#ending.signal, signal];
    const isOver = this.#clock.nowMs() + pauseMs >= giveUpAtMs || signals.some((each) => each?.aborted);
    if (isOver) throw asUnknown(failure);
    await pause(pauseMs, { clock: this.#clock, signals });
    if (this.#clock.nowMs() >= giveUpAtMs) throw asUnknown(failure); // 2: the process may have stood still
  }

  async #call<T>(call: (signal: AbortSignal) => Promise<T>, terms: CallTerms): Promise<T> {
    const { way, operation, timeoutMs = this.#callTimeoutMs, signal } = terms;
    const signals = [this.#ending.signal, signal];
    let answer: T;
    try {
      answer = await boundedCall(call, { clock: this.#clock, timeoutMs, signals });
    } catch (error) {
      const isGivenUp = signals.some((each) => each?.aborted);
      if (operation !== undefined && !isGivenUp) this.#meter?.storeFailed(operation);
      if (way !== undefined && !isGivenUp) this.#failed(way, error as StoreError); // 1, 3
      throw error;
    }
    if (way !== undefined) this.#succeeded(way);
    return answer;
  }

  #listenAndOpen(signal: AbortSignal): Promise<void> {
    this.#unlisten ??= this.#store.onDisruption?.(() => this.#disrupted());
    return this.#store.open(signal);
  }

  #succeeded(way: Way): void {
    this.#failing.delete(way);
    if (this.#ending.signal.aborted || this.#failing.size > 0) return; // 4
    if (this.#health === ready && !this.#isDisrupted) return;
    this.#isDisrupted = false;
    this.#recoveredAtMs = this.#clock.nowMs();
    if (this.#health === ready) return;
    this.#health = ready;
    // At the level of the record that it ends: who saw that one sees this one.
    const text = 'the location store works again';
    this.#logger.warn({ eventId: 'zlink.runtime.location.store_changed', state: 'ready', text });
    for (const listener of this.#healthListeners) listener();
  }

  #failed(way: Way, error: StoreError): void {
    if (isRefusal(error)) return;
    this.#failing.add(way);
    if (this.#health.kind === 'degraded') return;
    const problem = errorText(error);
    this.#health = { kind: 'degraded', sinceMs: this.#clock.nowMs(), problem };
    const text = 'the location store has failed; what is known stays, and nothing new is found until it works again';
    this.#logger.warn({ eventId: 'zlink.runtime.location.store_changed', state: 'degraded', reason: problem, text });
    for (const listener of this.#healthListeners) listener();
  }

  #disrupted(): void {
    if (this.#ending.signal.aborted) return;
    this.#isDisrupted = true;
    this.#recoveredAtMs = this.#clock.nowMs();
    const text =
      'the location store may have lost writes; those of this host are read, and put back where they are missing';
    this.#logger.warn({ eventId: 'zlink.location.disruption', text });
    for (const listener of this.#disruptionListeners) listener();
  }

  async #end(): Promise<unknown> {
    this.#ending.abort();
    let failure: unknown;
    try {
      this.#unlisten?.();
    } catch (error) {
      failure = error;
      this.#disposeFailed(error);
    }
    const bounds = { clock: this.#clock, timeoutMs: disposeLimitMs, signals: [] };
    await boundedCall(() => this.#store.dispose(), bounds).catch((error: unknown) => {
      failure = error;
      this.#disposeFailed(error);
    });
    return failure;
  }

  #disposeFailed(error: unknown): void {
    this.#logger.warn({ eventId: 'zlink.location.dispose_failed', reason: errorText(error) });
  }
}

/** The store has answered: it cannot do this very thing. */
function isRefusal({ code }: StoreError): boolean {
  return code === 'invalidArgument' || code === 'tooLarge' || code === 'exhausted';
}

function asUnknown(failure: StoreError): StoreError {
  if (failure.outcome === 'unknown') return failure;
  return new StoreError(failure.code, 'unknown', failure.message, { cause: failure });
}
