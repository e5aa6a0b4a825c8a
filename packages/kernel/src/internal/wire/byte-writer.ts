/** Writes small structures field by field into a growing buffer. Not for the hot path. */
import { ZLinkError } from '../../errors/index.ts';
import { encodeUtf8 } from '../../message/text.ts';

export class ByteWriter {
  #bytes = new Uint8Array(256);
  #view = new DataView(this.#bytes.buffer);
  #position = 0;

  /** What was written so far: a view that later writes do not change. */
  written(): Uint8Array {
    return this.#bytes.subarray(0, this.#position);
  }

  u8(value: number): void {
    const at = this.#reserve(1); // first: it may replace the view
    this.#view.setUint8(at, value);
  }

  u16(value: number): void {
    const at = this.#reserve(2);
    this.#view.setUint16(at, value, true);
  }

  u32(value: number): void {
    const at = this.#reserve(4);
    this.#view.setUint32(at, value, true);
  }

  u64(value: bigint): void {
    const at = this.#reserve(8);
    this.#view.setBigUint64(at, value, true);
  }

  bytes(bytes: Uint8Array): void {
    const at = this.#reserve(bytes.length);
    this.#bytes.set(bytes, at);
  }

  bytes8(bytes: Uint8Array): void {
    if (bytes.length > 255) throw new ZLinkError('InternalFailure', `${bytes.length} bytes do not fit a length byte`);
    this.u8(bytes.length);
    this.bytes(bytes);
  }

  text8(text: string): void {
    this.bytes8(encodeUtf8(text));
  }

  text(text: string): void {
    this.bytes(encodeUtf8(text));
  }

  #reserve(length: number): number {
    const at = this.#position;
    if (at + length > this.#bytes.length) {
      const grown = new Uint8Array((at + length) * 2);
      grown.set(this.#bytes);
      this.#bytes = grown;
      this.#view = new DataView(grown.buffer);
    }
    this.#position = at + length;
    return at;
  }
}
