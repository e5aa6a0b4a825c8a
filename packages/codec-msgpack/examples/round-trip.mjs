// The codec without a host: what `host.codecs().use(...)` is given, registered and used by hand.
import assert from 'node:assert/strict';
import { msgpack } from '@zlink/codec-msgpack';
import { CodecRegistry } from '@zlink/kernel/codec';
import { Problems } from '@zlink/kernel/errors';

const codecs = new CodecRegistry().use(msgpack()).freeze(new Problems());
const codec = codecs.select(undefined);
const value = { id: 2n ** 63n, at: new Date(0), bytes: Uint8Array.of(1, 2), ratio: -0 };
const payload = codec.encode(value, undefined);
assert.equal(codec.contentType, 'application/msgpack');
assert.deepStrictEqual(codec.decode(payload, undefined), value);
console.log(`${payload.length} bytes`);
