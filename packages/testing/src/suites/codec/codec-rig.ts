/**
 * What a case of `codecSuite` works with: one codec, and its methods with the outcome told apart.
 *
 * Owns what counts as a clean refusal. Leaves the values to the harness.
 */
import assert from 'node:assert/strict';
import { type Codec, decodePayload, type PayloadSink } from '@zlink/kernel/codec';
import { type ErrorKindName, isZLinkError } from '@zlink/kernel/errors';
import { seededRandom } from '../../seeded-random.ts';
import type { CodecHarness } from './codec-harness.ts';

export interface CodecCase {
  readonly title: string;
  readonly needs?: 'createBounded' | 'payloadOfKey';
  readonly act: (rig: CodecRig) => void;
}

export type Decoded = { readonly kind: 'value'; readonly value: unknown } | { readonly kind: 'refused' };

/** A batch that keeps by reference whatever it is given, as the contract allows it to. */
export class KeepingSink implements PayloadSink {
  readonly #parts: Uint8Array[] = [];

  writeText(text: string): void {
    this.#parts.push(new TextEncoder().encode(text));
  }

  writeBytes(bytes: Uint8Array): void {
    this.#parts.push(bytes);
  }

  get content(): Uint8Array {
    return joined(this.#parts);
  }
}

export class CodecRig {
  readonly harness: CodecHarness;
  readonly codec: Codec;

  constructor(harness: CodecHarness, codec = harness.create()) {
    this.harness = harness;
    this.codec = codec;
  }

  /** Values of the harness; the same ones for the same count. */
  values(count: number): unknown[] {
    const random = seededRandom(count);
    return Array.from({ length: count }, () => this.harness.value(random));
  }

  encode(value: unknown): Uint8Array {
    return this.codec.encode(value, this.harness.declaredType);
  }

  decode(bytes: Uint8Array): unknown {
    return this.codec.decode(bytes, this.harness.declaredType);
  }

  /**
   * Decodes `bytes[0, end)` the way the framework does.
   *
   * @throws AssertionError if anything but a `ProtocolError` comes out of it
   */
  attempt(bytes: Uint8Array, end = bytes.length): Decoded {
    try {
      return { kind: 'value', value: decodePayload(this.codec, bytes, 0, end, this.harness.declaredType) };
    } catch (error) {
      assertKind(error, 'ProtocolError');
      return { kind: 'refused' };
    }
  }
}

/** What `call` throws, which must be a ZLinkError of this kind. */
export function refusal(kind: ErrorKindName, call: () => unknown, what: string): Error {
  try {
    call();
  } catch (error) {
    return assertKind(error, kind);
  }
  assert.fail(`${what} was not refused`);
}

function assertKind(error: unknown, kind: ErrorKindName): Error {
  assert(isZLinkError(error), `threw no ZLinkError: ${String(error)}`);
  assert.equal(error.kind, kind);
  return error;
}

/** A Buffer's own `slice` would be a view. */
export function copyOf(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes);
}

export function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Bytes by their content alone, whatever class they are of. */
export function assertSameBytes(actual: Uint8Array, expected: Uint8Array): void {
  assert.deepEqual([...actual], [...expected]);
}
