// Payloads made to exhaust whoever decodes them; run with a small heap. Prints how many became values and how many were
// refused. Anything else that happens ends the process with an error.
import { msgpack } from '@zlink/codec-msgpack';
import { isZLinkError } from '@zlink/kernel/errors';

const kibibyte = 1_024;
const fullBytes = 16_777_216;
let codec;
msgpack().register({ add: (added) => (codec = added) });

const repeated = (pattern, sizeBytes) => Buffer.alloc(sizeBytes, Buffer.from(pattern, 'hex'));
const behind = (head, rest) => Buffer.concat([Buffer.from(head, 'hex'), rest]);

const arrayOf = (count) => `dd${count.toString(16).padStart(8, '0')}`;
const costs = [
  ...['80', '90', 'a0', 'c0', '00', 'cb0000000000000001', 'cf0000000000000001', 'a3616263'].map((value) => [value, 1]),
  ...['81a0c0', '81a3616263c0', '9190', '9180'].map((value) => [value, 2]),
  ...['c400', 'c40100', 'd6ff00000000'].map((value) => [value, 5]),
];

function* hostile() {
  const heads = Array.from({ length: 256 }, (_, head) => head.toString(16).padStart(2, '0'));
  const counts = ['ffff', '7fffffff', 'ffffffff', '00ffffff'];
  for (const sizeBytes of [kibibyte, 4 * kibibyte, 64 * kibibyte]) {
    for (const head of heads) {
      yield repeated(head, sizeBytes);
      for (const count of counts) yield repeated(head + count, sizeBytes);
    }
    // Levels that each announce as much as the bytes behind them allow.
    for (const head of ['dc0400', 'dd00000400', 'de0200', 'df00000200a0']) yield repeated(head, sizeBytes);
  }
  // As many values as are allowed, and one more.
  for (const [value, cost] of costs) {
    const most = Math.floor(1_000_000 / cost);
    for (const count of [most, most + 1]) yield behind(arrayOf(count), repeated(value, (count * value.length) / 2));
  }
  for (const value of ['80', '90', 'a0', '00', '91', '81a0', 'dd00ffffff']) {
    yield repeated(value, fullBytes);
    yield behind('dd00fffffb', repeated(value, fullBytes - 5));
  }
}

const tally = { values: 0, refused: 0 };
for (const payload of hostile()) {
  try {
    codec.decode(payload, undefined);
    tally.values += 1;
  } catch (error) {
    if (!isZLinkError(error) || error.kind !== 'ProtocolError') throw error;
    tally.refused += 1;
  }
}
console.log(JSON.stringify(tally));
