// What a browser lacks is taken away before the package is loaded. A generated class needs no more than that.
import Module, { isBuiltin } from 'node:module';

const load = Module._load;
Module._load = (request, ...others) => {
  if (isBuiltin(request)) throw new Error(`${request} is no module of a browser`);
  return load(request, ...others);
};
for (const name of ['Buffer', 'setImmediate', 'global', 'process']) delete globalThis[name];

const { protobuf } = await import('@zlink/codec-protobuf');
const { post } = await import('../fixtures/post.mjs');
let codec;
protobuf({ types: [post.Parcel] }).register({ add: (added) => (codec = added) });
// In the order in which the library fills an object: lists and maps first.
const value = {
  items: [{ codes: [2n ** 63n - 1n], name: 'x' }],
  notes: { ['18446744073709551615']: 'most' },
  tags: {},
  id: 'é'.repeat(100),
  grams: -(2n ** 63n),
  seal: Uint8Array.of(1, 2),
  inside: null,
  box: 7,
};
const payload = codec.encode(value, post.Parcel);
const decoded = codec.decode(payload, post.Parcel);
const shown = (x) => JSON.stringify(x, (_key, member) => (typeof member === 'bigint' ? `${member}n` : member));
if (shown(decoded) !== shown(value)) throw new Error(`${shown(decoded)} came back for ${shown(value)}`);
for (const bytes of [payload, decoded.seal])
  if (bytes.constructor !== Uint8Array) throw new Error('bytes are no Uint8Array');
console.log('the same');
