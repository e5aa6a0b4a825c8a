/**
 * The sending half of a link: writes records into batches, within the peer's credit.
 *
 * Owns batches, introduced names, the send window, records that wait for credit, requests that wait for replies, and the
 * count of what has left.
 * Leaves the receive window's credit and the link's phases to `inbound` and `link`.
 *
 * O1 Ordinary records are written in the order of their submission; none overtakes a waiting one (CORE-004).
 * O2 A record needs credit for its whole cost, or an empty window if it is larger than the window (CORE-004).
 * O3 The completion lane leaves before ordinary records of the same turn and needs no credit (CORE-005).
 * O4 A name is introduced in the lane, so it precedes its first use (WIRE-004).
 * O5 One record is encoded at a time: code of the application that runs meanwhile cannot write into the middle of it.
 */
import { isZLinkError, ZLinkError } from '../../errors/index.ts';
import { PendingTable } from '../completion/index.ts';
import type { Clock } from '../time/index.ts';
import type { Pipe } from '../transport/engine.ts';
import type { OutboundRecord, OutboundRequest } from '../transport/records.ts';
import { BatchBuffer, encodeNameBody } from '../wire/batch-buffer.ts';
import { FLUSH_BYTES, NAME_LIMIT, PENDING_LIMIT, RECORD_COST_BYTES, WAITING_LIMIT } from '../wire/limits.ts';
import type { OutboundName } from '../wire/names.ts';
import { isAnswer, RecordKind } from '../wire/record.ts';

export interface OutboundSettings {
  readonly pipe: Pipe;
  readonly clock: Clock;
  /** Replies and errors travel in the completion lane (RouteMesh) or in the one FIFO (ClientServer, CORE-015). */
  readonly completionLane: boolean;
  readonly windowBytes: number;
  readonly maxMessageBytes: number;
  readonly peerText: string;
  /** A reply that had to wait was written. */
  readonly onAnswered: () => void;
  /** Something was batched: flush at the end of this turn, or now. */
  readonly onBatched: (flushNow: boolean) => void;
}

export class Outbound {
  readonly #settings: OutboundSettings;
  readonly #ordinary = new BatchBuffer();
  readonly #lane = new BatchBuffer();
  /** Id under which a name (by its index) was introduced on this link; 0: not yet. */
  #nameIds = new Uint16Array(64);
  #nameCount = 0;
  #windowBytes: number;
  #outstandingBytes = 0;
  /** Messages that were written, and those of them that have left with a batch. */
  #writtenMessages = 0;
  #sentMessages = 0;
  #sentBytes = 0;
  #isEncoding = false;
  #isAdmitting = false;
  readonly #waiting = new Set<OutboundRecord>();
  /** A waiting record was taken back since the last flush. */
  #hasMoved = false;
  readonly #pending = new PendingTable<OutboundRequest>(PENDING_LIMIT);

  constructor(settings: OutboundSettings) {
    this.#settings = settings;
    this.#windowBytes = settings.windowBytes;
  }

  get outstandingBytes(): number {
    return this.#outstandingBytes;
  }

  /** What the peer grants. */
  get windowBytes(): number {
    return this.#windowBytes;
  }

  get sentMessages(): number {
    return this.#sentMessages;
  }

  get sentBytes(): number {
    return this.#sentBytes;
  }

  get waitingCount(): number {
    return this.#waiting.size;
  }

  get pendingCount(): number {
    return this.#pending.size;
  }

  get #batchedBytes(): number {
    return this.#ordinary.pendingBytes + this.#lane.pendingBytes;
  }

  /** True: written. False: waits for credit. Throws when it can be neither. */
  submit(record: OutboundRecord): boolean {
    if (this.#isEncoding) {
      throw new ZLinkError('InvalidOperation', 'a message was sent while another one was being encoded'); // O5
    }
    const mayGo = this.#waiting.size === 0 || this.#inLane(record.kind); // O1
    if (mayGo && this.#write(record)) {
      this.#noteBatched();
      return true;
    }
    if (this.#waiting.size >= WAITING_LIMIT) {
      throw new ZLinkError(
        'CapacityExceeded',
        `records waiting for ${this.#settings.peerText} have reached their limit (${WAITING_LIMIT})`,
      );
    }
    this.#waiting.add(record);
    return false;
  }

  withdraw(record: OutboundRecord): boolean {
    if (!this.#waiting.delete(record)) return false;
    if (this.#waiting.size > 0) {
      // What stood behind it may be smaller and fit. Not tried at once: of thousands that run out of time together, each
      // would have the next one encoded in vain.
      this.#hasMoved = true;
      this.#settings.onBatched(false);
    }
    return true;
  }

  /** The pending request that `record` answers, which then waits no more. */
  takePending(correlation: number): OutboundRequest | undefined {
    return this.#pending.take(correlation);
  }

  abandon(request: OutboundRequest, notify: boolean): void {
    if (!this.#pending.remove(request)) return;
    if (!notify || this.#isEncoding) return;
    // Not in the lane: a cancel must not overtake its request, which may still stand in the batch (C12).
    this.#ordinary.begin(RecordKind.cancel, 0, request.correlation, 0);
    this.#ordinary.commit();
    this.#settings.onBatched(this.#ordinary.pendingBytes >= FLUSH_BYTES);
  }

  /** The peer has taken `bytes` over and grants `windowBytes` from now on; false: more than was under way. */
  onCredit(bytes: number, windowBytes: number): boolean {
    if (bytes > this.#outstandingBytes) return false;
    this.#outstandingBytes -= bytes;
    this.#windowBytes = windowBytes;
    this.#admitWaiting();
    return true;
  }

  /** Writes a control record into the lane (CORE-005). */
  control(kind: RecordKind, correlation: number, payload?: Uint8Array): void {
    this.#lane.begin(kind, 0, correlation, 0);
    if (payload !== undefined) this.#lane.writeInline(payload);
    this.#lane.commit();
    this.#settings.onBatched(this.#lane.pendingBytes >= FLUSH_BYTES);
  }

  /** Adds credit for the peer to a batch that leaves anyway. */
  credit(bytes: number, windowBytes: number): void {
    this.#lane.begin(RecordKind.credit, 0, windowBytes, bytes);
    this.#lane.commit();
  }

  /** The last thing this side says: behind everything that was accepted. */
  goodbye(phase: number): void {
    this.#ordinary.begin(RecordKind.goodbye, 0, 0, phase);
    this.#ordinary.commit();
    this.#settings.onBatched(false);
  }

  /** @returns bytes that were sent */
  flush(): number {
    if (this.#hasMoved) this.#admitWaiting();
    const sentBytes = this.#batchedBytes;
    const writtenMessages = this.#writtenMessages;
    const parts: Uint8Array[] = [];
    this.#lane.take(parts); // O3
    this.#ordinary.take(parts);
    if (parts.length > 0) this.#settings.pipe.send(parts);
    this.#sentBytes += sentBytes;
    this.#sentMessages = writtenMessages;
    return sentBytes;
  }

  /**
   * Refuses what still waits for credit: all of it, or all but answers to accepted requests.
   *
   * A record that throws does not keep the others from their refusal; the first error is thrown at the end.
   */
  refuseWaiting(error: ZLinkError, keepAnswers: boolean): void {
    const thrown: unknown[] = [];
    for (const record of [...this.#waiting]) {
      if (keepAnswers && isAnswer(record.kind)) continue;
      if (!this.#waiting.delete(record)) continue; // taken back by another one's callback
      try {
        record.onRefused(error);
      } catch (fault) {
        thrown.push(fault);
      }
    }
    if (thrown.length > 0) throw thrown[0];
  }

  failPending(error: ZLinkError): void {
    this.#pending.drain((request) => request.onFailed(error));
  }

  #admitWaiting(): void {
    // A full batch leaves at once, in the middle of this: its flush must not begin it again.
    if (this.#isAdmitting) return;
    this.#isAdmitting = true;
    this.#hasMoved = false;
    try {
      this.#admitInOrder();
    } finally {
      this.#isAdmitting = false;
    }
  }

  #admitInOrder(): void {
    for (const record of this.#waiting) {
      let written: boolean;
      try {
        written = this.#write(record);
      } catch (error) {
        this.#waiting.delete(record);
        record.onRefused(asZLinkError(error));
        continue;
      }
      if (!written) return;
      this.#waiting.delete(record);
      record.onAdmitted();
      if (isAnswer(record.kind)) this.#settings.onAnswered();
      this.#noteBatched(); // last: a batch that cannot leave ends the link, which refuses what still waits
    }
  }

  #write(record: OutboundRecord): boolean {
    const inLane = this.#inLane(record.kind);
    if (!inLane && record.costBytes > 0 && !this.#fits(record.costBytes)) return false;
    const isRequest = record.kind === RecordKind.request;
    const correlation = isRequest ? this.#nextCorrelation() : record.correlation;
    const name = record.name;
    const nameId = name === undefined ? 0 : this.#nameId(name);
    const batch = inLane ? this.#lane : this.#ordinary;
    batch.begin(record.kind, nameId, correlation, this.#aux(record));
    let costBytes: number;
    try {
      if (name !== undefined && nameId === 0) batch.writeInlineName(name);
      if (record.metadata !== undefined) batch.writeMetadata(record.metadata);
      if (record.trace !== undefined) batch.writeTrace(record.trace);
      this.#isEncoding = true;
      record.encode(batch);
      const messageBytes = batch.payloadBytes + (record.metadata?.length ?? 0);
      this.#checkSize(messageBytes, name);
      costBytes = RECORD_COST_BYTES + messageBytes;
    } catch (error) {
      batch.rewind();
      throw error;
    } finally {
      this.#isEncoding = false;
    }
    if (!inLane) {
      record.costBytes = costBytes;
      if (!this.#fits(costBytes)) {
        batch.rewind();
        return false;
      }
      this.#outstandingBytes += costBytes;
    }
    batch.commit();
    this.#writtenMessages++;
    // A record with a kind of request is an OutboundRequest: only those are built with it.
    if (isRequest) this.#pending.add(record as OutboundRequest);
    return true;
  }

  #noteBatched(): void {
    this.#settings.onBatched(this.#batchedBytes >= FLUSH_BYTES); // new names may have filled the lane
  }

  #inLane(kind: RecordKind): boolean {
    return this.#settings.completionLane && (kind === RecordKind.reply || kind === RecordKind.error);
  }

  #fits(costBytes: number): boolean {
    return this.#outstandingBytes + costBytes <= this.#windowBytes || this.#outstandingBytes === 0; // O2
  }

  #nextCorrelation(): number {
    const correlation = this.#pending.peekCorrelation();
    if (correlation !== 0) return correlation;
    throw new ZLinkError('CapacityExceeded', `request table of ${this.#settings.peerText} is full (${PENDING_LIMIT})`);
  }

  #aux(record: OutboundRecord): number {
    if (record.kind !== RecordKind.request) return record.errorNumber;
    if (record.deadlineAtMs === 0) return 0;
    const remainingMs = Math.ceil(record.deadlineAtMs - this.#settings.clock.nowMs());
    return remainingMs < 1 ? 1 : remainingMs > MAX_REMAINING_MS ? MAX_REMAINING_MS : remainingMs;
  }

  #checkSize(messageBytes: number, name: OutboundName | undefined): void {
    const limit = this.#settings.maxMessageBytes;
    if (limit === 0 || messageBytes <= limit) return;
    throw new ZLinkError(
      'InvalidOperation',
      `message "${name?.packetName ?? ''}" has ${messageBytes} bytes, ${this.#settings.peerText} accepts at most ${limit}`,
    );
  }

  /** Id of an introduced name; introduces it if there is room; 0: must be sent inline. */
  #nameId(name: OutboundName): number {
    const index = name.index;
    if (index < 0) return 0;
    const known = index < this.#nameIds.length ? this.#nameIds[index]! : 0;
    if (known !== 0) return known;
    if (this.#nameCount >= NAME_LIMIT) return 0;
    if (index >= this.#nameIds.length) {
      const grown = new Uint16Array(Math.max(index + 1, this.#nameIds.length * 2));
      grown.set(this.#nameIds);
      this.#nameIds = grown;
    }
    const id = ++this.#nameCount;
    this.#nameIds[index] = id;
    this.#lane.begin(RecordKind.name, id, 0, 0); // O4
    this.#lane.writeInline(encodeNameBody(name));
    this.#lane.commit();
    return id;
  }
}

const MAX_REMAINING_MS = 0xffff_ffff;

function asZLinkError(error: unknown): ZLinkError {
  return isZLinkError(error)
    ? error
    : new ZLinkError('InternalFailure', 'message could not be encoded', { cause: error });
}
