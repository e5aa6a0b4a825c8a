/**
 * How a mesh node or a channel does: its state, and why it is not `ready`.
 *
 * Owns the state machine. Leaves what is missing to the topology, which says when that may have changed.
 *
 * 1. What is missing counts while the topology serves; before it is `starting`, afterwards it ends, whatever is missing
 *    (MON-003, MON-004).
 * 2. Told only when state or reasons have changed.
 * 3. `stopped` and `failed` are the end.
 */
import type { TopologyReason } from './closed-sets.ts';
import type { TopologyStatus } from './snapshot.ts';

export type TopologyStage = 'starting' | 'serving' | 'stopping' | 'stopped' | 'failed';

export interface TopologyHealthOptions {
  /** Why it is `degraded`, most important first; asked while it serves. Cheap. */
  missing(): readonly TopologyReason[];
  /** It is another one now; must not throw. */
  onChanged(status: TopologyStatus): void;
}

const FIXED: Readonly<Record<Exclude<TopologyStage, 'serving'>, TopologyStatus>> = {
  starting: freeze({ state: 'starting', reasons: ['runtime_not_ready'] }),
  stopping: freeze({ state: 'stopping', reasons: ['draining'] }),
  stopped: freeze({ state: 'stopped', reasons: [] }),
  failed: freeze({ state: 'failed', reasons: ['internal_failure'] }),
};

const READY: TopologyStatus = freeze({ state: 'ready', reasons: [] });

export class TopologyHealth {
  readonly #options: TopologyHealthOptions;
  #stage: TopologyStage = 'starting';
  #status: TopologyStatus = FIXED.starting;

  constructor(options: TopologyHealthOptions) {
    this.#options = options;
  }

  get status(): TopologyStatus {
    return this.#status;
  }

  become(stage: TopologyStage): void {
    if (this.#stage === 'stopped' || this.#stage === 'failed') return; // 3
    this.#stage = stage;
    this.refresh();
  }

  /** What is missing may be something else now. */
  refresh(): void {
    const status = this.#stage === 'serving' ? this.#whileServing() : FIXED[this.#stage]; // 1
    if (areSame(status, this.#status)) return; // 2
    this.#status = status;
    this.#options.onChanged(status);
  }

  #whileServing(): TopologyStatus {
    const reasons = this.#options.missing();
    return reasons.length === 0 ? READY : freeze({ state: 'degraded', reasons: [...reasons] });
  }
}

function areSame(a: TopologyStatus, b: TopologyStatus): boolean {
  if (a.state !== b.state || a.reasons.length !== b.reasons.length) return false;
  return a.reasons.every((reason, index) => reason === b.reasons[index]);
}

function freeze({ state, reasons }: TopologyStatus): TopologyStatus {
  return Object.freeze({ state, reasons: Object.freeze(reasons) });
}
