/** A received record that outlives the call it was shown in: the view is the link's, the bytes stay valid. */
import type { ErrorKindName } from '@zlink/kernel/errors';
import type { InboundName, InboundRecord, Link } from '@zlink/kernel/internal/transport';
import type { RecordKind } from '@zlink/kernel/internal/wire';

export interface KeptRecord {
  readonly link: Link | undefined;
  readonly kind: RecordKind;
  readonly correlation: number;
  readonly remainingMs: number;
  readonly errorKind: ErrorKindName | undefined;
  readonly name: InboundName | undefined;
  readonly payload: Uint8Array;
  readonly metadata: Uint8Array | undefined;
  readonly trace: Uint8Array | undefined;
}

export function keepRecord(record: InboundRecord, link: Link | undefined): KeptRecord {
  return {
    link,
    kind: record.kind,
    correlation: record.correlation,
    remainingMs: record.remainingMs,
    errorKind: record.errorKind,
    name: record.name,
    payload: record.payload.subarray(record.payloadStart, record.payloadEnd),
    metadata: record.metadata,
    trace: record.trace,
  };
}

export function textOf(record: KeptRecord | undefined): string | undefined {
  return record === undefined ? undefined : new TextDecoder().decode(record.payload);
}
