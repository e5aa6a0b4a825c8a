/**
 * Job permits of one host: how many received records may wait for their handler at the same time.
 *
 * Owns the count, the waiting line of sources and the receive flow derived from the count. Leaves to links what PAUSED
 * means for credit.
 *
 * P1 A freed permit goes straight to the source that has waited longest; nobody overtakes it (JOBQ-005).
 * P2 From ceil(max × pause%) permits in use the flow is PAUSED, until floor(max × resume%) (JOBQ-005).
 * P3 A source that returns its permit while it is given one does not nest: thousands may wait in line.
 */

/** Someone with records waiting for permits: a link. */
export interface PermitSource {
  /** A permit was acquired for this source; it must use or release it. Called at most once per `wait`. */
  onPermit(): void;
}

/**
 * Whether a host goes on receiving.
 * - `RUNNING`: received messages get their place in the job queue
 * - `PAUSED`: the pause threshold was reached; nothing more is read from links until the resume threshold, and senders wait
 */
export type ReceiveFlow = 'RUNNING' | 'PAUSED';

export interface JobPermitLimits {
  readonly max: number;
  readonly pauseThresholdPercent: number;
  readonly resumeThresholdPercent: number;
}

export class JobPermits {
  readonly max: number;
  /** Permits in use from which, and down to which, the flow is PAUSED (P2). */
  readonly pauseAt: number;
  readonly resumeAt: number;
  readonly #waiting = new Set<PermitSource>();
  readonly #flowListeners = new Set<(flow: ReceiveFlow) => void>();
  #inUse = 0;
  /** Permits that were returned while others were passed on. */
  #owed = 0;
  #flow: ReceiveFlow = 'RUNNING';

  constructor(limits: JobPermitLimits) {
    this.max = limits.max;
    this.pauseAt = Math.ceil((limits.max * limits.pauseThresholdPercent) / 100);
    this.resumeAt = Math.floor((limits.max * limits.resumeThresholdPercent) / 100);
  }

  get inUse(): number {
    return this.#inUse;
  }

  get flow(): ReceiveFlow {
    return this.#flow;
  }

  /** Takes a permit unless the limit is reached or others wait (P1). */
  tryAcquire(): boolean {
    if (this.#inUse >= this.max || this.#waiting.size > 0) return false;
    this.#inUse++;
    if (this.#inUse >= this.pauseAt) this.#setFlow('PAUSED');
    return true;
  }

  /** Puts the source at the end of the line; once per source. */
  wait(source: PermitSource): void {
    this.#waiting.add(source);
  }

  cancelWait(source: PermitSource): void {
    this.#waiting.delete(source);
  }

  /** Returns one permit: to the longest waiting source if there is one. */
  release(): void {
    if (this.#waiting.size === 0 && this.#owed === 0) return this.#giveBack();
    this.#owed++;
    if (this.#owed > 1) return; // P3
    for (; this.#owed > 0; this.#owed--) this.#passOn();
  }

  /** Calls `listener` at every change of the flow; returns how to stop. */
  onFlow(listener: (flow: ReceiveFlow) => void): () => void {
    this.#flowListeners.add(listener);
    return () => this.#flowListeners.delete(listener);
  }

  #passOn(): void {
    for (const next of this.#waiting) {
      this.#waiting.delete(next);
      return next.onPermit(); // P1: the first in line
    }
    this.#giveBack();
  }

  #giveBack(): void {
    this.#inUse--;
    if (this.#inUse <= this.resumeAt) this.#setFlow('RUNNING');
  }

  #setFlow(flow: ReceiveFlow): void {
    if (this.#flow === flow) return;
    this.#flow = flow;
    for (const listener of this.#flowListeners) listener(flow);
  }
}
