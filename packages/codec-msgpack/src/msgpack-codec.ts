/**
 * MessagePack as a codec: what the framework asks of it, and how library, check and reader work together.
 *
 * Owns the choice of types, the size bound and the errors. Leaves values without a form to value-check.ts, extensions to
 * extension-table.ts and decoding to payload-reader.ts.
 *
 * Invariants
 * M1 The library sees only values that it encodes without a change.
 * M2 Each message has an encoder of its own: the batch may keep its buffer, so nothing is copied for it (CODEC-007).
 * M3 A refusal to encode names the packet.
 */
import { Encoder, ExtData } from '@msgpack/msgpack';
import { type Codec, type CodecExtension, encodeRefusal } from '@zlink/kernel/codec';
import { describeValue, isZLinkError, ZLinkError } from '@zlink/kernel/errors';
import type { DeclaredType } from '@zlink/kernel/message';
import { ExtensionTable } from './extension-table.ts';
import { type MsgpackOptions, type ResolvedMsgpackOptions, resolveMsgpackOptions } from './options.ts';
import { PayloadReader } from './payload-reader.ts';
import { ValueCheck } from './value-check.ts';

/** Enough for most messages; the encoder makes itself a larger one when it has to. */
const initialBufferBytes = 512;

/**
 * MessagePack for `host.codecs().use(...)`, under the content type `application/msgpack`.
 *
 * @param options - which packets it serves, extension types and bounds; default: all packets, no extensions
 * @throws ConfigurationError with every mistake in the options
 * @see CODEC-004, CODEC-006
 */
export function msgpack(options: MsgpackOptions = {}): CodecExtension {
  const codec = new MsgpackCodec(resolveMsgpackOptions(options));
  return { register: (codecs) => void codecs.add(codec) };
}

class MsgpackCodec implements Codec {
  readonly contentType = 'application/msgpack';
  readonly #options: ResolvedMsgpackOptions;
  readonly #extensions: ExtensionTable;
  /** Of the encoder. */
  readonly #extensionCodec: { tryToEncode(value: unknown): ExtData | null; decode(): never };

  constructor(options: ResolvedMsgpackOptions) {
    this.#options = options;
    this.#extensions = new ExtensionTable(options.extensions);
    this.#extensionCodec = {
      tryToEncode: (value) => this.#encodeExtension(value as object), // the library asks about objects alone
      decode: () => {
        throw new TypeError('the encoder decodes nothing');
      },
    };
  }

  matches(declaredType: DeclaredType | undefined): boolean {
    const { types } = this.#options;
    return types === undefined || types.has(declaredType);
  }

  encode(value: unknown, declaredType: unknown): Uint8Array {
    try {
      return this.#encode(value, declaredType);
    } catch (error) {
      if (isZLinkError(error)) throw error;
      // A getter, a proxy or an extension of the application failed.
      throw encodeRefusal('value cannot be read as MessagePack', declaredType, error);
    }
  }

  decode(bytes: Uint8Array): unknown {
    return this.decodeRange(bytes, 0, bytes.byteLength);
  }

  decodeRange(source: Uint8Array, start: number, end: number): unknown {
    const { maxBytes } = this.#options;
    if (end - start > maxBytes) {
      throw new ZLinkError('ProtocolError', `payload of ${end - start} bytes is above the ${maxBytes} of msgpack`);
    }
    return new PayloadReader(this.#extensions, this.#options, source, start, end).read();
  }

  #encode(value: unknown, declaredType: unknown): Uint8Array {
    const check = new ValueCheck(this.#extensions, this.#options);
    const reason = check.refusalOf(value);
    if (reason !== undefined) throw encodeRefusal(reason.text, declaredType); // M1, M3
    const { maxDepth, maxBytes } = this.#options;
    const encoder = new Encoder({
      useBigInt64: true,
      ignoreUndefined: true,
      forceIntegerToFloat: check.hasNegativeZero,
      maxDepth: maxDepth + 1, // the library counts the innermost value, too
      initialBufferSize: initialBufferBytes,
      extensionCodec: this.#extensionCodec,
    });
    const bytes = encoder.encodeSharedRef(value); // M2: shared with nobody
    if (bytes.length <= maxBytes) return bytes;
    throw encodeRefusal(`${bytes.length} bytes are above the ${maxBytes} of msgpack`, declaredType);
  }

  #encodeExtension(value: object): ExtData | null {
    const extension = this.#extensions.forValue(value);
    if (extension === undefined) return null;
    const bytes: unknown = extension.encode(value);
    if (bytes instanceof Uint8Array) return new ExtData(extension.type, bytes);
    throw new TypeError(`extension type ${extension.type} gave ${describeValue(bytes)} instead of bytes`);
  }
}
