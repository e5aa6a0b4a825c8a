/**
 * Divides the host's messaging budget among its links as receive windows (CORE-007).
 *
 * Owns how many bytes each peer may have under way to us. Leaves to the link when credit is returned.
 *
 * W1 Granted bytes of all links never exceed the budget plus one smallest window per link.
 * W2 A window shrinks only as credit comes back: what was granted is never taken away.
 */
import { MIN_WINDOW_BYTES } from '../wire/limits.ts';

export class WindowBudget {
  readonly budgetBytes: number;
  readonly #maxWindowBytes: number;
  readonly #shares = new Set<WindowShare>();
  #grantedBytes = 0;

  constructor(budgetBytes: number, maxWindowBytes: number) {
    this.budgetBytes = budgetBytes;
    this.#maxWindowBytes = Math.max(MIN_WINDOW_BYTES, maxWindowBytes);
  }

  get grantedBytes(): number {
    return this.#grantedBytes;
  }

  /** @param onGrow - the link must tell its peer about the larger window */
  open(onGrow: () => void): WindowShare {
    const share = new WindowShare(this, onGrow);
    this.#shares.add(share);
    const free = this.budgetBytes - this.#grantedBytes;
    share.grantedBytes = Math.max(MIN_WINDOW_BYTES, Math.min(this.targetBytes(), free));
    this.#grantedBytes += share.grantedBytes;
    return share;
  }

  /** Window that every link should have now. */
  targetBytes(): number {
    const equal = Math.floor(this.budgetBytes / Math.max(1, this.#shares.size));
    return Math.max(MIN_WINDOW_BYTES, Math.min(this.#maxWindowBytes, equal));
  }

  release(share: WindowShare): void {
    if (!this.#shares.delete(share)) return;
    this.#grantedBytes -= share.grantedBytes;
    this.#spread();
  }

  /** Takes `bytes` back from a share that is above its target. */
  shrink(share: WindowShare, bytes: number): void {
    share.grantedBytes -= bytes;
    this.#grantedBytes -= bytes;
    this.#spread();
  }

  #spread(): void {
    const target = this.targetBytes();
    for (const share of this.#shares) {
      const free = this.budgetBytes - this.#grantedBytes;
      if (free <= 0) return;
      const bytes = Math.min(free, target - share.grantedBytes);
      if (bytes <= 0) continue;
      share.grantedBytes += bytes;
      this.#grantedBytes += bytes;
      share.onGrow();
    }
  }
}

export class WindowShare {
  /** Bytes the peer may have under way; written by the budget only. */
  grantedBytes = 0;
  readonly onGrow: () => void;
  readonly #budget: WindowBudget;

  constructor(budget: WindowBudget, onGrow: () => void) {
    this.#budget = budget;
    this.onGrow = onGrow;
  }

  /** `consumedBytes` go back to the peer: a window above its target shrinks by as much (W2). */
  settle(consumedBytes: number): void {
    const excess = this.grantedBytes - this.#budget.targetBytes();
    if (excess > 0) this.#budget.shrink(this, Math.min(excess, consumedBytes));
  }

  close(): void {
    this.#budget.release(this);
  }
}
