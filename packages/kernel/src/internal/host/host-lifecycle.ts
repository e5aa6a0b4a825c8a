/**
 * Where a host is in its life: its state, of which start, until when a shutdown may take, and how that has ended.
 *
 * Owns that states follow each other as they may, and that each is told once. Leaves what is done in a state, and when it is
 * over, to the composer.
 *
 * 1. A host that ends before it was started has no way through the states, and tells nothing (DRAIN-007).
 * 2. How it has ended is told before it has stopped: the last snapshot shows it (MON-010).
 */
import { ZLinkError } from '../../errors/index.ts';
import { type HostState, mayBecome, newHostGeneration, type ShutdownResult, STOPPED } from '../../lifecycle/index.ts';
import type { HostSnapshot, Monitor } from '../../observe/index.ts';
import type { HostFacts } from './host-snapshot.ts';

export class HostLifecycle {
  readonly #monitor: Pick<Monitor, 'tell'>;
  readonly #dateMs: () => number;
  #state: HostState = 'configuring';
  #generation = 0n;
  #deadline: Date | undefined;
  #shutdownResult: ShutdownResult | undefined;

  /** @param dateMs - the calendar time */
  constructor(monitor: Pick<Monitor, 'tell'>, dateMs: () => number) {
    this.#monitor = monitor;
    this.#dateMs = dateMs;
  }

  get state(): HostState {
    return this.#state;
  }

  /** Of the start; 0 before it. */
  get generation(): bigint {
    return this.#generation;
  }

  /** Nothing is bound any more. */
  get isOver(): boolean {
    return this.#state === 'stopped' || this.#state === 'error';
  }

  begin(): void {
    this.#generation = newHostGeneration(new Date(this.#dateMs()));
    this.become('starting');
  }

  /** @param error - why, if that is a failure */
  become(next: HostState, error?: unknown): void {
    if (!mayBecome(this.#state, next)) throw new ZLinkError('InternalFailure', `host state ${this.#state} to ${next}`);
    this.#state = next;
    this.#monitor.tell({ type: 'zlink.runtime.host.state_changed', state: next }, { error });
  }

  drain(deadlineMs: number): void {
    this.#deadline = new Date(this.#dateMs() + deadlineMs);
    this.become('draining');
  }

  end(result: ShutdownResult): void {
    this.#deadline = undefined;
    this.#shutdownResult = result;
    this.#monitor.tell({ type: 'zlink.runtime.host.termination_changed', ...result }); // 2
    this.become('stopped');
  }

  endUnstarted(): void {
    this.#state = 'stopped'; // 1
    this.#shutdownResult = STOPPED;
  }

  facts(diagnosticsLevel: HostSnapshot['diagnosticsLevel']): HostFacts {
    return {
      state: this.#state,
      lifecycleGeneration: this.#generation,
      diagnosticsLevel,
      deadline: this.#deadline,
      shutdownResult: this.#shutdownResult,
    };
  }
}
