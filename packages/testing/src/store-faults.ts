/**
 * A Location Store that fails when a test says so.
 *
 * Owns the faults, and the record of what was asked. Leaves the data to the store that it stands in front of.
 *
 * S1 A fault is of one operation or of all but `dispose`, for a number of calls or until it is healed; of several, the one
 *    injected last comes first.
 * S2 A call that waits ignores the abort of its signal, as the worst store would; when it is let go it takes effect.
 */
import { type LocationStore, type StoreBatch, StoreError } from '@zlink/kernel/location';
import { type Clock, systemClock } from '@zlink/kernel/internal/time';

export type StoreOperation = 'open' | 'read' | 'commit' | 'scan' | 'dispose';

/** Before the call takes effect, or behind its effect and before the answer. */
export type StoreFaultPoint = 'request' | 'reply';

export type StoreFault =
  /** Nothing takes effect; `error` is an unavailable store that knows so, unless given. */
  | { readonly kind: 'fail'; readonly error?: unknown }
  /** The same, but thrown by the call itself instead of a rejection. */
  | { readonly kind: 'throw'; readonly error: unknown }
  /** The call takes effect and rejects with a `StoreError` of outcome `unknown`. */
  | { readonly kind: 'loseReply' }
  /** The call waits until it is healed. */
  | { readonly kind: 'hold'; readonly at: StoreFaultPoint }
  /** The call waits for so long by the clock; healing does not shorten it. */
  | { readonly kind: 'delay'; readonly at: StoreFaultPoint; readonly ms: number };

export interface FaultyLocationStore extends LocationStore {
  /** @param times - calls that the fault befalls; without it all of them until `heal` */
  inject(fault: StoreFault, on?: StoreOperation, times?: number): void;
  /** Ends the faults of an operation, or all, and lets go what they hold; calls go on in the order in which they came. */
  heal(on?: StoreOperation): void;
  /** Reports that acknowledged commits may be lost. */
  disrupt(): void;
  onDisruption(listener: () => void): () => void;
  /** How often each operation was asked for. */
  readonly calls: Readonly<Record<StoreOperation, number>>;
  /** Every commit that was asked for, whatever became of it. */
  readonly batches: readonly StoreBatch[];
  /** Calls that a `hold` keeps now. */
  readonly heldCount: number;
  /** Listeners for disruptions. */
  readonly listenerCount: number;
}

export function createFaultyLocationStore(store: LocationStore, clock: Clock = systemClock): FaultyLocationStore {
  return new FaultyStore(store, clock);
}

interface Rule {
  readonly fault: StoreFault;
  readonly on: StoreOperation | undefined;
  timesLeft: number;
}

interface HeldCall {
  readonly operation: StoreOperation;
  readonly letGo: () => void;
}

class FaultyStore implements FaultyLocationStore {
  readonly capabilities: LocationStore['capabilities'];
  readonly calls: Record<StoreOperation, number> = { open: 0, read: 0, commit: 0, scan: 0, dispose: 0 };
  readonly batches: StoreBatch[] = [];
  readonly #store: LocationStore;
  readonly #clock: Clock;
  readonly #listeners = new Set<() => void>();
  #rules: readonly Rule[] = [];
  #held: readonly HeldCall[] = [];

  constructor(store: LocationStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
    this.capabilities = store.capabilities;
  }

  get heldCount(): number {
    return this.#held.length;
  }

  get listenerCount(): number {
    return this.#listeners.size;
  }

  inject(fault: StoreFault, on?: StoreOperation, times = Infinity): void {
    this.#rules = [{ fault, on, timesLeft: times }, ...this.#rules]; // S1
  }

  heal(on?: StoreOperation): void {
    this.#rules = on === undefined ? [] : this.#rules.filter((rule) => rule.on !== on);
    const free = this.#held.filter(({ operation }) => on === undefined || operation === on);
    this.#held = this.#held.filter((call) => !free.includes(call));
    for (const { letGo } of free) letGo();
  }

  disrupt(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  onDisruption(listener: () => void): () => void {
    const entry = (): void => listener(); // the same listener may come twice
    this.#listeners.add(entry);
    const forget = this.#store.onDisruption?.(entry);
    return () => {
      this.#listeners.delete(entry);
      forget?.();
    };
  }

  open(signal?: AbortSignal): ReturnType<LocationStore['open']> {
    return this.#run('open', (late) => this.#store.open(late ? undefined : signal));
  }

  read(...[request, signal]: Parameters<LocationStore['read']>): ReturnType<LocationStore['read']> {
    return this.#run('read', (late) => this.#store.read(request, late ? undefined : signal));
  }

  commit(...[batch, signal]: Parameters<LocationStore['commit']>): ReturnType<LocationStore['commit']> {
    this.batches.push(batch);
    return this.#run('commit', (late) => this.#store.commit(batch, late ? undefined : signal));
  }

  scan(...[request, signal]: Parameters<LocationStore['scan']>): ReturnType<LocationStore['scan']> {
    return this.#run('scan', (late) => this.#store.scan(request, late ? undefined : signal));
  }

  dispose(): Promise<void> {
    return this.#run('dispose', () => this.#store.dispose());
  }

  /** Not async: a fault may throw. `call` is told whether it comes late, when its signal no longer counts (S2). */
  #run<T>(operation: StoreOperation, call: (late: boolean) => Promise<T>): Promise<T> {
    this.calls[operation]++;
    const fault = this.#take(operation);
    switch (fault?.kind) {
      case undefined:
        return call(false);
      case 'throw':
        throw fault.error;
      case 'fail':
        return reject(fault.error ?? new StoreError('unavailable', 'notApplied', 'the store is out of order'));
      case 'loseReply':
        return call(false).then(() => reject(new StoreError('timeout', 'unknown', 'the reply was lost')));
      case 'hold':
        return this.#wait(fault.at, call, (letGo) => (this.#held = [...this.#held, { operation, letGo }]));
      case 'delay':
        return this.#wait(fault.at, call, (letGo) => this.#clock.setBackgroundTimer(letGo, fault.ms));
    }
  }

  async #wait<T>(at: StoreFaultPoint, call: (late: boolean) => Promise<T>, park: (letGo: () => void) => unknown) {
    const reply = at === 'reply' ? call(false) : undefined;
    reply?.catch(() => {}); // it is looked at when its time has come
    await new Promise<void>(park);
    return reply ?? call(true);
  }

  #take(operation: StoreOperation): StoreFault | undefined {
    const isHit = ({ on }: Rule): boolean => (on === undefined ? operation !== 'dispose' : on === operation);
    const rule = this.#rules.find(isHit);
    if (rule === undefined) return undefined;
    rule.timesLeft--;
    if (rule.timesLeft <= 0) this.#rules = this.#rules.filter((other) => other !== rule);
    return rule.fault;
  }
}

/** A store may reject with anything at all, so this one can, too. */
function reject(error: unknown): Promise<never> {
  return Promise.resolve().then(() => {
    throw error;
  });
}
