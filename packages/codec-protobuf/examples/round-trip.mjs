// The codec without a host: what `host.codecs().use(...)` is given, registered and used by hand.
import assert from 'node:assert/strict';
import { protobuf } from '@zlink/codec-protobuf';
import { CodecRegistry } from '@zlink/kernel/codec';
import { Problems } from '@zlink/kernel/errors';
import protobufjs from 'protobufjs';

const { root } = protobufjs.parse('syntax = "proto3"; message Order { string id = 1; int64 cents = 2; }');
class Order {}

const codecs = new CodecRegistry().use(protobuf({ root, types: [[Order, 'Order']] })).freeze(new Problems());
const codec = codecs.select(Order);
const value = { id: '7', cents: -(2n ** 63n) };
const payload = codec.encode(value, Order);
assert.equal(codec.contentType, 'application/protobuf');
assert.deepStrictEqual(codec.decode(payload, Order), value);
console.log(`${payload.length} bytes`);
