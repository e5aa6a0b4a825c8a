/**
 * Reads records out of received message parts without copying.
 *
 * Owns every length check on the way in. Leaves meaning (credit, correlation, handlers) to the link.
 *
 * R1 Nothing is read outside the part; every length is checked against what is left before use (WIRE-003).
 * R2 One reader serves all records of a link: its fields are valid until the next `read`.
 */
import { type ErrorKindName, errorKindOf } from '../../errors/index.ts';
import type { InboundName, InboundRecord, TraceReading } from '../transport/records.ts';
import { HEADER_BYTES, METADATA_BYTES, NAME_LIMIT, RECORD_COST_BYTES, TRACE_BYTES } from './limits.ts';
import { RecordFlag, RecordKind, allowedFlags } from './record.ts';
import { decodeUtf8 } from '../../message/text.ts';
import { readU32 } from './u32.ts';

/** Names that the peer has introduced on this link, by id (WIRE-004). */
export type NameTable = (InboundName | undefined)[];

export class RecordReader implements InboundRecord {
  kind: RecordKind = RecordKind.send;
  correlation = 0;
  aux = 0;
  nameId = 0;
  name: InboundName | undefined = undefined;
  payload: Uint8Array = EMPTY;
  payloadStart = 0;
  payloadEnd = 0;
  costBytes = 0;
  /** When a kept record began to wait for its turn, and how long it has waited at it. */
  keptAtMs = 0;
  waitedMs = 0;
  /** What was wrong, after `read` returned -1. */
  fault = '';
  /** Next message part that is not consumed yet: external payloads move it on. */
  nextPart = 0;

  readonly #names: NameTable;
  #source: Uint8Array = EMPTY;
  #metadataStart = 0;
  #metadataEnd = 0;
  #traceStart = 0;
  #traceEnd = 0;

  constructor(names: NameTable) {
    this.#names = names;
  }

  get remainingMs(): number {
    if (this.kind !== RecordKind.request || this.aux === 0) return 0;
    const leftMs = this.aux - this.waitedMs;
    return leftMs === 0 ? -1 : leftMs; // 0 would mean: no limit
  }

  /** The payload as a view of its own. */
  get payloadView(): Uint8Array {
    return this.payload.subarray(this.payloadStart, this.payloadEnd);
  }

  get errorKind(): ErrorKindName | undefined {
    return this.kind === RecordKind.error ? errorKindOf(this.aux) : undefined;
  }

  get metadata(): Uint8Array | undefined {
    if (this.#metadataEnd === this.#metadataStart) return undefined;
    return this.#source.subarray(this.#metadataStart, this.#metadataEnd);
  }

  get trace(): Uint8Array | undefined {
    if (this.#traceEnd === this.#traceStart) return undefined;
    return this.#source.subarray(this.#traceStart, this.#traceEnd);
  }

  readTrace<T>(read: TraceReading<T>): T | undefined {
    if (this.#traceEnd === this.#traceStart) return undefined;
    return read(this.#source, this.#traceStart, this.#traceEnd);
  }

  /** A copy that outlives the next `read`; the bytes themselves are shared. */
  keep(): RecordReader {
    const copy = new RecordReader(this.#names);
    copy.kind = this.kind;
    copy.correlation = this.correlation;
    copy.aux = this.aux;
    copy.nameId = this.nameId;
    copy.name = this.name;
    copy.payload = this.payload;
    copy.payloadStart = this.payloadStart;
    copy.payloadEnd = this.payloadEnd;
    copy.costBytes = this.costBytes;
    copy.#source = this.#source;
    copy.#metadataStart = this.#metadataStart;
    copy.#metadataEnd = this.#metadataEnd;
    copy.#traceStart = this.#traceStart;
    copy.#traceEnd = this.#traceEnd;
    return copy;
  }

  /**
   * Reads the record at `at` of `source`.
   * @returns offset behind the record, or -1 with `fault` set
   */
  read(source: Uint8Array, at: number, parts: readonly Uint8Array[]): number {
    const end = source.length;
    if (end - at < HEADER_BYTES) return this.#broken('record header is cut off');
    const kind = source[at]!;
    const flags = source[at + 1]!;
    const allowed = allowedFlags[kind]!;
    if (allowed < 0) return this.#broken(`record kind ${kind} is unknown`);
    if ((flags & ~allowed) !== 0) return this.#broken(`flags ${flags} are not allowed for record kind ${kind}`);
    this.kind = kind as RecordKind; // checked by allowedFlags above
    this.nameId = source[at + 2]! | (source[at + 3]! << 8);
    this.correlation = readU32(source, at + 4);
    this.aux = readU32(source, at + 8);
    const payloadLength = readU32(source, at + 12);
    this.#source = source;
    this.#metadataStart = this.#metadataEnd = 0;
    this.#traceStart = this.#traceEnd = 0;
    let next = at + HEADER_BYTES;
    if (flags === 0) {
      this.name = this.nameId === 0 ? undefined : this.#names[this.nameId];
    } else {
      next = this.#readSections(source, next, flags);
      if (next < 0) return -1;
    }
    if ((flags & RecordFlag.external) !== 0) {
      const part = parts[this.nextPart];
      if (part === undefined) return this.#broken('external payload is missing');
      if (part.length !== payloadLength) return this.#broken('external payload has another length than announced');
      this.nextPart++;
      this.payload = part;
      this.payloadStart = 0;
      this.payloadEnd = payloadLength;
    } else {
      if (end - next < payloadLength) return this.#broken('payload is cut off');
      this.payload = source;
      this.payloadStart = next;
      next += payloadLength;
      this.payloadEnd = next;
    }
    this.costBytes = RECORD_COST_BYTES + payloadLength + (this.#metadataEnd - this.#metadataStart);
    return next;
  }

  #readSections(source: Uint8Array, at: number, flags: number): number {
    let next = at;
    if ((flags & RecordFlag.inlineName) !== 0) {
      const end = this.#section(source, next, NAME_BODY_BYTES, 'inline name');
      if (end < 0) return -1;
      const name = decodeNameBody(source, next + 2, end);
      if (name === undefined) return this.#broken('inline name is malformed');
      this.name = name;
      next = end;
    } else {
      this.name = this.nameId === 0 ? undefined : this.#names[this.nameId];
    }
    if ((flags & RecordFlag.metadata) !== 0) {
      const end = this.#section(source, next, METADATA_BYTES, 'metadata');
      if (end < 0) return -1;
      this.#metadataStart = next + 2;
      this.#metadataEnd = end;
      next = end;
    }
    if ((flags & RecordFlag.trace) !== 0) {
      const end = this.#section(source, next, TRACE_BYTES, 'trace context');
      if (end < 0) return -1;
      this.#traceStart = next + 2;
      this.#traceEnd = end;
      next = end;
    }
    return next;
  }

  /** End of the section that starts at `at` with its length, or -1. */
  #section(source: Uint8Array, at: number, limit: number, what: string): number {
    if (source.length - at < 2) return this.#broken(`${what} is cut off`);
    const length = source[at]! | (source[at + 1]! << 8);
    if (length === 0) return this.#broken(`${what} is empty`);
    if (length > limit) return this.#broken(`${what} has ${length} bytes, allowed are ${limit}`);
    if (source.length - at - 2 < length) return this.#broken(`${what} is cut off`);
    return at + 2 + length;
  }

  #broken(fault: string): -1 {
    this.fault = fault;
    return -1;
  }
}

/** Registers the payload of a `name` record; a text says what is wrong with it. */
export function introduceName(names: NameTable, record: RecordReader): string | undefined {
  const id = record.nameId;
  if (id === 0 || id > NAME_LIMIT) return `name id ${id} is outside 1..${NAME_LIMIT}`;
  if (id !== Math.max(1, names.length)) return `name id ${id} is out of turn`;
  const name = decodeNameBody(record.payload, record.payloadStart, record.payloadEnd);
  if (name === undefined) return 'name is malformed';
  if (names.length === 0) names.push(undefined); // id 0 means no name
  names.push(name);
  return undefined;
}

function decodeNameBody(source: Uint8Array, start: number, end: number): InboundName | undefined {
  const scopeStart = start + 1;
  if (scopeStart > end) return undefined;
  const scopeEnd = scopeStart + source[start]!;
  const typeStart = scopeEnd + 1;
  if (typeStart > end) return undefined;
  const typeEnd = typeStart + source[scopeEnd]!;
  if (typeEnd > end || end - typeEnd > 255) return undefined;
  const scope = decodeUtf8(source, scopeStart, scopeEnd);
  const contentType = decodeUtf8(source, typeStart, typeEnd);
  const packetName = decodeUtf8(source, typeEnd, end);
  if (scope === undefined || contentType === undefined || packetName === undefined) return undefined;
  return { scope, contentType, packetName, slot: undefined };
}

const EMPTY = new Uint8Array(0);
/** Two length bytes and three texts of at most 255 bytes. */
const NAME_BODY_BYTES = 2 + 3 * 255;
