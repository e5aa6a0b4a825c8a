/**
 * Length-prefixed frames on a byte stream, written coalesced.
 *
 * Owns both directions of the frame. Leaves sockets and what frames mean to `net.ts`.
 *
 * ```text
 *  0                  4                  8
 * +------------------+------------------+---------+
 * | payload length   | correlation      | payload |
 * | u32              | u32, 0: none     |         |
 * +------------------+------------------+---------+
 * ```
 * 1. A buffer that was handed to the socket is never written again: the socket may still hold it.
 * 2. Large payloads are not copied on the way out; frames inside one chunk are not copied on the way in.
 */
const headerBytes = 8;
const batchBytes = 65_536;
const externalBytes = 32_768;

/** Collects frames until `take`. */
export class FrameWriter {
  #batch = Buffer.allocUnsafeSlow(batchBytes);
  #start = 0;
  #end = 0;
  #full: Uint8Array[] = [];
  #pendingBytes = 0;

  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  /** A string stands for its UTF-8 bytes. */
  write(correlation: number, payload: Uint8Array | string): void {
    const maxBytes = typeof payload === 'string' ? payload.length * 3 : payload.length;
    const isExternal = typeof payload !== 'string' && maxBytes >= externalBytes;
    this.#reserve(headerBytes + (isExternal ? 0 : maxBytes));
    const bodyAt = this.#end + headerBytes;
    const length =
      typeof payload === 'string'
        ? this.#batch.write(payload, bodyAt, 'utf8')
        : this.#writeBytes(payload, bodyAt, isExternal);
    this.#batch.writeUInt32LE(length, this.#end);
    this.#batch.writeUInt32LE(correlation, this.#end + 4);
    this.#end = bodyAt + (isExternal ? 0 : length);
    this.#pendingBytes += headerBytes + length;
    if (!isExternal) return;
    this.#close();
    this.#full.push(payload);
  }

  /** Everything written since the last call, in order. */
  take(): Uint8Array[] {
    this.#close();
    const parts = this.#full;
    this.#full = [];
    this.#pendingBytes = 0;
    return parts;
  }

  #writeBytes(payload: Uint8Array, at: number, isExternal: boolean): number {
    if (!isExternal) this.#batch.set(payload, at);
    return payload.length;
  }

  #reserve(bytes: number): void {
    if (this.#end + bytes <= this.#batch.length) return;
    this.#close();
    this.#batch = Buffer.allocUnsafeSlow(Math.max(batchBytes, bytes)); // 1
    this.#start = this.#end = 0;
  }

  #close(): void {
    if (this.#end > this.#start) this.#full.push(this.#batch.subarray(this.#start, this.#end));
    this.#start = this.#end;
  }
}

export type OnFrame = (correlation: number, source: Buffer, start: number, end: number) => void;

/** Finds frames in chunks of any size. */
export class FrameReader {
  readonly #onFrame: OnFrame;
  /** Beginning of a frame whose end has not arrived. */
  #held: Buffer[] = [];
  #heldBytes = 0;
  /** Bytes that the held frame needs to be whole; its header alone at first. */
  #neededBytes = headerBytes;

  constructor(onFrame: OnFrame) {
    this.#onFrame = onFrame;
  }

  take(chunk: Buffer): void {
    if (this.#heldBytes === 0) return this.#read(chunk);
    this.#held.push(chunk);
    this.#heldBytes += chunk.length;
    if (this.#heldBytes < this.#neededBytes) return;
    const whole = Buffer.concat(this.#held, this.#heldBytes);
    this.#held = [];
    this.#heldBytes = 0;
    this.#read(whole);
  }

  #read(source: Buffer): void {
    let at = 0;
    while (source.length - at >= headerBytes) {
      const end = at + headerBytes + source.readUInt32LE(at);
      if (end > source.length) return this.#hold(source, at, end - at);
      this.#onFrame(source.readUInt32LE(at + 4), source, at + headerBytes, end);
      at = end;
    }
    if (at < source.length) this.#hold(source, at, headerBytes);
  }

  #hold(source: Buffer, at: number, neededBytes: number): void {
    this.#held = [source.subarray(at)];
    this.#heldBytes = source.length - at;
    this.#neededBytes = neededBytes;
  }
}
