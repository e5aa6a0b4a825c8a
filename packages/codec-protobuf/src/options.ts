/**
 * What an application says about Protocol Buffers.
 *
 * Owns the option names, defaults and ranges, and which type belongs to which packet. Leaves encoding to the codec.
 */
import { ConfigurationError, describeValue, Problems } from '@zlink/kernel/errors';
import { checkInteger, checkOptionNames, isObject } from '@zlink/kernel/internal/options';
import { type DeclaredType, packetContract } from '@zlink/kernel/message';
import { type GeneratedClass, isProtobufType, nameOf, type ProtobufType, sharesLibrary } from './protobuf-type.ts';

/** Where types are found by their names: a `Root` of protobufjs, or a namespace in it. */
export interface ProtobufRoot {
  lookupType(path: string): ProtobufType;
}

/** A packet or class and its type, by name or itself; or a generated class, which is both. */
export type ProtobufEntry = GeneratedClass | readonly [packet: DeclaredType, type: ProtobufType | string];

export interface ProtobufOptions {
  /** What is sent as Protocol Buffers; all else is left to other codecs. @see CODEC-004 */
  readonly types: Iterable<ProtobufEntry>;
  /** Needed where `types` gives names. */
  readonly root?: ProtobufRoot;
  /** What 64-bit integers are decoded to; default `'bigint'`. Both are encoded, and safe integers and Longs, too. */
  readonly int64?: 'bigint' | 'string';
  /** Largest payload, both ways; 1..1,073,741,824 bytes; default 16,777,216, which is also what a host receives at most. */
  readonly maxBytes?: number;
  /**
   * Most values of a payload that is decoded: fields and items of packed lists count for one, 64-bit integers and enum
   * values for two, texts, bytes, messages, lists and entries of maps for five; 1..100,000,000; default 1,000,000.
   */
  readonly maxValues?: number;
}

export interface ResolvedProtobufOptions {
  readonly types: ReadonlyMap<unknown, ProtobufType>;
  readonly int64: 'bigint' | 'string';
  readonly maxBytes: number;
  readonly maxValues: number;
}

const KNOWN = ['types', 'root', 'int64', 'maxBytes', 'maxValues'];
const MAX_BYTES = 1_073_741_824;
const MAX_VALUES = 100_000_000;

/** @throws ConfigurationError with every mistake */
export function resolveProtobufOptions(options: ProtobufOptions): ResolvedProtobufOptions {
  const given: unknown = options;
  if (!isObject(given)) {
    throw new ConfigurationError([`options of protobuf: ${describeValue(given)} is no object`]);
  }
  const problems = new Problems();
  checkOptionNames('options of protobuf', options, KNOWN, problems);
  const { root, int64 = 'bigint', maxBytes = 16_777_216, maxValues = 1_000_000 } = options;
  if (!['bigint', 'string'].includes(int64)) problems.add('int64', int64, "'bigint' or 'string'");
  checkInteger('maxBytes', maxBytes, 1, MAX_BYTES, problems);
  checkInteger('maxValues', maxValues, 1, MAX_VALUES, problems);
  const isRoot = root === undefined || typeof (root as Partial<ProtobufRoot> | null)?.lookupType === 'function';
  if (!isRoot) problems.add('root', root, 'a Root of protobufjs');
  const types = new EntryList(isRoot ? root : undefined, problems).resolve(options.types);
  problems.throwIfAny();
  return Object.freeze({ types, int64, maxBytes, maxValues });
}

class EntryList {
  readonly #root: ProtobufRoot | undefined;
  readonly #problems: Problems;
  readonly #types = new Map<unknown, ProtobufType>();

  constructor(root: ProtobufRoot | undefined, problems: Problems) {
    this.#root = root;
    this.#problems = problems;
  }

  resolve(entries: unknown): ReadonlyMap<unknown, ProtobufType> {
    const isIterable = typeof entries === 'object' && entries !== null && Symbol.iterator in entries;
    if (!isIterable) this.#problems.add('types', entries, 'a list of generated classes and of [packet, type]');
    else for (const entry of entries as Iterable<unknown>) this.#add(entry);
    return this.#types;
  }

  #add(entry: unknown): void {
    const pair: readonly unknown[] = Array.isArray(entry) ? entry : [entry, entry];
    const declaredType = this.#declaredType(pair[0]);
    const type = typeof pair[1] === 'string' ? this.#find(pair[1]) : pair[1];
    if (declaredType === undefined || type === undefined) return;
    if (!isProtobufType(type))
      this.#problems.add('type', type, 'a name, a Type of protobufjs, or a class generated with verify and convert');
    else if (!sharesLibrary(type))
      this.#problems.note(`types: ${nameOf(type)} belongs to another installed copy of protobufjs`);
    else if (this.#types.has(declaredType)) this.#problems.note(`types: ${describeValue(declaredType)} is given twice`);
    else this.#types.set(declaredType, type);
  }

  /** What the codec will be asked about: a descriptor may declare a class in its place. */
  #declaredType(packet: unknown): DeclaredType | undefined {
    try {
      return packetContract(packet as DeclaredType).declaredType; // checked there
    } catch {
      this.#problems.add('types', packet, 'generated classes and pairs that begin with a packet descriptor or a class');
      return undefined;
    }
  }

  #find(name: string): ProtobufType | undefined {
    if (this.#root === undefined) {
      this.#problems.note(`types: ${describeValue(name)} is a name, and there is no root to look it up`);
      return undefined;
    }
    try {
      return this.#root.lookupType(name);
    } catch {
      this.#problems.note(`types: there is no message type ${describeValue(name)} in the root`);
      return undefined;
    }
  }
}
