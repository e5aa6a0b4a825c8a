/**
 * Joins the pieces of an event that was too large for one frame.
 *
 * Owns the pieces that have come so far. Leaves what is in the event to the reader.
 *
 * 1. Pieces of one event come one after another. One that does not continue what has come is a loss, not a fault: the rest of
 *    its event is dropped, and the numbering shows it.
 * 2. What is kept is what was received: nothing is allocated for a length that was merely announced (WIRE-003).
 */

export interface Piece {
  readonly generation: bigint;
  readonly sequence: number;
  readonly totalBytes: number;
  readonly offset: number;
  readonly bytes: Uint8Array;
}

export class PieceJoiner {
  #first: Piece | undefined;
  #parts: Uint8Array[] = [];
  #receivedBytes = 0;

  /** Something else has come: the event is lost. */
  drop(): void {
    this.#first = undefined;
    this.#parts = [];
    this.#receivedBytes = 0;
  }

  /** @returns the event, when it is complete */
  add(piece: Piece): Uint8Array | undefined {
    if (piece.offset === 0) {
      this.drop();
      this.#first = piece;
    } else if (!this.#continues(piece)) {
      this.drop(); // 1
      return undefined;
    }
    this.#parts.push(piece.bytes);
    this.#receivedBytes += piece.bytes.length;
    return this.#receivedBytes === piece.totalBytes ? this.#join() : undefined;
  }

  #continues({ generation, sequence, totalBytes, offset }: Piece): boolean {
    const first = this.#first;
    return (
      first !== undefined &&
      first.generation === generation &&
      first.sequence === sequence &&
      first.totalBytes === totalBytes &&
      this.#receivedBytes === offset
    );
  }

  #join(): Uint8Array {
    const event = new Uint8Array(this.#receivedBytes);
    let at = 0;
    for (const part of this.#parts) {
      event.set(part, at);
      at += part.length;
    }
    this.drop();
    return event;
  }
}
