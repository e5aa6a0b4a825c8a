/**
 * A message type, as protobufjs makes it in either of its ways: reflected from a schema, or generated as a class.
 *
 * Owns what both have in common, and what may be told about one. Leaves calling them to the codec.
 */
import type { Type } from '@zlink/kernel/message';
import { StrictReader } from './strict-reader.ts';

/** A `Type` of a schema that protobufjs has loaded, or a class from its static module generator. */
export interface ProtobufType {
  /* eslint-disable @typescript-eslint/no-explicit-any -- generated signatures name types of their own */
  encode(message: any, writer?: any): unknown;
  decode(reader: any, length?: number): any;
  verify(message: any): string | null;
  toObject(message: any, options?: any): any;
  /* eslint-enable @typescript-eslint/no-explicit-any */
}

/** A class from the static module generator; its instances may be sent as they are. */
export type GeneratedClass = Type<unknown> & ProtobufType;

export function isProtobufType(value: unknown): value is ProtobufType {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  const { encode, decode, verify, toObject } = value as Partial<Record<keyof ProtobufType, unknown>>;
  return [encode, decode, verify, toObject].every((method) => typeof method === 'function');
}

/** `shop.Charge`; a generated class without its full name gives its own. */
export function nameOf(type: ProtobufType): string {
  const { fullName, getTypeUrl, name } = type as { fullName?: unknown; getTypeUrl?: unknown; name?: unknown };
  if (typeof fullName === 'string') return fullName.replace(/^\./, '');
  const url: unknown = typeof getTypeUrl === 'function' ? getTypeUrl.call(type, '') : undefined;
  return typeof url === 'string' ? url.slice(url.lastIndexOf('/') + 1) : String(name);
}

/** Whether the type takes our reader for one of its own; one of another installed copy of protobufjs does not. */
export function sharesLibrary(type: ProtobufType): boolean {
  try {
    type.decode(new StrictReader(new Uint8Array(), 0, 0, 1));
  } catch (error) {
    return !(error instanceof Error && error.message === 'illegal buffer'); // a required field may be missing
  }
  return true;
}
