/**
 * The growing batch of one fanout publisher: events are encoded one after another, once for all subscribers (FAN-006).
 *
 * Owns frames and the numbering of events. Leaves when frames leave to the publisher. An event is written in place, between
 * `begin` and `commit`, so that it costs no object: hence the many fields, of the frame, the event and its names.
 *
 * B1 Bytes that were taken are never written again; the rest of the slab goes on serving later frames.
 * B2 An event is either committed whole, with the next sequence, or rewound without a trace.
 * B3 No frame is larger than `EVENT_FRAME_BYTES`. An event that does not fit into one goes alone, in pieces.
 * B4 A frame stands for itself: it names whatever its events need, once each, so that a late subscriber can read it.
 */
import type { PayloadSink } from '../../codec/codec.ts';
import { ZLinkError } from '../../errors/index.ts';
import { encodeUtf8, writeUtf8 } from '../../message/text.ts';
import {
  CHANNEL_AT,
  EVENT_COUNT_AT,
  EventForm,
  FORM_AT,
  HAS_TRACE,
  PIECE_FIELDS_BYTES,
  SEQUENCE_AT,
} from './event-layout.ts';
import { runTopic } from './event-topics.ts';
import { EVENT_BYTES, EVENT_FRAME_BYTES, EXTERNAL_BYTES } from './limits.ts';
import type { OutboundTrace } from './outbound-trace.ts';
import { allocate, EMPTY_SLAB, LARGEST_SLAB_BYTES, roomier, slabBytesAfter } from './slab.ts';
import { TWO_TO_32, writeU32 } from './u32.ts';

const NAME_BYTES = 255;

export class EventBatch implements PayloadSink {
  readonly #channelName: string;
  /** Head of every frame; form, count and sequence are filled in. */
  readonly #head: Uint8Array;
  #slab: Uint8Array = EMPTY_SLAB;
  /** First byte of the open frame, of the event being written and of its payload; first free byte. */
  #frameStart = 0;
  #eventStart = 0;
  #payloadStart = 0;
  #position = 0;
  /** Of the open frame. */
  readonly #names = new Map<string, number>();
  #nameCount = 0;
  #eventCount = 0;
  #namesBefore = 0;
  /** Of the event being written. */
  #topic: string | Uint8Array = '';
  #contentType = '';
  #packetName = '';
  #trace: OutboundTrace | undefined = undefined;
  /** Its names in the frame. */
  #topicIndex = 0;
  #contentTypeIndex = 0;
  #packetNameIndex = 0;
  /** Whether an event of the open frame has those names, none of another one in between (B4). */
  #areNamesKnown = false;
  #nextSequence: number;
  #frames: Uint8Array[] = [];
  #framesBytes = 0;
  #nextSlabBytes = slabBytesAfter(0);

  /**
   * @param generation - of the publisher; not 0
   * @param firstSequence - a large one lets a test begin where a run comes late
   */
  constructor(channelName: string, generation: bigint, firstSequence = 1) {
    this.#channelName = channelName;
    this.#nextSequence = firstSequence;
    this.#head = headOf(channelName, generation);
  }

  /** Bytes that wait to be taken. */
  get pendingBytes(): number {
    return this.#framesBytes + (this.#eventCount === 0 ? 0 : this.#position - this.#frameStart);
  }

  /**
   * Starts an event; its payload follows through the `PayloadSink` methods, then `commit` or `rewind`.
   *
   * @param topic - at most 255 bytes, as text or as bytes of any kind; bytes are not written again by the caller
   */
  begin(topic: string | Uint8Array, contentType: string, packetName: string, trace?: OutboundTrace): void {
    if (this.#eventCount === 0) this.#startFrame();
    this.#eventStart = this.#position;
    this.#namesBefore = this.#nameCount;
    this.#areNamesKnown &&=
      topic === this.#topic && packetName === this.#packetName && contentType === this.#contentType;
    this.#topic = topic;
    this.#contentType = contentType;
    this.#packetName = packetName;
    this.#trace = trace;
    this.#writeEventHead();
  }

  writeText(text: string): void {
    if (text.length >= EXTERNAL_BYTES) return this.writeBytes(encodeUtf8(text)); // not three times its size
    this.#ensure(text.length * 3);
    this.#position += writeUtf8(this.#slab, text, this.#position);
    this.#requireSize(0);
  }

  writeBytes(bytes: Uint8Array): void {
    this.#requireSize(bytes.length);
    this.#append(bytes);
  }

  /** Bytes of payload written since `begin`. */
  get payloadBytes(): number {
    return this.#position - this.#payloadStart;
  }

  commit(): void {
    if (this.#position - this.#frameStart > EVENT_FRAME_BYTES && this.#eventCount > 0) this.#moveToNewFrame();
    const isTraced = this.#trace !== undefined;
    writeU32(this.#slab, this.#lengthAt, this.payloadBytes + (isTraced ? HAS_TRACE : 0));
    if (this.#position - this.#frameStart > EVENT_FRAME_BYTES) this.#cutIntoPieces();
    else this.#eventCount++;
    this.#areNamesKnown = true;
    this.#nextSequence++;
  }

  /** Forgets the event that was begun. */
  rewind(): void {
    this.#position = this.#eventStart;
    if (this.#nameCount === this.#namesBefore) return;
    for (const [name, index] of this.#names) if (index >= this.#namesBefore) this.#names.delete(name);
    this.#nameCount = this.#namesBefore;
  }

  /** Whether there are frames that nothing fits into any more. */
  get hasFull(): boolean {
    return this.#frames.length > 0;
  }

  /** The frames that nothing fits into any more, each to be sent as a message of its own, in this order. */
  takeFull(): Uint8Array[] {
    const frames = this.#frames;
    this.#frames = [];
    this.#framesBytes = 0;
    return frames;
  }

  /** All frames that have come together, as with `takeFull`. */
  take(): Uint8Array[] {
    this.#closeFrame(this.#position);
    const frames = this.takeFull();
    if (this.#slab.length > LARGEST_SLAB_BYTES) this.#dropSlab();
    return frames;
  }

  #startFrame(): void {
    this.#position = this.#frameStart; // what a rewound event may have left
    this.#names.clear();
    this.#nameCount = 0;
    this.#areNamesKnown = false;
    this.#append(this.#head);
  }

  #writeEventHead(): void {
    if (this.#areNamesKnown) this.#repeatNames();
    else this.#writeNames();
    this.#ensure(4);
    this.#position += 4; // the length, when it is known
    if (this.#trace !== undefined) this.#writeTrace(this.#trace);
    this.#payloadStart = this.#position;
  }

  #writeTrace(trace: OutboundTrace): void {
    const length = trace.byteLength;
    this.#ensure(2 + length);
    this.#slab[this.#position++] = length;
    this.#slab[this.#position++] = length >>> 8;
    trace.writeInto(this.#slab, this.#position);
    this.#position += length;
  }

  /** Where the length of the payload stands, once the head is written. */
  get #lengthAt(): number {
    const traceBytes = this.#trace === undefined ? 0 : 2 + this.#trace.byteLength;
    return this.#payloadStart - traceBytes - 4;
  }

  #writeNames(): void {
    const topic = this.#topic;
    this.#topicIndex = typeof topic === 'string' ? this.#writeName(topic) : this.#writeNewName(topic);
    this.#contentTypeIndex = this.#writeName(this.#contentType);
    this.#packetNameIndex = this.#writeName(this.#packetName);
  }

  /** Most often an event has the names of the one before. */
  #repeatNames(): void {
    this.#ensure(6);
    this.#writeIndex(this.#topicIndex);
    this.#writeIndex(this.#contentTypeIndex);
    this.#writeIndex(this.#packetNameIndex);
  }

  #writeName(name: string): number {
    const index = this.#names.get(name);
    if (index === undefined) {
      this.#names.set(name, this.#nameCount);
      return this.#writeNewName(encodeUtf8(name));
    }
    this.#ensure(2);
    this.#writeIndex(index);
    return index;
  }

  #writeNewName(bytes: Uint8Array): number {
    if (bytes.length > NAME_BYTES)
      throw new ZLinkError('InternalFailure', `${bytes.length} bytes do not fit a length byte`);
    this.#ensure(3);
    const index = this.#nameCount++;
    this.#writeIndex(index);
    this.#slab[this.#position++] = bytes.length;
    this.#append(bytes);
    return index;
  }

  #writeIndex(index: number): void {
    this.#slab[this.#position++] = index;
    this.#slab[this.#position++] = index >>> 8;
  }

  /** The frame is full without the event being written, which becomes the first one of the next frame. */
  #moveToNewFrame(): void {
    const payload = Uint8Array.from(this.#slab.subarray(this.#payloadStart, this.#position)); // `slice` of a Buffer is a view
    this.#closeFrame(this.#eventStart);
    this.#startFrame();
    this.#writeEventHead();
    this.#append(payload);
  }

  /** B3: the only event of the frame, with its head. */
  #cutIntoPieces(): void {
    const start = this.#frameStart + this.#head.length;
    const totalBytes = this.#position - start;
    const fieldsAt = this.#head.length;
    const bytesAt = fieldsAt + PIECE_FIELDS_BYTES;
    for (let offset = 0; offset < totalBytes;) {
      const sizeBytes = Math.min(totalBytes - offset, EVENT_FRAME_BYTES - bytesAt);
      const frame = allocate(bytesAt + sizeBytes);
      frame.set(this.#head, 0);
      finishHead(frame, 0, EventForm.piece, 0, this.#nextSequence);
      writeU32(frame, fieldsAt, totalBytes);
      writeU32(frame, fieldsAt + 4, offset);
      frame.set(this.#slab.subarray(start + offset, start + offset + sizeBytes), bytesAt);
      this.#push(frame);
      offset += sizeBytes;
    }
    this.#position = this.#frameStart; // copied: nobody has seen these bytes
  }

  /** @param end - behind the last event of the frame */
  #closeFrame(end: number): void {
    this.#position = end;
    if (this.#eventCount === 0) return;
    finishHead(this.#slab, this.#frameStart, EventForm.batch, this.#eventCount, this.#nextSequence - this.#eventCount);
    this.#push(this.#slab.subarray(this.#frameStart, end));
    this.#nextSlabBytes = slabBytesAfter(end - this.#frameStart);
    this.#frameStart = end;
    this.#eventCount = 0;
  }

  #push(frame: Uint8Array): void {
    this.#frames.push(frame);
    this.#framesBytes += frame.length;
  }

  #requireSize(moreBytes: number): void {
    const sizeBytes = this.payloadBytes + moreBytes;
    if (sizeBytes <= EVENT_BYTES) return;
    throw new ZLinkError(
      'InvalidOperation',
      `event of fanout channel "${this.#channelName}" has ${sizeBytes} bytes or more, allowed are ${EVENT_BYTES}`,
    );
  }

  #append(bytes: Uint8Array): void {
    this.#ensure(bytes.length);
    this.#slab.set(bytes, this.#position);
    this.#position += bytes.length;
  }

  /** One large event shall not keep its memory for later frames. */
  #dropSlab(): void {
    this.#slab = EMPTY_SLAB;
    this.#frameStart = 0;
    this.#position = 0;
  }

  #ensure(bytes: number): void {
    if (this.#slab.length - this.#position >= bytes) return;
    const kept = this.#slab.subarray(this.#frameStart, this.#position);
    this.#slab = roomier(kept, bytes, this.#nextSlabBytes);
    this.#eventStart -= this.#frameStart;
    this.#payloadStart -= this.#frameStart;
    this.#position = kept.length;
    this.#frameStart = 0;
  }
}

function headOf(channelName: string, generation: bigint): Uint8Array {
  const channel = encodeUtf8(channelName);
  if (channel.length > NAME_BYTES)
    throw new ZLinkError('InternalFailure', `${channel.length} bytes do not fit a length byte`);
  const head = new Uint8Array(CHANNEL_AT + 1 + channel.length);
  head.set(runTopic(generation), 0);
  head[CHANNEL_AT] = channel.length;
  head.set(channel, CHANNEL_AT + 1);
  return head;
}

function finishHead(frame: Uint8Array, at: number, form: number, eventCount: number, sequence: number): void {
  frame[at + FORM_AT] = form;
  frame[at + EVENT_COUNT_AT] = eventCount;
  frame[at + EVENT_COUNT_AT + 1] = eventCount >>> 8;
  writeU32(frame, at + SEQUENCE_AT, sequence);
  writeU32(frame, at + SEQUENCE_AT + 4, Math.floor(sequence / TWO_TO_32));
}
