/** MessagePack as a codec: register it with `host.codecs().use(msgpack())`. */
export type { MsgpackExtension } from './extension-table.ts';
export { msgpack } from './msgpack-codec.ts';
export type { MsgpackOptions } from './options.ts';
