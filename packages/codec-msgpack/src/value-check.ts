/**
 * Looks through a value before the library encodes it, since the library would turn some values into something near.
 *
 * Owns which values have a form, and what to send instead of the others. Leaves the bytes to the library.
 *
 * Forms
 *   number                       integer of up to 32 bits, else float 64; with a -0 anywhere, all of them float 64
 *   bigint                       int 64, uint 64
 *   string, boolean, null        as they are
 *   undefined                    left out of objects, null in arrays and as the whole value
 *   Uint8Array, Buffer           bin
 *   Date                         timestamp
 *   array, object, instance      array; map of own enumerable properties
 *   what an extension matches    that extension
 *   all others                   refused
 *
 * Invariants
 * V1 What passes is encoded without a change: no surrogate replaced, no integer wrapped, no Map emptied.
 * V2 A refusal names the way to the value, its type and what to send instead, never the value.
 * V3 The walk ends, also in a value inside itself: at the depth or at the count that is allowed.
 */
import { builtInName, opaqueBuiltIns, pathText } from '@zlink/kernel/codec';
import type { ExtensionTable } from './extension-table.ts';
import { OBJECT_VALUES, type ResolvedMsgpackOptions } from './options.ts';

type Bounds = Pick<ResolvedMsgpackOptions, 'maxDepth' | 'maxValues'>;

/** What to send instead (V2). */
const opaqueTypes: ReadonlyMap<string, string> = new Map([
  ...opaqueBuiltIns,
  ['ArrayBuffer', 'send a Uint8Array'],
  ['Date', 'it is invalid, send null'],
  ...['Map', 'Set'].map((type) => [type, `${opaqueBuiltIns.get(type)}, or add an extension`] as const),
]);

const loneSurrogate = /\p{Surrogate}/u;
const minInteger = -(2n ** 63n);
const maxInteger = 2n ** 64n - 1n;

/** Why a value has no form. The way to it is collected on the way back. */
export class Refusal {
  readonly #what: string;
  readonly #instead: string;
  /** From the value outwards. */
  readonly #keys: (string | number)[] = [];

  constructor(what: string, instead: string) {
    this.#what = what;
    this.#instead = instead;
  }

  within(key: string | number): this {
    this.#keys.push(key);
    return this;
  }

  get text(): string {
    return `${pathText(this.#keys.reverse())} cannot be encoded as MessagePack: ${this.#what}; ${this.#instead}`;
  }
}

/** For one value. */
export class ValueCheck {
  readonly #extensions: ExtensionTable;
  readonly #bounds: Bounds;
  #valueCount = 0;
  #hasNegativeZero = false;

  constructor(extensions: ExtensionTable, bounds: Bounds) {
    this.#extensions = extensions;
    this.#bounds = bounds;
  }

  /** The library writes -0 as the integer 0. */
  get hasNegativeZero(): boolean {
    return this.#hasNegativeZero;
  }

  /** Undefined: the value has a form. */
  refusalOf(value: unknown): Refusal | undefined {
    return this.#check(value, 0);
  }

  #check(value: unknown, depth: number): Refusal | undefined {
    switch (typeof value) {
      case 'string':
        return loneSurrogate.test(value) ? loneSurrogateRefusal() : undefined;
      case 'number':
        if (value === 0 && 1 / value < 0) this.#hasNegativeZero = true;
        return undefined;
      case 'bigint':
        if (value >= minInteger && value <= maxInteger) return undefined;
        return new Refusal('bigint beyond 64 bits', 'send its decimal text');
      case 'object':
        return value === null ? undefined : this.#checkObject(value, depth);
      case 'function':
      case 'symbol':
        return new Refusal(typeof value, 'leave it out');
      case 'boolean':
      case 'undefined':
        return undefined;
    }
  }

  #checkObject(value: object, depth: number): Refusal | undefined {
    if (Array.isArray(value)) return this.#checkArray(value, depth);
    if (this.#extensions.forValue(value) !== undefined) return this.#count(OBJECT_VALUES);
    const type = builtInName(value);
    if (type === 'Uint8Array') return this.#count(OBJECT_VALUES); // a Buffer names itself so, too
    const instead = opaqueTypes.get(type);
    if (instead !== undefined) return new Refusal(type, instead);
    if (ArrayBuffer.isView(value)) return new Refusal(type, 'send its bytes as a Uint8Array, or add an extension');
    return this.#checkMembers(value as Record<string, unknown>, depth); // an object is a record of its own properties
  }

  #checkArray(items: readonly unknown[], depth: number): Refusal | undefined {
    const excess = this.#open(items.length, depth);
    if (excess !== undefined) return excess;
    for (let index = 0; index < items.length; index++) {
      const refusal = this.#check(items[index], depth + 1);
      if (refusal !== undefined) return refusal.within(index);
    }
    return undefined;
  }

  #checkMembers(object: Record<string, unknown>, depth: number): Refusal | undefined {
    const keys = Object.keys(object);
    const excess = this.#open(keys.length, depth);
    if (excess !== undefined) return excess;
    for (const key of keys) {
      const refusal = loneSurrogate.test(key) ? loneSurrogateRefusal() : this.#check(object[key], depth + 1);
      if (refusal !== undefined) return refusal.within(key);
    }
    return undefined;
  }

  /** V3 */
  #open(count: number, depth: number): Refusal | undefined {
    const { maxDepth } = this.#bounds;
    if (depth >= maxDepth) return new Refusal(`nested deeper than ${maxDepth}, or inside itself`, 'send it flatter');
    return this.#count(count);
  }

  #count(values: number): Refusal | undefined {
    const { maxValues } = this.#bounds;
    this.#valueCount += values;
    if (this.#valueCount > maxValues) return new Refusal(`more than ${maxValues} values`, 'send it in parts');
    return undefined;
  }
}

function loneSurrogateRefusal(): Refusal {
  return new Refusal('text with half of a surrogate pair', 'send its bytes');
}
