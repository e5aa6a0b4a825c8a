/**
 * Protocol Buffers as a codec: what the framework asks of it, and how the parts work together.
 *
 * Owns finding the type, the size bound and the errors. Leaves the format to the library, and strictness to its reader,
 * its writer and the check of shapes.
 *
 * Invariants
 * B1 The declared type decides which message it is; the payload itself does not say.
 * B2 Each message has a writer of its own: the batch may keep its buffer, so nothing is copied for it (CODEC-007).
 * B3 An error names the packet or the type, and shows no part of the payload. The library's own error may hold what it
 *    had decoded, so it is no cause.
 */
import { type Codec, type CodecExtension, declaredPacket } from '@zlink/kernel/codec';
import { describeValue, isZLinkError, ZLinkError } from '@zlink/kernel/errors';
import type { DeclaredType } from '@zlink/kernel/message';
import { type ProtobufOptions, type ResolvedProtobufOptions, resolveProtobufOptions } from './options.ts';
import { plainValue } from './plain-value.ts';
import { nameOf, type ProtobufType } from './protobuf-type.ts';
import { StrictReader } from './strict-reader.ts';
import { FieldRefusal, StrictWriter } from './strict-writer.ts';
import { shapeFault } from './value-check.ts';

/**
 * Protocol Buffers for `host.codecs().use(...)`, under the content type `application/protobuf`.
 *
 * @param options - which packets it serves with which types, the form of 64-bit integers, and bounds
 * @throws ConfigurationError with every mistake in the options
 * @see CODEC-004, CODEC-006
 */
export function protobuf(options: ProtobufOptions): CodecExtension {
  const codec = new ProtobufCodec(resolveProtobufOptions(options));
  return { register: (codecs) => void codecs.add(codec) };
}

class ProtobufCodec implements Codec {
  readonly contentType = 'application/protobuf';
  readonly #options: ResolvedProtobufOptions;

  constructor(options: ResolvedProtobufOptions) {
    this.#options = options;
  }

  matches(declaredType: DeclaredType | undefined): boolean {
    return this.#options.types.has(declaredType);
  }

  encode(value: unknown, declaredType: unknown): Uint8Array {
    const type = this.#options.types.get(declaredType);
    if (type === undefined) throw new ZLinkError('InvalidOperation', withoutType(declaredType));
    try {
      return this.#encode(type, value, declaredType);
    } catch (error) {
      if (isZLinkError(error)) throw error;
      if (error instanceof FieldRefusal) throw refusal(type, declaredType, error.message);
      throw refusal(type, declaredType, 'value cannot be read', error); // a getter or a proxy of the application failed
    }
  }

  decode(bytes: Uint8Array, declaredType: unknown): unknown {
    return this.decodeRange(bytes, 0, bytes.byteLength, declaredType);
  }

  decodeRange(source: Uint8Array, start: number, end: number, declaredType: unknown): unknown {
    const { types, int64, maxBytes, maxValues } = this.#options;
    const type = types.get(declaredType);
    if (type === undefined) throw new ZLinkError('ProtocolError', withoutType(declaredType)); // B1
    if (end - start > maxBytes) {
      throw new ZLinkError('ProtocolError', `payload of ${end - start} bytes is above the ${maxBytes} of protobuf`);
    }
    try {
      const message: unknown = type.decode(new StrictReader(source, start, end, maxValues));
      return plainValue(type.toObject(message, { defaults: true }), int64);
    } catch (error) {
      const reason = error instanceof Error ? error.message : describeValue(error);
      throw new ZLinkError('ProtocolError', `payload cannot be read as ${nameOf(type)}: ${reason}`); // B3
    }
  }

  #encode(type: ProtobufType, value: unknown, declaredType: unknown): Uint8Array {
    const fault = shapeFault(type, value);
    if (fault !== undefined) throw refusal(type, declaredType, fault);
    const writer = new StrictWriter();
    type.encode(value, writer);
    const { maxBytes } = this.#options;
    if (writer.len > maxBytes) {
      throw refusal(type, declaredType, `${writer.len} bytes are above the ${maxBytes} of protobuf`);
    }
    return writer.finish(true); // B2: shared with nobody
  }
}

function refusal(type: ProtobufType, declaredType: unknown, text: string, cause?: unknown): ZLinkError {
  const message = `${declaredPacket(declaredType)} cannot be encoded as ${nameOf(type)}: ${text}`;
  return new ZLinkError('InvalidOperation', message, { cause });
}

function withoutType(declaredType: unknown): string {
  const subject = declaredType === undefined ? 'a message without a declared type' : declaredPacket(declaredType);
  const remedy = 'give it one in the types of protobuf()';
  const ofReplies = 'a request declares the type of its reply by { reply: { declaredType } }';
  return `${subject} has no Protobuf type: ${declaredType === undefined ? ofReplies : remedy}`;
}
