/** The one choice between a codec's fast paths and its plain methods (CODEC-007). */
import type { Codec, PayloadSink } from './codec.ts';

export function encodePayload(codec: Codec, value: unknown, declaredType: unknown, sink: PayloadSink): void {
  if (codec.encodeInto !== undefined) codec.encodeInto(value, declaredType, sink);
  else sink.writeBytes(codec.encode(value, declaredType));
}

export function decodePayload(
  codec: Codec,
  source: Uint8Array,
  start: number,
  end: number,
  declaredType: unknown,
): unknown {
  if (codec.decodeRange !== undefined) return codec.decodeRange(source, start, end, declaredType);
  return codec.decode(source.subarray(start, end), declaredType);
}
