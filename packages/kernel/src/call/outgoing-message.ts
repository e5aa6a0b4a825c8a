/** The message of a call with the codec and name it travels with; shared by sends and requests. */
import { type Codec, encodePayload, type PayloadSink } from '../codec/index.ts';
import { ZLinkError, isZLinkError } from '../errors/index.ts';
import { type ResolvedPacket, validateOutbound } from '../message/index.ts';
import type { OutboundName } from '../internal/wire/index.ts';
import type { CallPath } from './call-path.ts';

export class OutgoingMessage {
  readonly name: OutboundName;
  readonly metadata: Uint8Array | undefined;
  readonly #packet: ResolvedPacket;
  readonly #codec: Codec;

  /** @throws ZLinkError `InvalidOperation` if the value does not fit its schema */
  constructor(packet: ResolvedPacket, metadata: Uint8Array | undefined, path: CallPath) {
    if (packet.schema !== undefined) validateOutbound(packet.schema, packet.value, packet.packetName);
    this.#packet = packet;
    this.metadata = metadata;
    this.#codec = path.codecs.select(packet.declaredType);
    this.name = path.nameOf(this.#codec.contentType, packet.packetName);
  }

  encode(sink: PayloadSink): void {
    const codec = this.#codec;
    const { value, declaredType, packetName } = this.#packet;
    try {
      encodePayload(codec, value, declaredType, sink);
    } catch (error) {
      if (isZLinkError(error)) throw error;
      throw new ZLinkError('InvalidOperation', `message "${packetName}" could not be encoded`, { cause: error });
    }
  }
}
