/**
 * Reads the events out of a publisher's messages without copying.
 *
 * Owns every length check on the way in. Leaves beacons to beacon.ts, and whose events they are, what is missing between
 * them and how they are handled to the fanout topic.
 *
 * R1 Nothing is read outside the frame; every length is checked against what is left before use (WIRE-003).
 * R2 One reader serves all messages of a subscription, one after another; its fields are valid until the next `open` or
 *    `next`. Between two events the reader may rest for as long as it takes to get a permit.
 * R3 Whatever came before a fault counts; nothing behind it does.
 */
import { decodeUtf8 } from '../../message/text.ts';
import { ByteReader } from './byte-reader.ts';
import { CHANNEL_AT, EVENT_MAGIC, EVENT_WITH_NAMES_BYTES, EventForm, HAS_TRACE } from './event-layout.ts';
import { EVENT_BYTES, EVENT_FRAME_BYTES, TRACE_BYTES, WIRE_MAJOR } from './limits.ts';
import { PieceJoiner } from './piece-joiner.ts';
import { readU32, TWO_TO_32 } from './u32.ts';

/** A name of the current frame; its text is made when it is first asked for. */
interface Name {
  readonly start: number;
  readonly end: number;
  text: string | undefined;
}

const EMPTY = new Uint8Array(0);

export class EventReader {
  /** What the frame says about its publisher. */
  channelName = '';
  generation = 0n;
  /** The current event. Its payload is `payload[payloadStart…payloadEnd)`. */
  sequence = 0;
  contentType = '';
  packetName = '';
  payload: Uint8Array = EMPTY;
  payloadStart = 0;
  payloadEnd = 0;
  /** Its topic is `payload[topicStart…topicEnd)`. */
  topicStart = 0;
  topicEnd = 0;
  /** Its trace section is `payload[traceStart…traceEnd)`; empty: it has none. */
  traceStart = 0;
  traceEnd = 0;
  /** What was wrong, after `open` or `next` has returned false; empty: nothing, the frame is read. */
  fault = '';

  readonly #pieces = new PieceJoiner();
  #source: Uint8Array = EMPTY;
  #position = 0;
  #left = 0;
  #names: Name[] = [];

  /** A view of the frame, valid for as long as anyone holds it. */
  get topic(): Uint8Array {
    return this.payload.subarray(this.topicStart, this.topicEnd);
  }

  /**
   * Begins a message that is no beacon. A piece of an event has no events before its last one.
   *
   * @returns false: it is none of a publisher; `fault` says why
   */
  open(parts: readonly Uint8Array[]): boolean {
    this.#left = 0;
    this.fault = '';
    const [frame] = parts;
    if (frame === undefined || parts.length !== 1) return this.#broken(`message has ${parts.length} parts, not 1`);
    if (frame.length > EVENT_FRAME_BYTES) return this.#broken(`frame has more than ${EVENT_FRAME_BYTES} bytes`);
    if (frame.length <= CHANNEL_AT || EVENT_MAGIC.some((byte, at) => frame[at] !== byte))
      return this.#broken('frame does not begin as one of a publisher');
    if (frame[4] !== WIRE_MAJOR) return this.#broken(`version ${frame[4]} is unknown`);
    return this.#openFrame(frame);
  }

  /** Moves to the next event. @returns false: there is none; `fault` says whether the frame has ended as it should */
  next(): boolean {
    if (this.#left === 0) return false;
    const topic = this.#name();
    const contentType = topic && this.#name();
    const packetName = contentType && this.#name();
    if (topic === undefined || contentType === undefined || packetName === undefined) return false;
    const source = this.#source;
    const at = this.#position;
    if (source.length - at < 4) return this.#broken('payload length is cut off');
    const lengthAndFlag = readU32(source, at);
    const length = lengthAndFlag % HAS_TRACE;
    if (length > EVENT_BYTES) return this.#broken(`payload has ${length} bytes, allowed are ${EVENT_BYTES}`);
    const payloadStart = lengthAndFlag === length ? this.#withoutTrace(at + 4) : this.#afterTrace(at + 4);
    if (payloadStart < 0) return false;
    if (source.length - payloadStart < length) return this.#broken('payload is cut off');
    const contentText = textOf(source, contentType);
    const packetText = textOf(source, packetName);
    if (contentText === undefined || packetText === undefined) return this.#broken('name is no UTF-8');
    this.payload = source;
    this.payloadStart = payloadStart;
    this.payloadEnd = this.#position = payloadStart + length;
    this.topicStart = topic.start;
    this.topicEnd = topic.end;
    this.contentType = contentText;
    this.packetName = packetText;
    this.sequence++;
    if (--this.#left === 0 && this.#position !== source.length) this.fault = 'there are bytes behind the last event';
    return true;
  }

  #openFrame(frame: Uint8Array): boolean {
    const fields = new ByteReader(frame);
    fields.bytes(5); // magic and version
    const generation = fields.u64();
    const form = fields.u8();
    const eventCount = fields.u16();
    const sequence = fields.u32() + fields.u32() * TWO_TO_32;
    const channelName = fields.text8();
    if (!fields.ok) return this.#broken('head of the frame is cut off or is no UTF-8');
    if (generation === 0n) return this.#broken('generation is 0');
    if (sequence === 0 || sequence > Number.MAX_SAFE_INTEGER - eventCount)
      return this.#broken('sequence is out of range');
    this.channelName = channelName;
    this.generation = generation;
    this.sequence = sequence - 1; // `next` counts
    if (form === EventForm.piece) return this.#openPiece(frame, fields, eventCount, sequence);
    if (form !== EventForm.batch) return this.#broken(`form ${form} is unknown`);
    if (eventCount === 0) return this.#broken('batch has no events');
    this.#pieces.drop();
    this.#startEvents(frame, fields.position, eventCount);
    return true;
  }

  #openPiece(frame: Uint8Array, fields: ByteReader, eventCount: number, sequence: number): boolean {
    const totalBytes = fields.u32();
    const offset = fields.u32();
    const bytes = frame.subarray(fields.position);
    if (!fields.ok || bytes.length === 0) return this.#broken('piece is cut off');
    if (eventCount !== 0) return this.#broken('piece counts events');
    if (totalBytes > EVENT_WITH_NAMES_BYTES) return this.#broken(`event has more than ${EVENT_BYTES} bytes`);
    if (offset + bytes.length > totalBytes) return this.#broken('piece leads beyond its event');
    // Small ones would cost many times their bytes.
    if (offset + bytes.length < totalBytes && frame.length < EVENT_FRAME_BYTES)
      return this.#broken('piece does not fill its frame');
    const event = this.#pieces.add({ generation: this.generation, sequence, totalBytes, offset, bytes });
    if (event !== undefined) this.#startEvents(event, 0, 1);
    return true;
  }

  #startEvents(source: Uint8Array, position: number, count: number): void {
    this.#source = source;
    this.#position = position;
    this.#left = count;
    this.#names = [];
  }

  #withoutTrace(at: number): number {
    this.traceStart = this.traceEnd = at;
    return at;
  }

  /** Where the trace section that begins at `at` has ended, or -1. */
  #afterTrace(at: number): number {
    const source = this.#source;
    if (source.length - at < 2) return this.#noTrace('is cut off');
    const length = source[at]! | (source[at + 1]! << 8); // both within bounds
    if (length === 0) return this.#noTrace('is empty');
    if (length > TRACE_BYTES) return this.#noTrace(`has ${length} bytes, allowed are ${TRACE_BYTES}`);
    if (source.length - at - 2 < length) return this.#noTrace('is cut off');
    this.traceStart = at + 2;
    return (this.traceEnd = at + 2 + length);
  }

  #noTrace(what: string): -1 {
    this.#broken(`trace context ${what}`);
    return -1;
  }

  #name(): Name | undefined {
    const source = this.#source;
    const at = this.#position;
    if (source.length - at < 2) return this.#noName('name is cut off');
    const index = source[at]! | (source[at + 1]! << 8); // both within bounds
    this.#position = at + 2;
    if (index < this.#names.length) return this.#names[index];
    if (index > this.#names.length) return this.#noName(`name ${index} is out of turn`);
    if (source.length - at < 3) return this.#noName('name is cut off');
    const start = at + 3;
    const end = start + source[at + 2]!; // within bounds
    if (end > source.length) return this.#noName('name is cut off');
    const name = { start, end, text: undefined };
    this.#names.push(name);
    this.#position = end;
    return name;
  }

  #noName(fault: string): undefined {
    this.#broken(fault);
  }

  #broken(fault: string): false {
    this.fault = fault;
    this.#left = 0;
    this.#pieces.drop();
    return false;
  }
}

function textOf(source: Uint8Array, name: Name): string | undefined {
  return (name.text ??= decodeUtf8(source, name.start, name.end));
}
