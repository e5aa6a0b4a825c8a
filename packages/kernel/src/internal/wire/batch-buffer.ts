/**
 * The growing batch of one link and lane: records are encoded one after another straight into it.
 *
 * Owns memory for outgoing bytes. Leaves what is written and when it leaves to the link.
 *
 * B1 Bytes that `take` has handed out are never written again; the rest of the slab goes on serving later batches.
 * B2 A record is either committed whole or rewound without a trace.
 */
import type { PayloadSink } from '../../codec/codec.ts';
import type { OutboundName } from './names.ts';
import type { OutboundTrace } from './outbound-trace.ts';
import { EXTERNAL_BYTES, HEADER_BYTES } from './limits.ts';
import { RecordFlag, type RecordKind } from './record.ts';
import { EMPTY_SLAB, LARGEST_SLAB_BYTES, roomier, slabBytesAfter } from './slab.ts';
import { encodeUtf8, writeUtf8 } from '../../message/text.ts';
import { writeU32 } from './u32.ts';

export class BatchBuffer implements PayloadSink {
  #slab: Uint8Array = EMPTY_SLAB;
  /** First byte of the batch in the slab, and first free byte. */
  #batchStart = 0;
  #position = 0;
  #recordStart = 0;
  #payloadStart = 0;
  /** Payloads of the batch that travel as message parts of their own, in order. */
  #externals: Uint8Array[] = [];
  #externalBytes = 0;
  /** External payload of the record being written. */
  #external: Uint8Array | undefined;
  #nextSlabBytes = slabBytesAfter(0);

  /** Bytes that wait in this batch, external payloads included. */
  get pendingBytes(): number {
    return this.#position - this.#batchStart + this.#externalBytes;
  }

  /** Starts a record; payload may follow through the `PayloadSink` methods, then `commit` or `rewind`. */
  begin(kind: RecordKind, nameId: number, correlation: number, aux: number): void {
    this.#ensure(HEADER_BYTES);
    const slab = this.#slab;
    const at = this.#position;
    slab[at] = kind;
    slab[at + 1] = 0;
    slab[at + 2] = nameId;
    slab[at + 3] = nameId >>> 8;
    writeU32(slab, at + 4, correlation);
    writeU32(slab, at + 8, aux);
    this.#recordStart = at;
    this.#position = at + HEADER_BYTES;
    this.#payloadStart = this.#position;
  }

  /** Adds the name itself to the record, for receivers that do not know it yet. */
  writeInlineName(name: OutboundName): void {
    const body = encodeNameBody(name);
    this.#writeSection(body, RecordFlag.inlineName);
  }

  writeMetadata(bytes: Uint8Array): void {
    this.#writeSection(bytes, RecordFlag.metadata);
  }

  writeTrace(trace: OutboundTrace): void {
    const at = this.#openSection(trace.byteLength, RecordFlag.trace);
    trace.writeInto(this.#slab, at);
  }

  writeText(text: string): void {
    if (text.length >= EXTERNAL_BYTES) {
      this.writeBytes(encodeUtf8(text));
      return;
    }
    if (this.#external !== undefined) this.#inlineExternal();
    this.#ensure(text.length * 3);
    this.#position += writeUtf8(this.#slab, text, this.#position);
  }

  writeBytes(bytes: Uint8Array): void {
    if (bytes.length >= EXTERNAL_BYTES && this.#external === undefined && this.#position === this.#payloadStart) {
      this.#external = bytes;
      return;
    }
    if (this.#external !== undefined) this.#inlineExternal();
    this.writeInline(bytes);
  }

  /** As `writeBytes`, but never as a part of its own: control records may not have one. */
  writeInline(bytes: Uint8Array): void {
    this.#ensure(bytes.length);
    this.#slab.set(bytes, this.#position);
    this.#position += bytes.length;
  }

  /** Bytes of payload written since `begin`. */
  get payloadBytes(): number {
    return this.#external?.length ?? this.#position - this.#payloadStart;
  }

  commit(): void {
    const external = this.#external;
    if (external !== undefined) {
      this.#slab[this.#recordStart + 1]! |= RecordFlag.external;
      this.#externals.push(external);
      this.#externalBytes += external.length;
      this.#external = undefined;
      writeU32(this.#slab, this.#recordStart + 12, external.length);
      return;
    }
    writeU32(this.#slab, this.#recordStart + 12, this.#position - this.#payloadStart);
  }

  rewind(): void {
    this.#position = this.#recordStart;
    this.#external = undefined;
  }

  /** Appends the batch and its external payloads to `parts` and starts a new batch; nothing when it is empty. */
  take(parts: Uint8Array[]): void {
    const size = this.#position - this.#batchStart;
    if (size === 0) return;
    parts.push(this.#slab.subarray(this.#batchStart, this.#position));
    this.#batchStart = this.#position;
    if (this.#slab.length > LARGEST_SLAB_BYTES) this.#dropSlab();
    this.#nextSlabBytes = slabBytesAfter(size);
    if (this.#externals.length > 0) {
      for (const external of this.#externals) parts.push(external);
      this.#externals = [];
      this.#externalBytes = 0;
    }
  }

  /** One large record shall not keep its memory for later batches. */
  #dropSlab(): void {
    this.#slab = EMPTY_SLAB;
    this.#batchStart = 0;
    this.#position = 0;
  }

  #writeSection(bytes: Uint8Array, flag: number): void {
    const at = this.#openSection(bytes.length, flag);
    this.#slab.set(bytes, at);
  }

  /** Makes room for a section, which begins at the offset that it returns. */
  #openSection(length: number, flag: number): number {
    this.#ensure(2 + length);
    const slab = this.#slab;
    const at = this.#position + 2;
    slab[this.#recordStart + 1]! |= flag;
    slab[at - 2] = length;
    slab[at - 1] = length >>> 8;
    this.#position = at + length;
    this.#payloadStart = this.#position;
    return at;
  }

  /** A second piece follows an external payload: the record becomes an ordinary one. */
  #inlineExternal(): void {
    const external = this.#external!;
    this.#external = undefined;
    this.writeInline(external);
  }

  #ensure(bytes: number): void {
    if (this.#slab.length - this.#position >= bytes) return;
    const kept = this.#slab.subarray(this.#batchStart, this.#position);
    this.#slab = roomier(kept, bytes, this.#nextSlabBytes);
    this.#recordStart -= this.#batchStart;
    this.#payloadStart -= this.#batchStart;
    this.#position = kept.length;
    this.#batchStart = 0;
  }
}

/** scope and content type with a length byte each, then the packet name. */
export function encodeNameBody(name: OutboundName): Uint8Array {
  const scope = encodeUtf8(name.scope);
  const contentType = encodeUtf8(name.contentType);
  const packetName = encodeUtf8(name.packetName);
  const body = new Uint8Array(2 + scope.length + contentType.length + packetName.length);
  body[0] = scope.length;
  body.set(scope, 1);
  body[1 + scope.length] = contentType.length;
  body.set(contentType, 2 + scope.length);
  body.set(packetName, 2 + scope.length + contentType.length);
  return body;
}
