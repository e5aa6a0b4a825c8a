import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { FrameReader, FrameWriter } from '../src/sides/net-frames.ts';

interface Frame {
  readonly correlation: number;
  readonly payload: string;
}

/** Cuts `bytes` into chunks of the given sizes, in turn. */
function chunksOf(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length]!;
    chunks.push(bytes.subarray(at, at + size));
    at += size;
  }
  return chunks;
}

function readBack(chunks: readonly Buffer[]): Frame[] {
  const frames: Frame[] = [];
  const reader = new FrameReader((correlation, source, start, end) =>
    frames.push({ correlation, payload: source.toString('utf8', start, end) }),
  );
  for (const chunk of chunks) reader.take(chunk);
  return frames;
}

const frame = fc.record({
  correlation: fc.nat({ max: 0xffff_ffff }),
  payload: fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 200 }),
    fc.nat({ max: 70_000 }).map((length) => 'x'.repeat(length)),
  ),
});

test('[CORE-001] frames come back whole and in order, however the stream is cut', () => {
  fc.assert(
    fc.property(
      fc.array(frame, { maxLength: 20 }),
      fc.array(fc.integer({ min: 1, max: 100_000 }), { minLength: 1, maxLength: 5 }),
      fc.boolean(),
      (frames, sizes, asBytes) => {
        const writer = new FrameWriter();
        const parts: Uint8Array[] = [];
        for (const { correlation, payload } of frames) {
          writer.write(correlation, asBytes ? Buffer.from(payload) : payload);
          if (writer.pendingBytes > 100_000) parts.push(...writer.take());
        }
        parts.push(...writer.take());
        expect(readBack(chunksOf(Buffer.concat(parts), sizes))).toEqual(frames);
      },
    ),
  );
});

test('[CORE-001] a buffer that was taken is not written again', () => {
  const writer = new FrameWriter();
  writer.write(1, 'first');
  const taken = Buffer.concat(writer.take());
  const kept = writer.take();
  writer.write(2, 'second');
  expect(kept).toEqual([]);
  expect(readBack([taken, ...(writer.take() as Buffer[])])).toEqual([
    { correlation: 1, payload: 'first' },
    { correlation: 2, payload: 'second' },
  ]);
  expect(writer.pendingBytes).toBe(0);
});

test('[CORE-001] a large payload is handed on without a copy', () => {
  const writer = new FrameWriter();
  const payload = Buffer.alloc(40_000, 7);
  writer.write(0, payload);
  expect(writer.take()[1]).toBe(payload);
});
