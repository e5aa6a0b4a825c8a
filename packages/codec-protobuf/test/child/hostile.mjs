// Payloads made to exhaust whoever decodes them; run with a small heap. Prints how many became values and how many were
// refused. Anything else that happens ends the process with an error.
import { readFileSync } from 'node:fs';
import { protobuf } from '@zlink/codec-protobuf';
import { isZLinkError } from '@zlink/kernel/errors';
import protobufjs from 'protobufjs';

const kibibyte = 1_024;
const fullBytes = 16_777_216;
const source = readFileSync(new URL('../fixtures/shop.proto', import.meta.url), 'utf8');
const { root } = protobufjs.parse(source, { keepCase: true });
class Order {}
let codec;
protobuf({ root, types: [[Order, 'shop.Order']] }).register({ add: (added) => (codec = added) });

const repeated = (pattern, sizeBytes) => Buffer.alloc(sizeBytes, Buffer.from(pattern, 'hex'));

/** Fields of the order, and the bytes of one without content. */
const emptyFields = {
  line: '920100',
  order: '9a0200',
  word: 'aa0100',
  bytes: '920200',
  tag: 'b20100',
  note: 'ba0100',
  flaggedLine: 'c20100',
  id: '980100',
  sample: 'a1010000000000000000',
  unknown: 'c03e00',
};

function* hostile() {
  for (const sizeBytes of [kibibyte, 4 * kibibyte, 64 * kibibyte]) {
    for (let byte = 0; byte < 256; byte++) {
      const head = byte.toString(16).padStart(2, '0');
      yield repeated(head, sizeBytes);
      for (const length of ['00', '7f', 'ffffffff07', 'ffffffff0f', '80808080808080808001'])
        yield repeated(head + length, sizeBytes);
    }
    yield repeated('9a02', sizeBytes);
    yield repeated('c33e', sizeBytes); // groups of an unknown field in one another
    yield repeated('8b01', sizeBytes);
  }
  for (const pattern of Object.values(emptyFields)) {
    const sizeBytes = pattern.length / 2;
    yield repeated(pattern, 999_999 * sizeBytes);
    yield repeated(pattern, 1_000_001 * sizeBytes);
    yield repeated(pattern, Math.floor(fullBytes / sizeBytes) * sizeBytes);
  }
  // Packed: one field with all the bytes.
  for (const tag of ['9a01', 'a201', 'f201', 'fa01', '8202', '8a02']) {
    const head = Buffer.from(`${tag}f8ffff07`, 'hex');
    yield Buffer.concat([head, Buffer.alloc(16_777_208)]);
  }
}

const tally = { values: 0, refused: 0 };
for (const payload of hostile()) {
  try {
    codec.decode(payload, Order);
    tally.values += 1;
  } catch (error) {
    if (!isZLinkError(error) || error.kind !== 'ProtocolError') throw error;
    tally.refused += 1;
  }
}
console.log(JSON.stringify(tally));
