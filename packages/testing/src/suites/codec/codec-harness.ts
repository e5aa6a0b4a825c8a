/** What a codec gives to its suite. */
import type { Codec } from '@zlink/kernel/codec';
import type { RandomSource } from '@zlink/kernel/internal/time';
import type { DeclaredType } from '@zlink/kernel/message';

export interface CodecHarness {
  /** A new codec, as its extension registers it. */
  create(): Codec;
  /** The same with a bound on the size of payloads, both ways. Without it there is no case about such a bound. */
  createBounded?(maxBytes: number): Codec;

  readonly contentType: string;
  /** A type that the codec serves, and all values here are of; default: no declared type. */
  readonly declaredType?: DeclaredType;
  /** A type that it leaves to other codecs. Without one it serves every type. */
  readonly foreignType?: DeclaredType;

  /** A value that comes back equal to what it was. */
  value(random: RandomSource): unknown;
  /** A value that holds `text`. */
  holding(text: string): unknown;
  /** Values that have no form in this codec and hold `text`; each must be refused. */
  refused(text: string): readonly unknown[];
  readonly nested: NestedValues;

  /** A payload with `bytes` for a text, well-formed if they are UTF-8. */
  payloadOfText(bytes: Uint8Array): Uint8Array;
  /** A payload of a record with this key, whose value is a number. Without it the codec decodes no keys of the sender's choice. */
  payloadOfKey?(key: string): Uint8Array;
  /** Most values and characters that a byte of a payload becomes; default 2. */
  readonly valuesPerByte?: number;
}

/** Values in one another: arrays, records or messages, whatever the codec nests. */
export interface NestedValues {
  /** The deepest that is encoded. */
  readonly maxLevels: number;
  readonly value: (levels: number) => unknown;
  /** Decodes to what is equal to `value` of as many levels. */
  readonly payload: (levels: number) => Uint8Array;
}
