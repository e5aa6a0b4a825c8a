/**
 * The handler that was started last, and the last one that kept the event loop for long.
 *
 * Owns what is needed to say who blocked the loop (C16). Leaves noticing a stall to others.
 *
 * 1. Writing costs no clock reading and, unless a handler was slow, no allocation: it happens per message.
 * 2. A handler was slow if the next one started `slowMs` later. Idle time counts as well; `during` tells it apart.
 */
export interface HandlerName {
  readonly owner: string;
  readonly packetName: string;
}

interface SlowHandler extends HandlerName {
  readonly fromMs: number;
  readonly untilMs: number;
}

const slowMs = 500;

export class LastHandler {
  #owner = '';
  #packetName = '';
  #startedAtMs = 0;
  #slow: SlowHandler | undefined;

  started(owner: string, packetName: string, nowMs: number): void {
    if (nowMs - this.#startedAtMs >= slowMs) {
      this.#slow = { owner: this.#owner, packetName: this.#packetName, fromMs: this.#startedAtMs, untilMs: nowMs };
    }
    this.#owner = owner;
    this.#packetName = packetName;
    this.#startedAtMs = nowMs;
  }

  /** Who most likely had the event loop for the last `stalledMs`: other handlers may have started right after it. */
  during(stalledMs: number, nowMs: number): HandlerName {
    const sinceMs = nowMs - stalledMs;
    const slow = this.#slow;
    const lastMs = nowMs - Math.max(this.#startedAtMs, sinceMs);
    if (slow === undefined || slow.untilMs - Math.max(slow.fromMs, sinceMs) <= lastMs) {
      return { owner: this.#owner, packetName: this.#packetName };
    }
    return { owner: slow.owner, packetName: slow.packetName };
  }
}
