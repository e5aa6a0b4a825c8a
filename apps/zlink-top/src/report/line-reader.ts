/**
 * Lines out of a stream of bytes.
 *
 * Owns what has come of the line that is not complete. Leaves its meaning to the reader.
 *
 * 1. It never holds more than the limit and one chunk.
 * 2. A character that two chunks share is whole again: bytes become text line by line.
 */
const NEWLINE = 0x0a;

export class LineReader {
  readonly #limitBytes: number;
  #chunks: Buffer[] = [];
  #byteCount = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** The lines that `chunk` completes; undefined if one is too long, complete or not. */
  push(chunk: Buffer): readonly string[] | undefined {
    const lines: string[] = [];
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      if (!this.#hold(chunk.subarray(from, end))) return undefined;
      lines.push(Buffer.concat(this.#chunks).toString('utf8')); // 2
      this.#chunks = [];
      this.#byteCount = 0;
      from = end + 1;
    }
    return this.#hold(chunk.subarray(from)) ? lines : undefined;
  }

  #hold(piece: Buffer): boolean {
    this.#byteCount += piece.length;
    if (this.#byteCount > this.#limitBytes) return false; // 1
    if (piece.length > 0) this.#chunks.push(piece);
    return true;
  }
}
