/**
 * Whole messages to plain values and back, through the reader and the buffer that links use.
 *
 * Owns the step between parts and records only. Names stay ids: what they stand for is a link's business.
 */
import type { InboundName } from '../../../src/internal/transport/index.ts';
import { BatchBuffer } from '../../../src/internal/wire/batch-buffer.ts';
import type { OutboundTrace } from '../../../src/internal/wire/outbound-trace.ts';
import { type NameTable, RecordReader, introduceName } from '../../../src/internal/wire/record-reader.ts';
import { RecordKind } from '../../../src/internal/wire/record.ts';

export interface PlainRecord {
  readonly kind: RecordKind;
  readonly nameId: number;
  readonly correlation: number;
  readonly aux: number;
  readonly inlineName: Omit<InboundName, 'slot'> | undefined;
  readonly metadata: Uint8Array | undefined;
  readonly trace: Uint8Array | undefined;
  readonly payload: Uint8Array;
}

/** The batches of a message, each with its records; a text says what is wrong with it. */
export function decodeMessage(parts: readonly Uint8Array[], names: NameTable = []): PlainRecord[][] | string {
  const record = new RecordReader(names);
  const batches: PlainRecord[][] = [];
  while (record.nextPart < parts.length) {
    const source = parts[record.nextPart++] as Uint8Array; // the loop condition has just checked it
    const batch: PlainRecord[] = [];
    for (let at = 0; at < source.length;) {
      at = record.read(source, at, parts);
      if (at < 0) return record.fault;
      if (record.kind === RecordKind.name) {
        const fault = introduceName(names, record);
        if (fault !== undefined) return fault;
      }
      batch.push(plain(record));
    }
    batches.push(batch);
  }
  return batches;
}

export function encodeMessage(batches: readonly (readonly PlainRecord[])[]): Uint8Array[] {
  const parts: Uint8Array[] = [];
  for (const batch of batches) {
    const buffer = new BatchBuffer();
    for (const record of batch) writeRecord(buffer, record);
    buffer.take(parts);
  }
  return parts;
}

export function writeRecord(buffer: BatchBuffer, record: PlainRecord): void {
  buffer.begin(record.kind, record.nameId, record.correlation, record.aux);
  if (record.inlineName !== undefined) buffer.writeInlineName({ ...record.inlineName, index: -1 });
  if (record.metadata !== undefined) buffer.writeMetadata(record.metadata);
  if (record.trace !== undefined) buffer.writeTrace(traceOf(record.trace));
  buffer.writeBytes(record.payload);
  buffer.commit();
}

/** Copies everything, so that two messages can be compared. */
function plain(record: RecordReader): PlainRecord {
  const { kind, nameId, correlation, aux, name, metadata, trace, payload, payloadStart, payloadEnd } = record;
  return {
    kind,
    nameId,
    correlation,
    aux,
    inlineName: name === undefined || nameId !== 0 ? undefined : withoutSlot(name),
    metadata: metadata && Uint8Array.from(metadata),
    trace: trace && Uint8Array.from(trace),
    payload: Uint8Array.from(payload.subarray(payloadStart, payloadEnd)),
  };
}

function withoutSlot({ scope, contentType, packetName }: InboundName): Omit<InboundName, 'slot'> {
  return { scope, contentType, packetName };
}

/** Writes these bytes as they are. */
export function traceOf(bytes: Uint8Array): OutboundTrace {
  return { byteLength: bytes.length, writeInto: (target, at) => target.set(bytes, at) };
}
