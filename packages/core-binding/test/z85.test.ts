import { randomBytes } from 'node:crypto';
import { curveKeyPair } from 'zeromq';
import { decodeZ85, encodeZ85 } from '../src/z85.ts';

test('[SEC-001] the vector of the specification', () => {
  const bytes = Uint8Array.of(0x86, 0x4f, 0xd2, 0x6f, 0xb5, 0x59, 0xf7, 0x5b);
  expect(encodeZ85(bytes)).toBe('HelloWorld');
  expect(decodeZ85('HelloWorld')).toEqual(bytes);
});

test('[SEC-001] keys and random bytes survive both ways', () => {
  for (let round = 0; round < 100; round++) {
    const { publicKey, secretKey } = curveKeyPair();
    for (const key of [publicKey, secretKey]) expect(encodeZ85(decodeZ85(key)!)).toBe(key);
    const bytes = new Uint8Array(randomBytes(32));
    expect(decodeZ85(encodeZ85(bytes))).toEqual(bytes);
  }
  expect(decodeZ85(encodeZ85(new Uint8Array(8).fill(255)))).toEqual(new Uint8Array(8).fill(255));
});

test.each(['Hell', 'Hello"', 'Hell"', 'Hellö', '#####', ' Hell'])('[SEC-001] %p is no Z85', (text) => {
  expect(decodeZ85(text)).toBeUndefined();
});
