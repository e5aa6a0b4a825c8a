/**
 * The contract between the framework and whatever turns values into payload bytes.
 *
 * Owns: the shapes only. Leaves to others: which codec serves a message (codec-registry.ts), packet names, metadata and
 * everything else of a record; a codec never sees them.
 */
import type { MessageType, RequestType, Type } from '../message/index.ts';

/** Where a codec may write a payload instead of returning it, so that it is copied once at most (CODEC-007). */
export interface PayloadSink {
  /** Appends `text` as UTF-8. */
  writeText(text: string): void;
  /** Appends `bytes`. Large ones may be kept by reference: the codec must not change them afterwards. */
  writeBytes(bytes: Uint8Array): void;
}

/** Turns values into bytes and back. One object for all messages; its methods are called for each of them. */
export interface Codec {
  /** `type/subtype` without parameters; brought into canonical form at start (CODEC-002). */
  readonly contentType: string;

  /**
   * Whether this codec serves the type declared at the call; the instance is never asked (CODEC-004). Must give the
   * same answer every time: it is remembered.
   */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- descriptors are invariant in T; any accepts them all
  matches(declaredType: Type<unknown> | MessageType<any> | RequestType<any, any> | undefined): boolean;

  /** The payload of `value`. A value without a faithful form is an error, never a near one. */
  encode(value: unknown, declaredType: unknown): Uint8Array;

  /** The value of a payload. `bytes` are valid during the call only; what the value keeps of them is a copy. */
  decode(bytes: Uint8Array, declaredType: unknown): unknown;

  /** As `encode`, writing into the outgoing batch. When it throws, what it has written is discarded. */
  encodeInto?(value: unknown, declaredType: unknown, sink: PayloadSink): void;

  /** As `decode` of `source[start, end)`, without the view object. */
  decodeRange?(source: Uint8Array, start: number, end: number, declaredType: unknown): unknown;
}

/** Takes the codecs of an extension, once, while the host is configured. */
export interface CodecRegistrar {
  add(codec: Codec): this;
}

/** A package that brings codecs. */
export interface CodecExtension {
  register(codecs: CodecRegistrar): void;
}
