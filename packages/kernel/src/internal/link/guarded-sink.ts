/**
 * The topic's end of a link, whose code may throw anything at any time.
 *
 * Owns the guard. Leaves what follows from a throw to the link.
 *
 * 1. Nothing is told before the topic has opened its sink; what has happened by then, the link tells again.
 * 2. A throw while the link lives is `onThrown`; one about its end can end nothing any more and is only reported.
 */
import type { InboundRecord, LinkSink } from '../transport/records.ts';
import type { Link } from '../transport/transport.ts';

export interface SinkGuard {
  /** The link shall fail. */
  readonly onThrown: (error: unknown) => void;
  readonly onFault: (error: unknown) => void;
}

export class GuardedSink {
  readonly #link: Link;
  readonly #guard: SinkGuard;
  #sink: LinkSink | undefined;

  constructor(link: Link, guard: SinkGuard) {
    this.#link = link;
    this.#guard = guard;
  }

  open(openSink: () => LinkSink): void {
    try {
      this.#sink = openSink();
    } catch (error) {
      this.#guard.onThrown(error);
    }
  }

  record(record: InboundRecord): void {
    try {
      this.#sink?.onRecord(record, this.#link);
    } catch (error) {
      this.#guard.onThrown(error);
    }
  }

  unmatched(record: InboundRecord): void {
    this.#tell((sink) => sink.onUnmatched(record, this.#link), this.#guard.onThrown);
  }

  cancel(correlation: number): void {
    this.#tell((sink) => sink.onCancel(correlation, this.#link), this.#guard.onThrown);
  }

  update(): void {
    this.#tell((sink) => sink.onUpdate(this.#link), this.#guard.onThrown);
  }

  finishing(): void {
    this.#tell((sink) => sink.onFinishing(this.#link), this.#guard.onFault); // 2
  }

  closed(reason: string): void {
    this.#tell((sink) => sink.onClosed(this.#link, reason), this.#guard.onFault); // 2
  }

  #tell(call: (sink: LinkSink) => void, onThrown: (error: unknown) => void): void {
    try {
      if (this.#sink !== undefined) call(this.#sink);
    } catch (error) {
      onThrown(error);
    }
  }
}
