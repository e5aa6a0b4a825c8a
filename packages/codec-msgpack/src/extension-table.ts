/**
 * Values with a MessagePack type of their own: dates, and what the application adds.
 *
 * Owns who encodes a value and who decodes a type. Leaves the framing of extensions to the library (out) and to
 * payload-reader.ts (in).
 *
 * Invariants
 * E1 Only instances of classes are asked about: arrays and plain objects always have their own form.
 * E2 A date is exact to the millisecond, or refused; what another encoder adds below that is cut off.
 */
import { decodeTimestampToTimeSpec, encodeDateToTimeSpec, encodeTimeSpecToTimestamp } from '@msgpack/msgpack';

/** How values of one kind travel as a MessagePack extension type. */
export interface MsgpackExtension<T extends object = object> {
  /** 0..127, the same on both sides. */
  readonly type: number;
  /** Whether `value`, an instance of any class, is of this kind. */
  matches(value: object): boolean;
  /** Its bytes; they are copied before anything else happens. */
  encode(value: T): Uint8Array;
  /** The value again. `bytes` are a copy that belongs to it. What it throws refuses the payload. */
  decode(bytes: Uint8Array): unknown;
}

const TIMESTAMP_TYPE = -1;
const TIMESTAMP_SIZES: readonly number[] = [4, 8, 12];
const NANOSECONDS = 1_000_000_000;
/** A date lies within this many seconds of 1970. */
const MAX_DATE_SECONDS = 8_640_000_000_000;

/** Valid ones, of any realm. An invalid one has no time to send. */
function isDate(value: object): value is Date {
  return Object.prototype.toString.call(value) === '[object Date]' && !Number.isNaN(Number(value));
}

const timestamp: MsgpackExtension<Date> = {
  type: TIMESTAMP_TYPE,
  matches: isDate,
  encode: (date) => encodeTimeSpecToTimestamp(encodeDateToTimeSpec(date)),
  decode: (bytes) => {
    if (!TIMESTAMP_SIZES.includes(bytes.length)) throw new RangeError('timestamp of a wrong size');
    const { sec, nsec } = decodeTimestampToTimeSpec(bytes);
    const isInRange = nsec < NANOSECONDS && sec >= -MAX_DATE_SECONDS && sec <= MAX_DATE_SECONDS;
    const date = new Date(sec * 1_000 + Math.floor(nsec / 1_000_000)); // E2
    if (!isInRange || Number.isNaN(date.getTime())) throw new RangeError('timestamp beyond the range of dates');
    return date;
  },
};

export class ExtensionTable {
  readonly #inOrder: readonly MsgpackExtension[];
  readonly #byType: ReadonlyMap<number, MsgpackExtension>;

  /** Those of the application come first, so that one of them may take over dates. */
  constructor(extensions: readonly MsgpackExtension[]) {
    this.#inOrder = [...extensions, timestamp];
    this.#byType = new Map(this.#inOrder.map((extension) => [extension.type, extension]));
  }

  forValue(value: object): MsgpackExtension | undefined {
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype === Object.prototype || prototype === null || Array.isArray(value)) return undefined; // E1
    return this.#inOrder.find((extension) => extension.matches(value));
  }

  forType(type: number): MsgpackExtension | undefined {
    return this.#byType.get(type);
  }
}
