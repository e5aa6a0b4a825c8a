/**
 * Takes the events out of the messages of one publisher, one after the other, as permits allow.
 *
 * Owns the one message that is being read. Leaves whose it is to the intent, and handlers to the dispatch.
 *
 * 1. Every dispatch has a permit, taken just before: an event with several handlers takes one for each (JOBQ-004).
 * 2. Without a permit the inbox waits in line with its place kept, and nothing more is read meanwhile: events are lost at
 *    the publisher's mark only, where they are counted (FAN-004).
 * 3. Events come to each handler in the order of their numbers.
 */
import type { JobPermits, PermitSource } from '@zlink/kernel/internal/execution';
import type { InboundName, InboundRecord, TraceReading } from '@zlink/kernel/internal/transport';
import { EventReader, RECORD_COST_BYTES, RecordKind } from '@zlink/kernel/internal/wire';
import type { CarriedFlow } from '@zlink/kernel/observe';
import type { EventDispatch } from './event-dispatch.ts';
import { type EventName, EventNames, topicOf } from './event-names.ts';

export interface InboxOwner {
  /** Says why the message whose reader is open is none to take; undefined: it is. */
  objection(message: EventReader): string | undefined;
  /** The next event. @returns why it cannot be one; undefined: it can */
  count(event: EventReader): string | undefined;
  /** The rest of the message is dropped. */
  onFault(fault: string): void;
  /** Nothing waits any more. */
  onIdle(): void;
}

export class EventInbox implements PermitSource {
  readonly #permits: JobPermits;
  readonly #dispatch: EventDispatch;
  readonly #owner: InboxOwner;
  readonly #names: EventNames;
  readonly #reader = new EventReader();
  /** The event under way, and the rank of its dispatch that is next. */
  readonly #event = new EventRecord();
  #rank = 0;
  #isDelivering = false;
  #isDropped = false;

  constructor(permits: JobPermits, dispatch: EventDispatch, owner: InboxOwner) {
    this.#permits = permits;
    this.#dispatch = dispatch;
    this.#owner = owner;
    this.#names = new EventNames((packetName) => dispatch.dispatchesOf(packetName));
  }

  /** Whether another message may come. */
  get isIdle(): boolean {
    return !this.#isDelivering && !this.#hasEvent;
  }

  /** Only while idle. */
  read(parts: readonly Uint8Array[]): void {
    const reader = this.#reader;
    const fault = reader.open(parts) ? this.#owner.objection(reader) : reader.fault;
    if (fault !== undefined) this.#owner.onFault(fault);
    else this.#deliver(false);
  }

  onPermit(): void {
    this.#deliver(true);
  }

  /** Nothing is read any more, and what waits is dropped. */
  drop(): void {
    this.#isDropped = true;
    this.#permits.cancelWait(this);
    this.#rank = this.#event.byRank.length;
  }

  get #hasEvent(): boolean {
    return this.#rank < this.#event.byRank.length;
  }

  /** @param hasPermit - the event under way has got its permit already */
  #deliver(hasPermit: boolean): void {
    this.#isDelivering = true;
    let mayGo = hasPermit;
    while (this.#hasEvent || this.#next()) {
      if (!mayGo && !this.#permits.tryAcquire()) {
        this.#permits.wait(this); // 2
        break;
      }
      mayGo = false;
      const rank = this.#rank++;
      this.#event.name = this.#event.byRank[rank];
      this.#dispatch.accept(this.#event, rank); // 1
    }
    this.#isDelivering = false;
    if (this.isIdle) this.#owner.onIdle();
  }

  #next(): boolean {
    if (this.#isDropped) return false;
    const reader = this.#reader;
    const isEvent = reader.next();
    const fault = isEvent ? this.#owner.count(reader) : reader.fault;
    if (fault !== undefined && fault !== '') {
      this.#owner.onFault(fault);
      return false;
    }
    if (!isEvent) return false;
    this.#event.take(reader, this.#names.get(reader.contentType, reader.packetName));
    this.#rank = 0;
    return true;
  }
}

/** The current event as dispatchers take it: valid during their call, as they copy what they need. */
class EventRecord implements InboundRecord {
  readonly kind = RecordKind.send;
  readonly correlation = 0;
  readonly remainingMs = 0;
  readonly errorKind = undefined;
  readonly metadata = undefined;
  name: InboundName | undefined = undefined;
  byRank: readonly InboundName[] = [];
  topic = NO_BYTES;
  payload = NO_BYTES;
  payloadStart = 0;
  payloadEnd = 0;
  costBytes = 0;
  flow: CarriedFlow | undefined = undefined;
  #traceStart = 0;
  #traceEnd = 0;

  get trace(): Uint8Array | undefined {
    return this.#traceEnd === this.#traceStart ? undefined : this.payload.subarray(this.#traceStart, this.#traceEnd);
  }

  readTrace<T>(read: TraceReading<T>): T | undefined {
    if (this.#traceEnd === this.#traceStart) return undefined;
    return read(this.payload, this.#traceStart, this.#traceEnd);
  }

  take(reader: EventReader, name: EventName): void {
    this.byRank = name.byRank;
    this.topic = topicOf(name, reader);
    this.payload = reader.payload;
    this.payloadStart = reader.payloadStart;
    this.payloadEnd = reader.payloadEnd;
    this.#traceStart = reader.traceStart;
    this.#traceEnd = reader.traceEnd;
    this.flow = undefined;
    this.costBytes = RECORD_COST_BYTES + this.topic.length + this.payloadEnd - this.payloadStart;
  }
}

const NO_BYTES: Uint8Array = new Uint8Array(0);
