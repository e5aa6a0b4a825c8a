/**
 * Reads small structures field by field; after the first thing that does not fit every later read answers with zero
 * values and `ok` is false, so that a decoder checks once at its end (WIRE-003).
 */
import { decodeUtf8 } from '../../message/text.ts';

export class ByteReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #position = 0;
  #ok = true;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get ok(): boolean {
    return this.#ok;
  }

  get position(): number {
    return this.#position;
  }

  get atEnd(): boolean {
    return this.#position === this.#bytes.length;
  }

  u8(): number {
    const at = this.#advance(1);
    return at < 0 ? 0 : this.#view.getUint8(at);
  }

  u16(): number {
    const at = this.#advance(2);
    return at < 0 ? 0 : this.#view.getUint16(at, true);
  }

  u32(): number {
    const at = this.#advance(4);
    return at < 0 ? 0 : this.#view.getUint32(at, true);
  }

  u64(): bigint {
    const at = this.#advance(8);
    return at < 0 ? 0n : this.#view.getBigUint64(at, true);
  }

  /** A view, not a copy. */
  bytes(length: number): Uint8Array {
    const at = this.#advance(length);
    return at < 0 ? this.#bytes.subarray(0, 0) : this.#bytes.subarray(at, at + length);
  }

  bytes8(): Uint8Array {
    return this.bytes(this.u8());
  }

  text8(): string {
    return this.text(this.u8());
  }

  text(length: number): string {
    const at = this.#advance(length);
    if (at < 0) return '';
    const text = decodeUtf8(this.#bytes, at, at + length);
    if (text === undefined) this.#ok = false;
    return text ?? '';
  }

  #advance(length: number): number {
    const at = this.#position;
    if (!this.#ok || length > this.#bytes.length - at) {
      this.#ok = false;
      return -1;
    }
    this.#position = at + length;
    return at;
  }
}
