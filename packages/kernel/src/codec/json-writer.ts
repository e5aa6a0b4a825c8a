/**
 * Writes the values whose native JSON form would be missing or wrong.
 *
 * Owns: 64-bit integers, bytes, -0, application classes, and the refusal of what has no faithful form. Leaves to
 * others: everything the native encoder gets right (json-native.ts), which serves inside such values as well.
 *
 * Forms
 *   bigint                       decimal text in quotes
 *   Uint8Array, ArrayBuffer      padded base64 in quotes
 *   -0                           -0
 *   class instance               its own enumerable properties, or what its toJSON returns
 *   undefined, function, symbol  left out of objects, null in arrays, refused as the whole value
 *   NaN, Infinity, Date, Map, Set, RegExp, Promise, Error and the like: refused, never turned into something near
 *
 * Invariants
 * W1 A refusal names the way to the value, its type and a form that can be sent instead, never the value.
 * W2 A value nested deeper than `maxJsonDepth`, or inside itself, is refused.
 */
import { encodeBase64 } from './base64.ts';
import { builtInName, opaqueBuiltIns, pathText } from './encode-refusal.ts';
import { isNative, maxJsonDepth } from './json-native.ts';

/** What to send instead (W1). */
const opaqueTypes: ReadonlyMap<string, string> = new Map([
  ...opaqueBuiltIns,
  ['Date', 'send its toISOString() or getTime()'],
]);

/** Their native toJSON is exactly the conversion that must not happen. */
const typesWithNativeToJson: ReadonlySet<string> = new Set(['Date', 'Uint8Array']);

/** What a value has no JSON form for; its text is complete but for the name of the packet. */
export class JsonRefusal extends Error {}

/** For one value; a writer that has thrown is not used again. */
export class JsonWriter {
  /** Keys from the whole value to the current one. */
  readonly #path: (string | number)[] = [];
  /** Objects the current value is nested in. */
  readonly #ancestors = new Set<object>();

  /** @throws JsonRefusal if the value or something in it has no JSON form; or what the application's own code throws */
  write(value: unknown): string {
    const text = this.#value(value, '');
    if (text === undefined) throw this.#refusal(typeof value, 'send data');
    return text;
  }

  /** Undefined: the value is left out. */
  #value(value: unknown, key: string): string | undefined {
    switch (typeof value) {
      case 'string':
        return quote(value);
      case 'boolean':
        return value ? 'true' : 'false';
      case 'number':
        return this.#number(value);
      case 'bigint':
        return `"${value}"`;
      case 'object':
        return value === null ? 'null' : this.#object(value, key);
      case 'undefined':
      case 'function':
      case 'symbol':
        return undefined;
    }
  }

  #number(value: number): string {
    if (!Number.isFinite(value)) throw this.#refusal(String(value), 'send null or a text');
    return Object.is(value, -0) ? '-0' : String(value);
  }

  #object(value: object, key: string): string | undefined {
    const type = builtInName(value);
    const { toJSON } = value as { toJSON?: unknown };
    if (typeof toJSON !== 'function' || typesWithNativeToJson.has(type)) return this.#content(value, type);
    const replacement: unknown = toJSON.call(value, key);
    if (typeof replacement !== 'object' || replacement === null) return this.#value(replacement, key);
    return this.#content(replacement, builtInName(replacement)); // as natively, a toJSON of its own is not called
  }

  #content(value: object, type: string): string {
    if (type === 'Uint8Array') return `"${encodeBase64(value as Uint8Array)}"`; // a Buffer names itself so, too
    if (type === 'ArrayBuffer') return `"${encodeBase64(new Uint8Array(value as ArrayBuffer))}"`;
    const instead = opaqueTypes.get(type);
    if (instead !== undefined) throw this.#refusal(type, instead);
    if (ArrayBuffer.isView(value)) throw this.#refusal(type, 'send its bytes as a Uint8Array');
    const depth = this.#ancestors.size;
    if (depth > 0 && isNative(value, depth)) return JSON.stringify(value); // the whole value is known not to be
    if (this.#ancestors.has(value)) throw this.#refusal('object inside itself', 'send an id in its place');
    if (depth >= maxJsonDepth) throw this.#refusal(`nested deeper than ${maxJsonDepth}`, 'send a flatter value');
    this.#ancestors.add(value);
    // An object is a record of its own properties.
    const text = Array.isArray(value) ? this.#array(value) : this.#properties(value as Record<string, unknown>);
    this.#ancestors.delete(value);
    return text;
  }

  #array(items: readonly unknown[]): string {
    let text = '';
    for (let index = 0; index < items.length; index++) {
      this.#path.push(index);
      text += (index === 0 ? '' : ',') + (this.#value(items[index], String(index)) ?? 'null');
      this.#path.pop();
    }
    return `[${text}]`;
  }

  #properties(object: Record<string, unknown>): string {
    let text = '';
    for (const key of Object.keys(object)) {
      this.#path.push(key);
      const member = this.#value(object[key], key);
      this.#path.pop();
      if (member !== undefined) text += `${text === '' ? '' : ','}${quote(key)}:${member}`;
    }
    return `{${text}}`;
  }

  #refusal(what: string, instead: string): JsonRefusal {
    return new JsonRefusal(`${pathText(this.#path)} cannot be encoded as JSON: ${what}; ${instead}`); // W1
  }
}

/** What the native encoder escapes: quotation marks, backslashes, control characters and (lone) surrogates. */
// eslint-disable-next-line no-control-regex -- these are the ones to find
const needsEscape = /["\\\u0000-\u001f\ud800-\udfff]/;

/** Most texts need no escape, and finding that out is much cheaper than a native call for each. */
function quote(text: string): string {
  return needsEscape.test(text) ? JSON.stringify(text) : `"${text}"`;
}
