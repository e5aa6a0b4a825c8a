/**
 * A packet on its way out: whether its value may leave, and the bytes of its payload.
 *
 * Owns what a failure says that is none of ours. Leaves rules to the packet's schema, and bytes to the codec.
 */
import { type Codec, encodePayload, type PayloadSink } from '../codec/index.ts';
import { isZLinkError, ZLinkError } from '../errors/index.ts';
import { type ResolvedPacket, validateOutbound } from '../message/index.ts';

/** @throws ZLinkError `InvalidOperation` if the value does not fit the schema of its packet */
export function validatePacket({ schema, value, packetName }: ResolvedPacket): void {
  if (schema !== undefined) validateOutbound(schema, value, packetName);
}

/** @throws ZLinkError `InvalidOperation` if the value has no form in this codec; what the sink throws of ours */
export function encodePacket(
  codec: Codec,
  { value, declaredType, packetName }: ResolvedPacket,
  sink: PayloadSink,
): void {
  try {
    encodePayload(codec, value, declaredType, sink);
  } catch (error) {
    if (isZLinkError(error)) throw error;
    throw new ZLinkError('InvalidOperation', `message "${packetName}" could not be encoded`, { cause: error });
  }
}
