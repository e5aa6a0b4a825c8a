/**
 * Divides the host's messaging budget among its links as receive windows (CORE-007).
 *
 * Owns how many bytes each peer may have under way to us. Leaves to the link when credit is returned.
 *
 * W1 Granted bytes of all links never exceed the budget plus one smallest window per link.
 * W2 A window shrinks only as credit comes back: what was granted is never taken away.
 * W3 A window grows by an eighth at least, or to the largest: each growth is told to a peer, and when a thousand links end
 *    one after the other, the others would be told of every one.
 */
import { MIN_WINDOW_BYTES } from '../wire/limits.ts';

/** W3 */
const LEAST_GROWTH = 1 / 8;

export class WindowBudget {
  readonly budgetBytes: number;
  readonly #maxWindowBytes: number;
  readonly #shares = new Set<WindowShare>();
  #grantedBytes = 0;
  /** No window is smaller. */
  #lowestBytes = Infinity;

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
    this.#lowestBytes = Math.min(this.#lowestBytes, share.grantedBytes);
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
    this.#lowestBytes = Math.min(this.#lowestBytes, share.grantedBytes);
    this.#spread();
  }

  #spread(): void {
    const target = this.targetBytes();
    if (target < this.#maxWindowBytes && this.#growth(this.#lowestBytes, target) === 0) return; // then no other grows
    let lowestBytes = Infinity;
    for (const share of this.#shares) {
      const bytes = this.#growth(share.grantedBytes, target);
      if (bytes > 0) {
        share.grantedBytes += bytes;
        this.#grantedBytes += bytes;
        share.onGrow();
      }
      lowestBytes = Math.min(lowestBytes, share.grantedBytes);
    }
    this.#lowestBytes = lowestBytes;
  }

  /** By how much a window of so many bytes grows now; 0 if it is not worth telling (W3). */
  #growth(grantedBytes: number, target: number): number {
    const bytes = Math.min(this.budgetBytes - this.#grantedBytes, target - grantedBytes);
    const isWorthTelling = bytes >= grantedBytes * LEAST_GROWTH || grantedBytes + bytes === this.#maxWindowBytes;
    return bytes > 0 && isWorthTelling ? bytes : 0;
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
