/**
 * The library's reader, made strict: what decoders of both kinds of types read goes through here.
 *
 * Owns what a scalar becomes and how much a payload may hold. Leaves the format, the limit of 100 levels and skipping
 * unknown fields to the library.
 *
 * Invariants
 * R1 A text is valid UTF-8, in proto2 as well.
 * R2 Bytes are a copy, so that no value refers to the source.
 * R3 A 64-bit integer is a bigint. As the key of a map it so becomes decimal digits, where a Long would become eight
 *    characters that cannot always be told from digits.
 * R4 What a payload makes is counted before it is made: sixteen megabytes of empty messages, or of packed zeros, would
 *    take half a gigabyte.
 */
import { Reader } from 'protobufjs/minimal.js';

/** What a text, byte array, message or list counts for beside its field: about as much more memory does it take. */
const DELIMITED_VALUES = 4;

/** What the library declares to read; its decoders pass on whatever it is. */
type Int64 = ReturnType<Reader['int64']>;

export class StrictReader extends Reader {
  readonly #maxValues: number;
  #valueCount = 0;

  /** For the payload in `source[start, end)`. */
  constructor(source: Uint8Array, start: number, end: number, maxValues: number) {
    super(source);
    this.pos = start;
    this.len = end;
    this.discardUnknown = true;
    this.#maxValues = maxValues;
  }

  /** Comes before every field. */
  override tag(): number {
    this.#count(1);
    return super.tag();
  }

  /** Comes before everything of more than one value. */
  override size(): number {
    this.#count(DELIMITED_VALUES);
    return super.size();
  }

  /** Also the items of a list of enum values. */
  override int32(): number {
    this.#count(1);
    return super.int32();
  }

  override string(): string {
    return this.stringVerify(); // R1
  }

  override raw(start: number, end: number): Uint8Array {
    return new Uint8Array(this.buf.subarray(start, end)); // R2
  }

  override int64(): Int64 {
    return this.#exactly(super.int64());
  }

  override uint64(): Int64 {
    return this.#exactly(super.uint64());
  }

  override sint64(): Int64 {
    return this.#exactly(super.sint64());
  }

  override fixed64(): Int64 {
    return this.#exactly(super.fixed64());
  }

  override sfixed64(): Int64 {
    return this.#exactly(super.sfixed64());
  }

  /** The items of the packed list that comes next, of `itemBytes` each; undefined: each ends with a byte below 0x80. */
  countPacked(itemBytes: number | undefined): void {
    const before = this.pos;
    const sizeBytes = super.size();
    if (itemBytes !== undefined) this.#count(Math.floor(sizeBytes / itemBytes));
    else this.#count(this.#varintCount(Math.min(this.pos + sizeBytes, this.len)));
    this.pos = before;
  }

  #varintCount(end: number): number {
    let count = 0;
    for (let at = this.pos; at < end; at++) if ((this.buf[at] ?? 0) < 0x80) count += 1;
    return count;
  }

  /** R3 */
  #exactly(long: Int64): Int64 {
    this.#count(1);
    return bigintOf(long) as unknown as Int64;
  }

  /** R4 */
  #count(values: number): void {
    this.#valueCount += values;
    if (this.#valueCount > this.#maxValues) throw new RangeError(`it holds more than ${this.#maxValues} values`);
  }
}

/** Lists whose items come from no method above. */
const packedItemBytes = {
  ...{ int32s: undefined, uint32s: undefined, sint32s: undefined, bools: undefined },
  ...{ fixed32s: 4, sfixed32s: 4, floats: 4, doubles: 8 },
};

type ReadList = (this: Reader, list: unknown) => unknown;
const library = Reader.prototype as unknown as Readonly<Record<string, ReadList | undefined>>;
const own = StrictReader.prototype as unknown as Record<string, (this: StrictReader, list: unknown) => unknown>;
for (const [name, itemBytes] of Object.entries(packedItemBytes)) {
  const read = library[name];
  if (read === undefined) continue; // an older library reads such lists item by item
  own[name] = function (this: StrictReader, list) {
    this.countPacked(itemBytes);
    return read.call(this, list);
  };
}

/** The parts are 32-bit integers; the upper one has the sign unless it is `unsigned`. */
export function bigintOf({ low, high, unsigned }: Pick<Int64, 'low' | 'high' | 'unsigned'>): bigint {
  return (BigInt(unsigned ? high >>> 0 : high | 0) << 32n) | BigInt(low >>> 0);
}
