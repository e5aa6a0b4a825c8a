/**
 * The library's writer, made strict: what encoders of both kinds of types write goes through here.
 *
 * Owns which values a scalar field can hold. Leaves the format to the library, and the shape of messages to value-check.ts.
 *
 * Invariants
 * W1 A value is written as it is, or refused: no integer wrapped or rounded, no text repaired, no float made infinite.
 *    A `float` has the precision that the schema gave it.
 * W2 A refusal names the field by its number, with those of the messages around it, never the value.
 * W3 Every method is given a tag by `uint32` before its value; encoders do nothing else.
 */
import { Writer } from 'protobufjs/minimal.js';
import { bigintOf } from './strict-reader.ts';

/** Returns what the library is given, or undefined for a value that the field cannot hold. */
type ScalarCheck = (value: unknown) => unknown;

const decimal = /^(?:0|-?[1-9]\d{0,19})$/;
const loneSurrogate = /\p{Surrogate}/u;

/** Keys of maps are texts whatever their type. */
function integer(min: number, max: number): ScalarCheck {
  return (value) => {
    const number = typeof value === 'string' && decimal.test(value) ? Number(value) : value;
    if (typeof number !== 'number') return undefined;
    return Number.isInteger(number) && number >= min && number <= max ? number : undefined;
  };
}

function integer64(min: bigint, max: bigint): ScalarCheck {
  return (value) => {
    const exact = exactInteger(value);
    if (exact === undefined || exact < min || exact > max) return undefined;
    return { low: Number(BigInt.asIntN(32, exact)), high: Number(BigInt.asIntN(32, exact >> 32n)) };
  };
}

function exactInteger(value: unknown): bigint | undefined {
  switch (typeof value) {
    case 'bigint':
      return value;
    case 'number':
      return Number.isSafeInteger(value) ? BigInt(value) : undefined;
    case 'string':
      return decimal.test(value) ? BigInt(value) : undefined;
    default:
      return isLong(value) ? bigintOf(value) : undefined;
  }
}

/** By its parts: one of another installed copy of the class is as good. */
function isLong(value: unknown): value is Parameters<typeof bigintOf>[0] {
  if (typeof value !== 'object' || value === null) return false;
  const { low, high } = value as { low?: unknown; high?: unknown };
  return Number.isInteger(low) && Number.isInteger(high);
}

const signed = integer(-(2 ** 31), 2 ** 31 - 1);
const unsigned = integer(0, 2 ** 32 - 1);
const signed64 = integer64(-(2n ** 63n), 2n ** 63n - 1n);
const unsigned64 = integer64(0n, 2n ** 64n - 1n);

const scalarChecks: Readonly<Record<string, ScalarCheck>> = {
  int32: signed,
  sint32: signed,
  sfixed32: signed,
  uint32: unsigned,
  fixed32: unsigned,
  int64: signed64,
  sint64: signed64,
  sfixed64: signed64,
  uint64: unsigned64,
  fixed64: unsigned64,
  bool: (value) => (typeof value === 'boolean' ? value : undefined),
  double: (value) => (typeof value === 'number' ? value : undefined),
  float: (value) => {
    if (typeof value !== 'number') return undefined;
    return Number.isFinite(Math.fround(value)) || !Number.isFinite(value) ? value : undefined;
  },
  string: (value) => (typeof value === 'string' && !loneSurrogate.test(value) ? value : undefined),
  bytes: (value) => (isBytes(value) ? value : undefined),
};

/** Of any realm; a Buffer names itself so, too. */
function isBytes(value: unknown): boolean {
  return Object.prototype.toString.call(value) === '[object Uint8Array]';
}

/** A field that cannot hold what it was given. */
export class FieldRefusal extends Error {}

export class StrictWriter extends Writer {
  /** Field numbers of the messages that are open. */
  readonly #path: number[] = [];
  #tag = 0;

  override fork(): this {
    this.#path.push(this.#tag >>> 3);
    super.fork();
    return this;
  }

  override ldelim(): this {
    this.#path.pop();
    super.ldelim();
    return this;
  }

  /** @throws FieldRefusal */
  checked(scalar: string, check: ScalarCheck, value: unknown): unknown {
    const accepted = check(value);
    if (accepted === undefined) {
      const field = [...this.#path, this.#tag >>> 3].join('.');
      throw new FieldRefusal(`field ${field}: ${shapeOf(value)} does not fit ${scalar}`); // W2
    }
    if (scalar === 'uint32') this.#tag = accepted as number; // W3: either a tag, or a new one follows
    return accepted;
  }
}

type Write = (this: Writer, value: unknown) => Writer;

/** The library has a method for each scalar, and one for several of it that are packed. */
const library = Writer.prototype as unknown as Readonly<Record<string, Write | undefined>>;
const own = StrictWriter.prototype as unknown as Record<string, (this: StrictWriter, value: unknown) => Writer>;
for (const [scalar, check] of Object.entries(scalarChecks)) {
  const [one, many] = [library[scalar], library[`${scalar}s`]];
  if (one === undefined) throw new Error(`protobufjs has no ${scalar}`);
  own[scalar] = function (this: StrictWriter, value) {
    return one.call(this, this.checked(scalar, check, value));
  };
  if (many === undefined) continue; // texts and bytes are not packed
  own[`${scalar}s`] = function (this: StrictWriter, values) {
    const accepted = (values as readonly unknown[]).map((value) => this.checked(scalar, check, value)); // an array, by verify
    return many.call(this, accepted);
  };
}

/** Names the shape only: what is in it is payload. */
function shapeOf(value: unknown): string {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint')
    return `this ${typeof value}`;
  return value === null || typeof value !== 'object' ? typeof value : 'this object';
}
