/** Whole messages of a publisher to plain events and back, through the reader and the batch that fanout uses. */
import { EventBatch } from '../../../src/internal/wire/event-batch.ts';
import type { EventReader } from '../../../src/internal/wire/event-reader.ts';
import { traceOf } from './message-codec.ts';

export interface PlainEvent {
  readonly sequence: number;
  /** Bytes that are no text stay bytes. */
  readonly topic: string | Uint8Array;
  readonly contentType: string;
  readonly packetName: string;
  readonly trace?: Uint8Array;
  readonly payload: Uint8Array;
}

/** The events of one message. @throws Error with the fault */
export function readAll(reader: EventReader, parts: readonly Uint8Array[]): PlainEvent[] {
  const events: PlainEvent[] = [];
  if (reader.open(parts)) while (reader.next()) events.push(current(reader));
  if (reader.fault !== '') throw new Error(reader.fault);
  return events;
}

/** Copies everything. */
export function current(reader: EventReader): PlainEvent {
  const { sequence, topic, contentType, packetName, payload, payloadStart, payloadEnd, traceStart, traceEnd } = reader;
  return {
    sequence,
    topic: textIfAny(topic),
    contentType,
    packetName,
    ...(traceEnd === traceStart ? {} : { trace: Uint8Array.from(payload.subarray(traceStart, traceEnd)) }),
    payload: Uint8Array.from(payload.subarray(payloadStart, payloadEnd)),
  };
}

export function write(
  batch: EventBatch,
  { topic, contentType, packetName, trace, payload }: Omit<PlainEvent, 'sequence'>,
): void {
  batch.begin(topic, contentType, packetName, trace && traceOf(trace));
  batch.writeBytes(payload);
  batch.commit();
}

/** A batch whose next event has this sequence. */
export function batchAt(sequence: number): EventBatch {
  return new EventBatch('news', 0x0123_4567_89ab_cdefn, sequence);
}

function textIfAny(bytes: Uint8Array): string | Uint8Array {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return Uint8Array.from(bytes);
  }
}
