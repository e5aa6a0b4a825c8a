/** The codec contract, the registry of a host and JSON. */
export { CodecRegistry, CodecTable } from './codec-registry.ts';
export type { Codec, CodecExtension, CodecRegistrar, PayloadSink } from './codec.ts';
export { builtInName, declaredPacket, encodeRefusal, opaqueBuiltIns, pathText } from './encode-refusal.ts';
export { jsonCodec } from './json-codec.ts';
export { decodePayload, encodePayload } from './payload.ts';
