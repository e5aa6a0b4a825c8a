import fc from 'fast-check';
import { peerDigest } from '../../../src/internal/wire/peer-digest.ts';

test.each([
  ['a', 0xe40c292c],
  ['foobar', 0xbf9cf968],
])('[WIRE-002] the digest of RID "%s" is its FNV-1a', (rid, digest) => {
  expect(peerDigest(rid, undefined)).toEqual({ rid: digest, generation: 0 });
});

test('[WIRE-002] RIDs are digested as bytes of UTF-8', () => {
  let hash = 0x811c9dc5n;
  for (const byte of [0xc3, 0xbc]) hash = ((hash ^ BigInt(byte)) * 16_777_619n) % 2n ** 32n;
  expect(peerDigest('ü', undefined).rid).toBe(Number(hash));
});

test('[WIRE-001] who expects nobody says 0', () => {
  expect(peerDigest(undefined, undefined)).toEqual({ rid: 0, generation: 0 });
});

test('[WIRE-001] any RID and generation has two numbers of 32 bits, of its own and always the same ones', () => {
  const rid = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 });
  const generation = fc.bigInt({ min: 1n, max: 2n ** 64n - 1n });
  fc.assert(
    fc.property(rid, generation, (anyRid, anyGeneration) => {
      const digest = peerDigest(anyRid, anyGeneration);
      expect(digest).toEqual({
        rid: peerDigest(anyRid, undefined).rid,
        generation: Number(anyGeneration % 2n ** 32n),
      });
      expect(digest.rid >>> 0).toBe(digest.rid);
    }),
  );
});
