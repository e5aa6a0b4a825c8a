/**
 * The receiving half of a link: reads records, waits for permits, returns credit.
 *
 * Owns introduced names, records that wait for their turn, the receive window and the count of what has come. Leaves what
 * records mean to the sink and control records to the link.
 *
 * I1 Ordinary records reach the sink in order, each with a job permit taken just before (JOBQ-004).
 * I2 Without a completion lane replies keep their place in that order; at its head a reply needs no permit but a RUNNING
 *    flow (CORE-015).
 * I3 Credit goes back when a record was handed over, never while the flow is PAUSED (CORE-004, CORE-006, JOBQ-008).
 * I4 Waiting records are views into received parts: memory is bounded by the window.
 * I5 The time a request waits here is taken off the time it has left (WIRE-006).
 */
import type { JobPermits, PermitSource } from '../execution/index.ts';
import type { InboundRecord } from '../transport/records.ts';
import type { Clock } from '../time/index.ts';
import { type NameTable, RecordReader, introduceName } from '../wire/record-reader.ts';
import { isAnswer, RecordKind } from '../wire/record.ts';
import type { WindowShare } from './window-budget.ts';

export interface InboundOwner {
  /** An ordinary record, its permit held. */
  deliver(record: InboundRecord): void;
  /** A reply or error at its turn. */
  complete(record: InboundRecord): void;
  /** Any other kind, at once. */
  control(record: RecordReader): void;
  /** The peer broke the protocol. */
  violated(fault: string): void;
  /** Nothing waits for its turn any more. */
  drained(): void;
  /** Credit waits to be returned; `urgent`: so much that the peer may be running dry. */
  onCreditDue(urgent: boolean): void;
}

export interface InboundSettings {
  readonly permits: JobPermits;
  readonly window: WindowShare;
  /** Replies come in the completion lane (RouteMesh) or in the one FIFO (ClientServer). */
  readonly completionLane: boolean;
  readonly clock: Clock;
}

export class Inbound implements PermitSource {
  readonly #permits: JobPermits;
  readonly #window: WindowShare;
  readonly #completionLane: boolean;
  readonly #clock: Clock;
  readonly #owner: InboundOwner;
  readonly #names: NameTable = [];
  readonly #record = new RecordReader(this.#names);
  /** Records that wait for their turn: `#stalled[#head…]`. */
  #stalled: RecordReader[] = [];
  #head = 0;
  /** Requests among them by correlation, each with its cancel if one has come: told right behind it (C12). */
  readonly #stalledRequests = new Map<number, RecordReader | undefined>();
  /** Received and not yet returned as credit; the consumed part of it waits to be returned. */
  #outstandingBytes = 0;
  #consumedBytes = 0;
  #receivedMessages = 0;
  #receivedBytes = 0;
  #goodbyes = 0;
  #isDraining = false;
  #open = true;

  constructor(settings: InboundSettings, owner: InboundOwner) {
    this.#permits = settings.permits;
    this.#window = settings.window;
    this.#completionLane = settings.completionLane;
    this.#clock = settings.clock;
    this.#owner = owner;
  }

  get stalledCount(): number {
    return this.#stalled.length - this.#head;
  }

  /** Received, and not yet returned as credit. */
  get outstandingBytes(): number {
    return this.#outstandingBytes;
  }

  get receivedMessages(): number {
    return this.#receivedMessages;
  }

  get receivedBytes(): number {
    return this.#receivedBytes;
  }

  /** Reads one message: batches, each followed by its external payloads. */
  read(parts: readonly Uint8Array[], first: number): void {
    const record = this.#record;
    for (let at = first; at < parts.length; at++) this.#receivedBytes += parts[at]!.length;
    record.nextPart = first;
    while (record.nextPart < parts.length) {
      const batch = parts[record.nextPart++]!;
      let at = 0;
      while (at < batch.length) {
        at = record.read(batch, at, parts);
        if (at < 0) return this.#owner.violated(record.fault);
        this.#take(record);
        if (!this.#open) return;
      }
    }
    if (this.#consumedBytes > 0) this.#owner.onCreditDue(this.#consumedBytes * 4 >= this.#window.grantedBytes);
  }

  /** Bytes to return as credit with the next batch; 0: none. */
  takeCredit(): number {
    if (this.#consumedBytes === 0 || this.#permits.flow === 'PAUSED') return 0; // I3
    const consumedBytes = this.#consumedBytes;
    this.#consumedBytes = 0;
    this.#outstandingBytes -= consumedBytes;
    this.#window.settle(consumedBytes);
    return consumedBytes;
  }

  onPermit(): void {
    if (!this.#open || this.#isDraining || this.#head >= this.#stalled.length) return this.#permits.release();
    this.#drain(true);
  }

  /** The flow is RUNNING again: replies at the head may go, credit may be returned. */
  onRunning(): void {
    this.#drain();
    if (this.#consumedBytes > 0) this.#owner.onCreditDue(true);
  }

  /** @returns how many received sends and requests will never have their turn */
  close(): number {
    let droppedCount = 0;
    for (let at = this.#head; at < this.#stalled.length; at++) if (isOrdinary(this.#stalled[at]!)) droppedCount++;
    this.#open = false;
    this.#permits.cancelWait(this);
    this.#window.close();
    this.#stalled = [];
    this.#stalledRequests.clear();
    this.#head = 0;
    return droppedCount;
  }

  #take(record: RecordReader): void {
    switch (record.kind) {
      case RecordKind.send:
      case RecordKind.request:
        this.#receivedMessages++;
        if (!this.#charge(record)) return;
        if (this.stalledCount === 0 && this.#permits.tryAcquire()) this.#hand(record);
        else this.#stall(record.keep());
        return;
      case RecordKind.reply:
      case RecordKind.error:
        this.#receivedMessages++;
        if (this.#completionLane) {
          if (this.#isNamed(record)) this.#owner.complete(record);
          return;
        }
        if (!this.#charge(record)) return;
        if (this.stalledCount === 0 && this.#permits.flow === 'RUNNING') this.#hand(record);
        else this.#stall(record.keep()); // I2
        return;
      case RecordKind.goodbye: // keeps its place: what was accepted before it still has its turn (I1)
        if (++this.#goodbyes > GOODBYES) return this.#owner.violated('goodbye was said before'); // they cost no credit
        if (this.stalledCount === 0) this.#owner.control(record);
        else this.#stall(record.keep());
        return;
      case RecordKind.cancel:
        if (this.#stalledRequests.has(record.correlation)) {
          this.#stalledRequests.set(record.correlation, record.keep());
        } else this.#owner.control(record);
        return;
      case RecordKind.name: {
        const fault = introduceName(this.#names, record);
        if (fault !== undefined) this.#owner.violated(fault);
        return;
      }
      default:
        this.#owner.control(record);
    }
  }

  #isNamed(record: RecordReader): boolean {
    if (record.name !== undefined || record.kind === RecordKind.error) return true;
    this.#owner.violated(`record names id ${record.nameId}, which was not introduced`);
    return false;
  }

  #charge(record: RecordReader): boolean {
    if (!this.#isNamed(record)) return false;
    const outstandingBytes = this.#outstandingBytes + record.costBytes;
    if (this.#outstandingBytes > 0 && outstandingBytes > this.#window.grantedBytes) {
      this.#owner.violated(`${outstandingBytes} bytes under way, granted were ${this.#window.grantedBytes}`);
      return false;
    }
    this.#outstandingBytes = outstandingBytes;
    return true;
  }

  #hand(record: RecordReader): void {
    if (record.kind === RecordKind.goodbye) return this.#owner.control(record);
    this.#consumedBytes += record.costBytes;
    if (isAnswer(record.kind)) this.#owner.complete(record);
    else this.#deliver(record);
  }

  #deliver(record: RecordReader): void {
    if (record.kind === RecordKind.send || this.#stalledRequests.size === 0) return this.#owner.deliver(record);
    const cancel = this.#stalledRequests.get(record.correlation);
    this.#stalledRequests.delete(record.correlation);
    record.waitedMs = this.#clock.nowMs() - record.keptAtMs; // I5: while requests wait, none is delivered that has not waited
    this.#owner.deliver(record);
    if (cancel !== undefined) this.#owner.control(cancel);
  }

  #stall(record: RecordReader): void {
    this.#stalled.push(record);
    if (record.kind === RecordKind.request) {
      this.#stalledRequests.set(record.correlation, undefined);
      record.keptAtMs = this.#clock.nowMs(); // I5
    }
    if (this.stalledCount === 1) this.#await(record);
  }

  /** Waits for whatever the record at the head needs. */
  #await(head: RecordReader): void {
    if (isOrdinary(head)) this.#permits.wait(this);
    // A reply waits for RUNNING, which the transport announces to every link.
  }

  /** @param hasPermit - the record at the head has got its permit already */
  #drain(hasPermit = false): void {
    // A sink that returns its permit at once may turn the flow to RUNNING in the middle of this: a long line of records
    // must be handed over one after the other, not in depth.
    if (this.#isDraining) return;
    this.#isDraining = true;
    try {
      this.#handWaiting(hasPermit);
    } finally {
      this.#isDraining = false;
    }
    if (this.#open && this.stalledCount === 0) this.#owner.drained();
    if (this.#consumedBytes * 4 >= this.#window.grantedBytes) this.#owner.onCreditDue(true);
  }

  #handWaiting(hasPermit: boolean): void {
    let mayGo = hasPermit;
    while (this.#open && this.#head < this.#stalled.length) {
      const head = this.#stalled[this.#head]!;
      if (!mayGo && !this.#mayGo(head)) return this.#await(head);
      mayGo = false;
      this.#hand(this.#shift());
    }
  }

  /** Whether the record at the head has what it needs; takes the permit if it needs one. */
  #mayGo(head: RecordReader): boolean {
    if (head.kind === RecordKind.goodbye) return true;
    return isAnswer(head.kind) ? this.#permits.flow === 'RUNNING' : this.#permits.tryAcquire();
  }

  #shift(): RecordReader {
    const record = this.#stalled[this.#head++]!;
    if (this.#head === this.#stalled.length) {
      this.#stalled = [];
      this.#head = 0;
    } else if (this.#head > 1_024 && this.#head * 2 > this.#stalled.length) {
      this.#stalled = this.#stalled.slice(this.#head);
      this.#head = 0;
    }
    return record;
  }
}

/** Both phases of it, once each. */
const GOODBYES = 2;

function isOrdinary(record: RecordReader): boolean {
  return record.kind === RecordKind.send || record.kind === RecordKind.request;
}
