/**
 * The wait of a call, for a target or for credit on the link that it was submitted to.
 *
 * Owns the limit of the wait and how the call is taken back from it. Leaves the call's result to the call. Made only when a
 * call has to wait: most never do.
 *
 * 1. It ends once: by `stop`, or by its deadline, which refuses the call.
 */
import { ZLinkError } from '../errors/index.ts';
import type { DeadlineEntry } from '../internal/time/index.ts';
import type { Link } from '../internal/transport/index.ts';
import { RecordKind } from '../internal/wire/index.ts';
import { admissionOutcome, type CallEnd } from './call-points.ts';
import type { CallPath, RoutableCall } from './call-path.ts';

export class CallWait implements DeadlineEntry {
  readonly kind = 'waiting';
  readonly deadlineAtMs: number;
  wheelSlot = -1;
  wheelNext: DeadlineEntry | undefined = undefined;
  wheelPrevious: DeadlineEntry | undefined = undefined;
  readonly #path: CallPath;
  readonly #call: RoutableCall;
  readonly #link: Link | undefined;
  readonly #startedAtMs: number;
  readonly #limitMs: number;

  /**
   * @param link - that the call was submitted to; undefined: there is no target yet
   * @param latestAtMs - whatever `limitMs` is
   */
  constructor(path: CallPath, call: RoutableCall, link: Link | undefined, limitMs: number, latestAtMs: number) {
    const nowMs = path.terms.clock.nowMs();
    this.#path = path;
    this.#call = call;
    this.#link = link;
    this.#startedAtMs = nowMs;
    this.deadlineAtMs = Math.min(nowMs + limitMs, latestAtMs);
    this.#limitMs = Math.max(0, Math.round(this.deadlineAtMs - nowMs));
  }

  start(): void {
    this.#path.terms.wheel.add(this);
  }

  /** The call goes on or has ended. */
  stop(): void {
    this.#path.terms.wheel.remove(this);
  }

  /** Tells the path's meter how a wait for credit has ended. */
  tell(end: CallEnd, error?: unknown): void {
    const { meter, terms } = this.#path;
    if (meter === undefined || this.#link === undefined) return;
    const outcome = end === 'succeeded' ? 'admitted' : admissionOutcome(end, error);
    if (outcome !== undefined) meter.admissionWaited(outcome, (terms.clock.nowMs() - this.#startedAtMs) / 1_000);
  }

  /** Takes the call back from where it waits. */
  takeBack(): void {
    if (this.#link === undefined) this.#path.unroute(this.#call);
    else this.#link.withdraw(this.#call);
  }

  onDeadline(): void {
    this.#call.onRefused(this.#link === undefined ? this.#path.noTarget(this.#limitMs) : this.#notAccepted());
  }

  #notAccepted(): ZLinkError {
    const what = this.#call.kind === RecordKind.request ? 'request' : 'message';
    const text = `${this.#path.label} did not accept the ${what} within ${this.#limitMs} ms`;
    return new ZLinkError('DeadlineExceeded', text);
  }
}
