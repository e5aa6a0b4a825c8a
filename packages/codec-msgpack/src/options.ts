/**
 * What an application says about MessagePack.
 *
 * Owns the option names, defaults and ranges. Leaves to the others what a value means.
 */
import { ConfigurationError, describeValue, Problems } from '@zlink/kernel/errors';
import { checkInteger, checkOptionNames, isObject } from '@zlink/kernel/internal/options';
import { type DeclaredType, packetContract } from '@zlink/kernel/message';
import type { MsgpackExtension } from './extension-table.ts';

export interface MsgpackOptions {
  /**
   * Packets and classes that are sent as MessagePack; default: all, also what has no declared type. Whatever the list
   * says, every payload that arrives as MessagePack is decoded.
   *
   * @see CODEC-004
   */
  readonly types?: Iterable<DeclaredType>;
  /** Types of the application's own; default: none. Of several that match a value, the first encodes it. */
  readonly extensions?: Iterable<MsgpackExtension>;
  /** Deepest nesting of arrays and objects, both ways; 1..1,000; default 512. */
  readonly maxDepth?: number;
  /** Largest payload, both ways; 1..1,073,741,824 bytes; default 16,777,216, which is also what a host receives at most. */
  readonly maxBytes?: number;
  /**
   * Most items of arrays and members of objects in one payload, both ways; byte arrays, dates and values of extensions
   * count for four more, as they take more memory; 1..100,000,000; default 1,000,000.
   */
  readonly maxValues?: number;
}

export interface ResolvedMsgpackOptions {
  /** Undefined: all. */
  readonly types: ReadonlySet<unknown> | undefined;
  readonly extensions: readonly MsgpackExtension[];
  readonly maxDepth: number;
  readonly maxBytes: number;
  readonly maxValues: number;
}

const KNOWN = ['types', 'extensions', 'maxDepth', 'maxBytes', 'maxValues'];
const MAX_DEPTH = 1_000; // several frames of the stack each
const MAX_BYTES = 1_073_741_824;
const MAX_VALUES = 100_000_000;
/** What a byte array or the value of an extension counts for, beside being an item or a member. */
export const OBJECT_VALUES = 4;
/** Types below 0 belong to MessagePack itself. */
const MAX_EXTENSION_TYPE = 127;

/** @throws ConfigurationError with every mistake */
export function resolveMsgpackOptions(options: MsgpackOptions): ResolvedMsgpackOptions {
  const given: unknown = options;
  if (!isObject(given)) {
    throw new ConfigurationError([`options of msgpack: ${describeValue(given)} is no object`]);
  }
  const problems = new Problems();
  checkOptionNames('options of msgpack', options, KNOWN, problems);
  const { maxDepth = 512, maxBytes = 16_777_216, maxValues = 1_000_000 } = options;
  checkInteger('maxDepth', maxDepth, 1, MAX_DEPTH, problems);
  checkInteger('maxBytes', maxBytes, 1, MAX_BYTES, problems);
  checkInteger('maxValues', maxValues, 1, MAX_VALUES, problems);
  const types = options.types === undefined ? undefined : declaredTypes(options.types, problems);
  const extensions = checkedExtensions(options.extensions ?? [], problems);
  problems.throwIfAny();
  return Object.freeze({ types, extensions, maxDepth, maxBytes, maxValues });
}

/** What the codec will be asked about: a descriptor may declare a class in its place. */
function declaredTypes(types: Iterable<DeclaredType>, problems: Problems): ReadonlySet<unknown> {
  const asked = new Set<unknown>();
  for (const type of itemsOf('types', types, problems)) {
    try {
      asked.add(packetContract(type as DeclaredType).declaredType); // checked there
    } catch {
      problems.add('types', type, 'packet descriptors and classes');
    }
  }
  return asked;
}

function checkedExtensions(extensions: Iterable<MsgpackExtension>, problems: Problems): MsgpackExtension[] {
  const checked = new Map<number, MsgpackExtension>();
  for (const extension of itemsOf('extensions', extensions, problems)) {
    const { type, matches, encode, decode } = (extension ?? {}) as Partial<Record<keyof MsgpackExtension, unknown>>;
    const isWhole = [matches, encode, decode].every((method) => typeof method === 'function');
    const isType = Number.isInteger(type) && (type as number) >= 0 && (type as number) <= MAX_EXTENSION_TYPE;
    if (!isWhole) problems.add('extensions', extension, 'objects with type, matches, encode and decode');
    else if (!isType) problems.add('type of an extension', type, `0..${MAX_EXTENSION_TYPE}`);
    else if (checked.has(type as number)) problems.note(`extensions: type ${type as number} is given twice`);
    else checked.set(type as number, extension as MsgpackExtension); // as just checked
  }
  return [...checked.values()];
}

function itemsOf(option: string, list: unknown, problems: Problems): unknown[] {
  const isIterable = typeof list === 'object' && list !== null && Symbol.iterator in list;
  if (isIterable) return [...(list as Iterable<unknown>)];
  problems.add(option, list, 'a list');
  return [];
}
