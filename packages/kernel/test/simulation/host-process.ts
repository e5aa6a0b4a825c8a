/**
 * The process of a host: it can stand still while the world goes on, and it can be killed.
 *
 * Owns what the process perceives: its clock, its timers and the answers that it is given. Leaves the world's time to the
 * stage.
 *
 * 1. Nothing runs while it stands still: timers that fall due and answers that arrive wait.
 * 2. When it goes on either may come first, as with an event loop that was blocked in any of its phases.
 * 3. Its clock begins anywhere and shows no date; it goes on while the process stands still.
 */
import type { Clock, TimerHandle } from '../../src/internal/time/index.ts';
import type { LocationStore } from '../../src/location/index.ts';
import type { Stage } from './simulation.ts';

interface Waiting {
  readonly kind: 'timer' | 'answer';
  readonly run: () => void;
}

interface ProcessTimer {
  readonly inner: TimerHandle;
  fired: Waiting | undefined;
}

export class HostProcess implements Clock {
  readonly #stage: Stage;
  readonly #stopsItsClock: boolean;
  readonly #timers = new Set<ProcessTimer>();
  readonly #waiting = new Set<Waiting>();
  #state: 'running' | 'frozen' | 'killed' = 'running';
  #offsetMs: number;
  #frozenAtMs = 0;

  /** @param stopsItsClock - against 3, for a simulation that is to find it */
  constructor(stage: Stage, stopsItsClock = false) {
    this.#stage = stage;
    this.#stopsItsClock = stopsItsClock;
    this.#offsetMs = stage.below(1_000_000);
  }

  get isFrozen(): boolean {
    return this.#state === 'frozen';
  }

  nowMs(): number {
    const nowMs = this.isFrozen && this.#stopsItsClock ? this.#frozenAtMs : this.#stage.clock.nowMs();
    return nowMs + this.#offsetMs;
  }

  setTimer(callback: () => void, delayMs: number): TimerHandle {
    const due = (): void => {
      timer.fired = this.#run('timer', () => {
        this.#timers.delete(timer);
        callback();
      });
    };
    const timer: ProcessTimer = { inner: this.#stage.clock.setBackgroundTimer(due, delayMs), fired: undefined };
    this.#timers.add(timer);
    return timer;
  }

  setBackgroundTimer(callback: () => void, delayMs: number): TimerHandle {
    return this.setTimer(callback, delayMs);
  }

  clearTimer(handle: TimerHandle): void {
    const timer = handle as ProcessTimer; // every handle comes from `setTimer`
    this.#timers.delete(timer);
    this.#stage.clock.clearTimer(timer.inner);
    if (timer.fired !== undefined) this.#waiting.delete(timer.fired);
  }

  freeze(): void {
    this.#state = 'frozen';
    this.#frozenAtMs = this.#stage.clock.nowMs();
  }

  /** 2 */
  async thaw(): Promise<void> {
    if (!this.isFrozen) return;
    this.#state = 'running';
    if (this.#stopsItsClock) this.#offsetMs -= this.#stage.clock.nowMs() - this.#frozenAtMs;
    const first = this.#stage.pick(['timer', 'answer'] as const);
    const inOrder = [...this.#waiting].sort((a, b) => Number(b.kind === first) - Number(a.kind === first));
    for (const waiting of inOrder) {
      if (!this.#waiting.delete(waiting)) continue; // a timer that was cleared by what came before
      waiting.run();
      await this.#stage.settle();
    }
  }

  /** For good: it never does anything again. */
  kill(): void {
    this.#state = 'killed';
    for (const { inner } of this.#timers) this.#stage.clock.clearTimer(inner);
    this.#timers.clear();
    this.#waiting.clear();
  }

  /** The store as this process perceives it. @param onAsked - a commit leaves the process */
  perceive(store: LocationStore, onAsked: (...call: Parameters<LocationStore['commit']>) => void): LocationStore {
    return {
      capabilities: store.capabilities,
      open: (...call) => this.#receive(store.open(...call)),
      read: (...call) => this.#receive(store.read(...call)),
      commit: (...call) => {
        onAsked(...call);
        return this.#receive(store.commit(...call));
      },
      scan: (...call) => this.#receive(store.scan(...call)),
      dispose: () => this.#receive(store.dispose()),
      onDisruption: (listener) => store.onDisruption?.(() => void this.#run('answer', listener)) ?? (() => {}),
    };
  }

  #receive<T>(answer: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      answer.then(
        (value) => this.#run('answer', () => resolve(value)),
        (error: Error) => this.#run('answer', () => reject(error)), // or whatever it is
      );
    });
  }

  /** Now, or when the process goes on (1). */
  #run(kind: Waiting['kind'], run: () => void): Waiting | undefined {
    if (this.#state === 'killed') return undefined;
    if (this.#state === 'running') {
      run();
      return undefined;
    }
    const waiting = { kind, run };
    this.#waiting.add(waiting);
    return waiting;
  }
}
