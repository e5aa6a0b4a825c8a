/** Names, routing ids, generations and endpoints: what things are called. */

export { type Endpoint, formatEndpoint, isHost, isLoopbackHost, isWildcardHost, parseEndpoint } from './endpoint.ts';
export { checkAdvertiseHost, checkBindHost } from './listen-hosts.ts';
export { isName, maxNameBytes, nameRule, requirePacketName } from './names.ts';
export { isRid, isRidPrefix, newGeneration, newRid, type NodeIdentity } from './rid.ts';
export { compareUtf8, isWellFormed, utf8ByteLength } from './utf8.ts';
