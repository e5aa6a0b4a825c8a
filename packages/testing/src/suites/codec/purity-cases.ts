/** A codec changes nothing it was given, keeps nothing of it, and does not copy for nothing. */
import assert from 'node:assert/strict';
import { encodePayload } from '@zlink/kernel/codec';
import { assertSameBytes, type CodecCase, copyOf, KeepingSink } from './codec-rig.ts';

const largeBytes = 1_048_576;

function deeplyFrozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  for (const member of Object.values(value)) deeplyFrozen(member);
  return Object.freeze(value);
}

/** Bytes that go through the copying methods of byte arrays while `act` runs. */
function bytesCopiedBy(act: () => void): number {
  let copiedBytes = 0;
  const prototype = Uint8Array.prototype;
  const methods = Object.getPrototypeOf(prototype) as Pick<Uint8Array, 'set' | 'slice'>; // what all typed arrays share
  const { set, slice } = methods;
  prototype.set = function (this: Uint8Array, source: ArrayLike<number>, offset?: number): void {
    copiedBytes += source.length;
    set.call(this, source, offset);
  };
  prototype.slice = function (this: Uint8Array, ...range: [start?: number, end?: number]) {
    const part = slice.apply(this, range);
    copiedBytes += part.length;
    return part;
  };
  try {
    act();
  } finally {
    // The shared methods show again.
    delete (prototype as Partial<Uint8Array>).set;
    delete (prototype as Partial<Uint8Array>).slice;
  }
  return copiedBytes;
}

export const purityCases: readonly CodecCase[] = [
  {
    title: '[CODEC-006] encoding changes nothing of a value',
    act: (rig) => {
      const [values, same] = [rig.values(100), rig.values(100)];
      for (const value of values) rig.encode(deeplyFrozen(value));
      assert.deepStrictEqual(values, same);
    },
  },
  {
    title: '[CODEC-006] decoding changes nothing of the bytes',
    act: (rig) => {
      for (const value of rig.values(100)) {
        const payload = rig.encode(value);
        const copy = copyOf(payload);
        rig.decode(payload);
        assertSameBytes(payload, copy);
      }
    },
  },
  {
    title: '[CODEC-006] a decoded value keeps nothing of the buffer it came from',
    act: (rig) => {
      for (const value of rig.values(200)) {
        const payload = copyOf(rig.encode(value));
        const decoded = rig.decode(payload);
        payload.fill(0xa5);
        assert.deepStrictEqual(decoded, value);
      }
    },
  },
  {
    title: '[CODEC-006] a payload stays as it was when others are encoded, returned or in the batch',
    act: (rig) => {
      const { codec, harness } = rig;
      const sinks = rig.values(50).map((value) => {
        const sink = new KeepingSink();
        encodePayload(codec, value, harness.declaredType, sink);
        return { payload: rig.encode(value), sink };
      });
      for (const [index, value] of rig.values(50).entries()) {
        const { payload, sink } = sinks[index] ?? assert.fail();
        assert.deepStrictEqual(rig.decode(payload), value);
        assert.deepStrictEqual(rig.decode(sink.content), value);
      }
    },
  },
  {
    title: '[CODEC-007] a payload is copied once at most on its way into the batch',
    act: ({ codec, harness }) => {
      let keptBytes = 0;
      const sink = {
        writeText: (text: string) => void (keptBytes += text.length),
        writeBytes: (bytes: Uint8Array) => void (keptBytes += bytes.length),
      };
      const value = harness.holding('x'.repeat(largeBytes));
      const copiedBytes = bytesCopiedBy(() => encodePayload(codec, value, harness.declaredType, sink));
      assert(keptBytes >= largeBytes, `${keptBytes} bytes for a text of ${largeBytes}`);
      assert(copiedBytes < 1.5 * keptBytes, `${copiedBytes} bytes were copied for a payload of ${keptBytes}`);
    },
  },
];
