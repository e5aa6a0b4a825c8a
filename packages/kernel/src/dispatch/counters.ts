/**
 * Counts the messages of one owner, by verb.
 *
 * Owns the numbers. Leaves to the dispatcher when something happened.
 *
 * 1. At any moment accepted = handled + failed + sum(dropped) + running + queued: every message is at one place.
 */
import type { InboundRecord } from '../internal/transport/index.ts';
import { RecordKind } from '../internal/wire/record.ts';
import type { FlowPlace, MessageBacklog, MessageCounters } from '../observe/index.ts';

export type Verb = 'send' | 'request';

/** @param record - a send or a request */
export function verbOf(record: InboundRecord): Verb {
  return record.kind === RecordKind.request ? 'request' : 'send';
}

/**
 * Why a message ended without its handler's result reaching anyone.
 * - `no_handler`, `decode_error`, `invalid_frame`, `too_large`, `backpressure`: it never ran
 * - `not_serving`, `shutdown`: intake was closed, or the host gave up waiting for the handler
 * - `deadline_exceeded`: its time ran out before the handler started
 * - `cancelled`, `link_closed`: the caller no longer waits
 * - `filtered`: a filter did not call the next one
 * - `reply_expired`: the reply came too late or waited too long for credit
 * - `reply_path_missing`: the link took no reply any more
 */
export type DropReason =
  | 'backpressure'
  | 'cancelled'
  | 'deadline_exceeded'
  | 'decode_error'
  | 'filtered'
  | 'invalid_frame'
  | 'link_closed'
  | 'no_handler'
  | 'not_serving'
  | 'reply_expired'
  | 'reply_path_missing'
  | 'shutdown'
  | 'too_large';

export type Outcome = 'handled' | 'failed' | DropReason;

class VerbCounters {
  #accepted = 0;
  #handled = 0;
  #failed = 0;
  #running = 0;
  #queued = 0;
  readonly #dropped = new Map<DropReason, number>();

  /** A message arrived and waits. */
  queue(): void {
    this.#accepted++;
    this.#queued++;
  }

  /** A waiting message gets its turn. */
  start(): void {
    this.#queued--;
    this.#running++;
  }

  /** A started message is over. */
  end(outcome: Outcome): void {
    this.#running--;
    if (outcome === 'handled') this.#handled++;
    else if (outcome === 'failed') this.#failed++;
    else this.#drop(outcome);
  }

  /** A message arrived and was not taken. */
  refuse(reason: DropReason): void {
    this.#accepted++;
    this.#drop(reason);
  }

  addTo(backlog: MessageBacklog): void {
    backlog.running += this.#running;
    backlog.queued += this.#queued;
  }

  snapshot(owner: CountedOwner, verb: Verb): MessageCounters {
    return Object.freeze({
      ...owner,
      verb,
      accepted: this.#accepted,
      handled: this.#handled,
      failed: this.#failed,
      dropped: Object.freeze(Object.fromEntries(this.#dropped)),
      running: this.#running,
      queued: this.#queued,
    });
  }

  #drop(reason: DropReason): void {
    this.#dropped.set(reason, (this.#dropped.get(reason) ?? 0) + 1);
  }
}

type CountedOwner = Pick<MessageCounters, 'owner' | 'surface' | 'meshName'>;

/** The counters of one owner. */
export class OwnerCounters {
  readonly #owner: CountedOwner;
  readonly #sends = new VerbCounters();
  readonly #requests = new VerbCounters();

  constructor(owner: string, { fields: { surface, mesh_name: meshName } }: FlowPlace) {
    this.#owner = { owner, surface, ...(meshName === undefined ? {} : { meshName }) };
  }

  of(verb: Verb): VerbCounters {
    return verb === 'request' ? this.#requests : this.#sends;
  }

  addTo(backlog: MessageBacklog): void {
    this.#sends.addTo(backlog);
    this.#requests.addTo(backlog);
  }

  /** Of both verbs. */
  snapshots(): readonly MessageCounters[] {
    return [this.#sends.snapshot(this.#owner, 'send'), this.#requests.snapshot(this.#owner, 'request')];
  }
}
