/**
 * The form that values of records have in the store: JSON objects with `"v":1`.
 *
 * Owns the encoding of a record and of the kinds of its fields. Leaves which fields there are to each record's file.
 *
 * 1. What this version does not know it keeps: unknown fields come back from a record, at every depth, and are written
 *    with it again.
 * 2. A record of a larger `v`, or one that is not what it should be, is `InternalFailure`; nothing is guessed.
 * 3. An integer of more than 53 bits is a decimal string: JSON numbers would round it.
 * 4. Errors name the record and the field, and show no value.
 */
import { ZLinkError } from '../../errors/index.ts';
import { isName, parseEndpoint } from '../../identity/index.ts';
import { decodeUtf8, encodeUtf8 } from '../../message/text.ts';

type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonFields;
export interface JsonFields {
  readonly [name: string]: JsonValue;
}

/** How one kind of field is written and read. `at` names the field in errors. */
export interface Field<T> {
  readonly write: (value: T) => JsonValue;
  readonly read: (json: JsonValue, at: string) => T;
}

/** A field that a record may be without. */
export interface OptionalField<T> extends Field<T> {
  readonly isOptional: true;
}

type ValueOf<F> = F extends Field<infer T> ? T : never;
type OptionalNames<F> = { [K in keyof F]: F[K] extends { readonly isOptional: true } ? K : never }[keyof F];

/** A record, or a part of one, with these fields. */
export type RecordOf<F> = { readonly [K in Exclude<keyof F, OptionalNames<F>>]: ValueOf<F[K]> } & {
  readonly [K in OptionalNames<F>]?: ValueOf<F[K]>;
} & {
  /** What another version of ZLink wrote and this one does not know. */
  readonly otherFields?: JsonFields;
};

export interface RecordCodec<T> {
  readonly encode: (record: T) => Uint8Array;
  /** @throws ZLinkError `InternalFailure` if the bytes are no record of this kind and version */
  readonly decode: (value: Uint8Array) => T;
}

const formatVersion = 1;
const decimal = /^(?:0|[1-9][0-9]{0,19})$/;

/** @param what - names the record in errors */
export function recordCodec<F extends object>(what: string, fields: F): RecordCodec<RecordOf<F>> {
  const record = part(fields);
  return {
    encode: (value) => encodeUtf8(JSON.stringify({ v: formatVersion, ...(record.write(value) as JsonFields) })),
    decode: (value) => {
      const { v, ...rest } = parseObject(value, what);
      if (!Number.isSafeInteger(v) || (v as number) < 1) throw unreadable(what, 'it has no format version');
      if ((v as number) > formatVersion)
        throw unreadable(what, `its format is ${v as number}, this version reads up to ${formatVersion}`);
      return record.read(rest, what);
    },
  };
}

/** An object inside a record. */
export function part<F extends object>(fields: F): Field<RecordOf<F>> {
  // `F` is an object of fields: only so does RecordOf<F> have values that a caller can pass.
  const known = Object.entries(fields as unknown as Readonly<Record<string, Field<unknown> & { isOptional?: true }>>);
  const names = new Set(known.map(([name]) => name));
  return {
    write: (value) => {
      const values = value as Readonly<Record<string, unknown>>; // by the names of `fields`
      const written = known.flatMap(([name, field]) =>
        values[name] === undefined ? [] : [[name, field.write(values[name])] as const],
      );
      return { ...value.otherFields, ...Object.fromEntries(written) }; // 1: spreading also keeps a field `__proto__`
    },
    read: (json, at) => {
      if (!isFields(json)) throw wrong(at, 'an object');
      const found: Record<string, unknown> = {};
      for (const [name, field] of known) {
        const own = Object.hasOwn(json, name) ? json[name] : undefined;
        if (own !== undefined) found[name] = field.read(own, `${at}.${name}`);
        else if (field.isOptional !== true) throw wrong(`${at}.${name}`, 'there');
      }
      const others = Object.entries(json).filter(([name]) => !names.has(name));
      if (others.length > 0) found['otherFields'] = Object.fromEntries(others);
      return found as RecordOf<F>; // every field was read by its own kind
    },
  };
}

export function optional<T>(field: Field<T>): OptionalField<T> {
  return { ...field, isOptional: true };
}

export function listOf<T>(field: Field<T>): Field<readonly T[]> {
  return {
    write: (values) => values.map((value) => field.write(value)),
    read: (json, at) => {
      if (!Array.isArray(json)) throw wrong(at, 'a list');
      return json.map((item: JsonValue, index) => field.read(item, `${at}[${index}]`));
    },
  };
}

export function oneOf<const T extends string>(...values: readonly T[]): Field<T> {
  return {
    write: (value) => value,
    read: (json, at) => values.find((value) => value === json) ?? fail(at, values.join(', ')),
  };
}

/** From 0. @param max - within 53 bits */
export function integer(max: number): Field<number> {
  return {
    write: (value) => value,
    read: (json, at) =>
      Number.isSafeInteger(json) && (json as number) >= 0 && (json as number) <= max
        ? (json as number) // a safe integer is a number
        : fail(at, `0..${max}`),
  };
}

/** From 1. @param max - at most 2^64-1 */
export function bigInteger(max: bigint): Field<bigint> {
  return {
    write: (value) => value.toString(), // 3
    read: (json, at) => {
      const value = typeof json === 'string' && decimal.test(json) ? BigInt(json) : undefined;
      return value !== undefined && value >= 1n && value <= max ? value : fail(at, `a decimal string, 1..${max}`);
    },
  };
}

export const flag: Field<boolean> = {
  write: (value) => value,
  read: (json, at) => (typeof json === 'boolean' ? json : fail(at, 'true or false')),
};

export const text: Field<string> = textField((value) => value !== '', 'a text');
export const name: Field<string> = textField(isName, 'a name');
export const endpoint: Field<string> = textField((value) => parseEndpoint(value) !== undefined, 'an endpoint');

function textField(accepts: (value: string) => boolean, expected: string): Field<string> {
  return {
    write: (value) => value,
    read: (json, at) => (typeof json === 'string' && accepts(json) ? json : fail(at, expected)),
  };
}

function parseObject(value: Uint8Array, what: string): JsonFields {
  const json = decodeUtf8(value, 0, value.byteLength);
  let parsed: unknown;
  try {
    parsed = json === undefined ? undefined : JSON.parse(json);
  } catch (cause) {
    throw unreadable(what, 'it is no JSON', cause);
  }
  if (!isFields(parsed)) throw unreadable(what, 'it is no JSON object');
  return parsed;
}

function isFields(json: unknown): json is JsonFields {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}

function fail(at: string, expected: string): never {
  throw wrong(at, expected);
}

function wrong(at: string, expected: string): ZLinkError {
  return new ZLinkError('InternalFailure', `${at} is not ${expected}`);
}

function unreadable(what: string, why: string, cause?: unknown): ZLinkError {
  return new ZLinkError('InternalFailure', `${what} cannot be read: ${why}`, { cause });
}
