/**
 * What an admitted peer says about the link itself: credit, probes, cancels, updates, goodbyes and the end.
 *
 * Owns the meaning of control records and the peer's descriptor. Leaves what they set in motion to the parts of the link.
 *
 * 1. A descriptor changes to a higher revision only, and never its set of channels (WIRE-001).
 */
import { boundedText } from '../../observe/index.ts';
import { type Descriptor, decodeDescriptor, decodeRejection } from '../wire/hello.ts';
import type { RecordReader } from '../wire/record-reader.ts';
import { GoodbyePhase, RecordKind } from '../wire/record.ts';
import type { Farewell } from './farewell.ts';
import type { GuardedSink } from './guarded-sink.ts';
import type { Liveness } from './liveness.ts';
import type { Outbound } from './outbound.ts';

export interface PeerControlParts {
  readonly outbound: Outbound;
  readonly liveness: Liveness;
  readonly farewell: Farewell;
  readonly sink: GuardedSink;
  /** The peer broke the protocol. */
  readonly violated: (fault: string) => void;
  /** The peer has ended the link. */
  readonly ended: (reason: string) => void;
}

/** Characters of a reason that are told to the peer, or believed of it. */
export const REASON_LENGTH = 200;

export class PeerControl {
  readonly #parts: PeerControlParts;
  #descriptor: Descriptor;

  constructor(descriptor: Descriptor, parts: PeerControlParts) {
    this.#descriptor = descriptor;
    this.#parts = parts;
  }

  get descriptor(): Descriptor {
    return this.#descriptor;
  }

  onRecord(record: RecordReader): void {
    const { outbound, liveness, sink, violated } = this.#parts;
    switch (record.kind) {
      case RecordKind.credit:
        if (!outbound.onCredit(record.aux, record.correlation)) violated('credit for nothing');
        return;
      case RecordKind.probe:
        return outbound.control(RecordKind.ack, record.correlation);
      case RecordKind.ack:
        return liveness.onAck(record.correlation);
      case RecordKind.cancel:
        return sink.cancel(record.correlation);
      case RecordKind.update:
        return this.#onUpdate(record.payloadView);
      case RecordKind.goodbye:
        return this.#onGoodbye(record.aux);
      case RecordKind.reject:
        return this.#onReject(record.payloadView);
      default:
        violated(`record kind ${record.kind} after admission`);
    }
  }

  #onUpdate(payload: Uint8Array): void {
    const { violated, sink } = this.#parts;
    const { revision } = this.#descriptor;
    const next = decodeDescriptor(payload);
    if (next === undefined) return violated('malformed update');
    if (next.revision <= revision) return violated(`update to revision ${next.revision} after ${revision}`); // 1
    if (!sameChannels(next, this.#descriptor)) return violated('set of channels changed'); // 1
    this.#descriptor = next;
    sink.update();
  }

  #onGoodbye(phase: number): void {
    const { farewell, violated, ended } = this.#parts;
    if (phase === GoodbyePhase.finishing) return farewell.hear('finishing');
    if (phase !== GoodbyePhase.finished) return violated(`goodbye phase ${phase}`);
    if (farewell.state.kind === 'open') return ended('peer closed the link');
    farewell.hear('finished');
  }

  #onReject(payload: Uint8Array): void {
    const rejection = decodeRejection(payload);
    if (rejection === undefined) return this.#parts.violated('malformed reject');
    this.#parts.ended(`peer: ${boundedText(rejection.text, REASON_LENGTH)}`);
  }
}

function sameChannels(a: Descriptor, b: Descriptor): boolean {
  if (a.channels.length !== b.channels.length) return false;
  const names = new Set(a.channels.map((channel) => channel.name));
  return b.channels.every((channel) => names.has(channel.name));
}
