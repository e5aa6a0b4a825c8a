// What a browser lacks is taken away before the package is loaded.
import Module, { isBuiltin } from 'node:module';

const load = Module._load;
Module._load = (request, ...others) => {
  if (isBuiltin(request)) throw new Error(`${request} is no module of a browser`);
  return load(request, ...others);
};
for (const name of ['Buffer', 'setImmediate', 'global']) delete globalThis[name];

const { msgpack } = await import('@zlink/codec-msgpack');
let codec;
msgpack().register({ add: (added) => (codec = added) });
const value = {
  text: 'é'.repeat(100),
  id: 2n ** 63n,
  at: new Date(7),
  bytes: Uint8Array.of(1, 2),
  '__proto__ ': [-0, 1.5],
};
const decoded = codec.decode(codec.encode(value, undefined), undefined);
const shown = (x) =>
  JSON.stringify(x, (_key, member) =>
    typeof member === 'bigint' ? `${member}n` : Object.is(member, -0) ? '-0' : member,
  );
if (shown(decoded) !== shown(value)) throw new Error(`${shown(decoded)} came back for ${shown(value)}`);
if (decoded.bytes.constructor !== Uint8Array) throw new Error('bytes are no Uint8Array');
console.log('the same');
