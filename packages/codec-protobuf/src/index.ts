/** Protocol Buffers as a codec: register it with `host.codecs().use(protobuf({ types }))`. */
export type { ProtobufEntry, ProtobufOptions, ProtobufRoot } from './options.ts';
export { protobuf } from './protobuf-codec.ts';
export type { GeneratedClass, ProtobufType } from './protobuf-type.ts';
