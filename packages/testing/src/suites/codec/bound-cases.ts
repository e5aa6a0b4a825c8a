/** Depth and size end somewhere, with a clean error. */
import assert from 'node:assert/strict';
import { type CodecCase, CodecRig, refusal } from './codec-rig.ts';

const abyss = 100_000;
const boundBytes = 4_096;

export const boundCases: readonly CodecCase[] = [
  {
    title: '[CODEC-006] values are encoded and decoded down to the deepest level, and refused one level below',
    act: (rig) => {
      const { maxLevels, value, payload } = rig.harness.nested;
      const [given, form] = [`nested.value(${maxLevels})`, `nested.payload(${maxLevels})`];
      assert.deepStrictEqual(rig.decode(rig.encode(value(maxLevels))), value(maxLevels), `${given} does not come back`);
      assert.deepStrictEqual(rig.decode(payload(maxLevels)), value(maxLevels), `${form} does not decode to ${given}`);
      refusal('InvalidOperation', () => rig.encode(value(maxLevels + 1)), `${maxLevels + 1} levels`);
    },
  },
  {
    title: '[CODEC-006] a value of 100,000 levels is refused, a payload of them is a value or a ProtocolError',
    act: (rig) => {
      refusal('InvalidOperation', () => rig.encode(rig.harness.nested.value(abyss)), `${abyss} levels`);
      rig.attempt(rig.harness.nested.payload(abyss));
    },
  },
  {
    title: '[CODEC-006] a payload of the largest size passes, one byte more is refused, both ways',
    needs: 'createBounded',
    act: ({ harness }) => {
      const bounded = (maxBytes: number): CodecRig => new CodecRig(harness, harness.createBounded?.(maxBytes));
      const value = harness.holding('x'.repeat(boundBytes));
      const payload = bounded(boundBytes * 2).encode(value);
      const [enough, tooSmall] = [bounded(payload.length), bounded(payload.length - 1)];
      assert.deepStrictEqual(enough.decode(enough.encode(value)), enough.decode(payload));
      refusal('InvalidOperation', () => tooSmall.encode(value), 'a value above the bound');
      refusal('ProtocolError', () => tooSmall.decode(payload), 'a payload above the bound');
    },
  },
];
