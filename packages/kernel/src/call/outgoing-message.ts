/**
 * The message of a call: set up by the application, sealed by its one submission, then encoded by a link.
 *
 * Owns metadata, codec, name and flow of the message, and that a call is submitted once. Leaves targets and time to the call.
 * One object from builder to link: a message costs no second one for its submission.
 *
 * O1 After `seal` nothing can be set and nothing sealed again, whatever came of it (CALL-001).
 */
import type { Codec, PayloadSink } from '../codec/index.ts';
import { isZLinkError, ZLinkError } from '../errors/index.ts';
import { type Metadata, MetadataBuilder, type ResolvedPacket } from '../message/index.ts';
import { requireSignal } from '../internal/time/index.ts';
import type { OutboundName } from '../internal/wire/index.ts';
import { type CarriedFlow, type Flow, requireFlow } from '../observe/index.ts';
import type { CallPath } from './call-path.ts';
import { encodePacket, validatePacket } from './packet-payload.ts';

export class OutgoingMessage {
  /** Set by `seal`, as metadata and flow. */
  name!: OutboundName;
  metadataBytes: Uint8Array | undefined = undefined;
  /** What the message belongs to; undefined at level `off`. */
  flow: CarriedFlow | undefined = undefined;
  #codec!: Codec;
  readonly #path: CallPath | ZLinkError;
  readonly #packet: ResolvedPacket;
  #metadata: MetadataBuilder | undefined = undefined;
  #isSealed = false;

  /** @param path - the way to the target, or why there is none: then `seal` throws it */
  constructor(path: CallPath | ZLinkError, packet: ResolvedPacket) {
    this.#path = path;
    this.#packet = packet;
  }

  get packetName(): string {
    return this.#packet.packetName;
  }

  get reply(): ResolvedPacket['reply'] {
    return this.#packet.reply;
  }

  /** @throws ZLinkError `InvalidOperation` for an entry that is not allowed, or after `seal` */
  setMetadata(keyOrAll: string | Metadata, value: string | undefined): void {
    this.requireOpen();
    this.#metadata ??= new MetadataBuilder();
    if (typeof keyOrAll === 'object') this.#metadata.setAll(keyOrAll);
    else this.#metadata.set(keyOrAll, value!); // the overload with a key has a value; the builder checks it
  }

  /** @throws ZLinkError `InvalidOperation` for what is no flow, or after `seal` */
  setFlow(flow: Flow | undefined): void {
    this.requireOpen();
    this.flow = requireFlow(flow);
  }

  /** @throws ZLinkError `InvalidOperation` after `seal` */
  requireOpen(): void {
    if (this.#isSealed) throw new ZLinkError('InvalidOperation', `call of "${this.packetName}" was already submitted`);
  }

  /**
   * Makes the message ready for its way, which it returns.
   *
   * @throws ZLinkError if the signal is none, there is no way, the value does not fit its schema, or it was sealed before;
   *   the signal's reason
   */
  seal(signal: AbortSignal | undefined): CallPath {
    this.requireOpen();
    this.#isSealed = true; // O1
    requireSignal(signal);
    if (signal?.aborted === true) throw signal.reason;
    const path = this.#path;
    if (isZLinkError(path)) throw path;
    const packet = this.#packet;
    this.metadataBytes = this.#metadata?.encode();
    validatePacket(packet);
    this.#codec = path.terms.codecs.select(packet.declaredType);
    this.name = path.nameOf(this.#codec.contentType, packet.packetName);
    this.flow = path.terms.flow.join(this.flow, signal);
    return path;
  }

  encode(sink: PayloadSink): void {
    encodePacket(this.#codec, this.#packet, sink);
  }
}
