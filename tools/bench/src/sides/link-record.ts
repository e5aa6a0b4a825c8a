/**
 * A record of the bare link: what the calls and replies of the framework are reduced to.
 *
 * Owns one record and, for whoever waits, how it ended. Leaves endpoints to `link.ts`.
 */
import type { ZLinkError } from '@zlink/kernel/errors';
import type { InboundRecord, OutboundRecord, OutboundRequest } from '@zlink/kernel/internal/transport';
import { type OutboundName, RecordKind } from '@zlink/kernel/internal/wire';
import type { Cargo, Message } from '../cargo.ts';

type PayloadSink = Parameters<OutboundRecord['encode']>[0];

export class LinkRecord implements OutboundRequest {
  readonly kind: RecordKind;
  readonly name: OutboundName;
  correlation = 0;
  readonly errorNumber = 0;
  readonly deadlineAtMs = 0;
  readonly metadata = undefined;
  readonly trace = undefined;
  costBytes = 0;
  payload: Uint8Array | string = '';
  readonly #cargo: Cargo;
  #resolve: ((reply: Message | undefined) => void) | undefined;
  #reject: ((error: Error) => void) | undefined;

  constructor(kind: RecordKind, name: OutboundName, cargo: Cargo) {
    this.kind = kind;
    this.name = name;
    this.#cargo = cargo;
  }

  /** Resolves when a request was answered, or when any other record that had to wait was taken by the link. */
  outcome(): Promise<Message | undefined> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  encode(sink: PayloadSink): void {
    if (typeof this.payload === 'string') sink.writeText(this.payload);
    else sink.writeBytes(this.payload);
  }

  onAdmitted(): void {
    if (this.kind !== RecordKind.request) this.#resolve?.(undefined);
  }

  onRefused(error: ZLinkError): void {
    this.#reject?.(error);
  }

  onReply(record: InboundRecord): void {
    if (record.errorKind !== undefined) this.#reject?.(new Error(`request ended with ${record.errorKind}`));
    else this.#resolve?.(this.#cargo.decode(record.payload, record.payloadStart, record.payloadEnd));
  }

  onFailed(error: ZLinkError): void {
    this.#reject?.(error);
  }
}
