/** What is encoded comes back, whichever of a codec's methods serve. */
import assert from 'node:assert/strict';
import { decodePayload, encodePayload } from '@zlink/kernel/codec';
import { assertSameBytes, type CodecCase, joined, KeepingSink } from './codec-rig.ts';

const noise = Uint8Array.of(0xff, 0x00, 0x91, 0x22, 0x7b);

export const roundTripCases: readonly CodecCase[] = [
  {
    title: '[CODEC-006] 1,000 values come back as they were',
    act: (rig) => {
      for (const value of rig.values(1_000)) assert.deepStrictEqual(rig.decode(rig.encode(value)), value);
    },
  },
  {
    title: '[CODEC-006] [CODEC-007] what is written into the batch is what encode returns',
    act: (rig) => {
      for (const value of rig.values(200)) {
        const sink = new KeepingSink();
        encodePayload(rig.codec, value, rig.harness.declaredType, sink);
        assertSameBytes(sink.content, rig.encode(value));
      }
    },
  },
  {
    title: '[CODEC-006] [CODEC-007] a payload in the middle of other bytes is read as it is alone',
    act: (rig) => {
      const { declaredType } = rig.harness;
      for (const value of rig.values(200)) {
        const payload = rig.encode(value);
        const source = joined([noise, payload, noise]);
        const [start, end] = [noise.length, noise.length + payload.length];
        assert.deepStrictEqual(decodePayload(rig.codec, source, start, end, declaredType), value);
        assert.deepStrictEqual(rig.decode(source.subarray(start, end)), value);
      }
    },
  },
];
