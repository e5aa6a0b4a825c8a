/**
 * How a codec words that a value cannot be encoded.
 *
 * Owns the name of what is encoded, the way to a value in it, what kind of built-in a value is, and what to send instead of
 * those whose content is not in their properties. Leaves to each codec which values have a form in it.
 *
 * 1. A refusal shows names, keys and types, never a value.
 * 2. It names the packet that the declared type stands for.
 */
import { describeValue, ZLinkError } from '../errors/index.ts';
import { type DeclaredType, packetContract } from '../message/index.ts';

const pathTextLimit = 200;
const identifier = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

/** Built-ins whose content is not in their properties, by `builtInName`, and what to send instead. */
export const opaqueBuiltIns: ReadonlyMap<string, string> = new Map([
  ...['Boolean', 'Number', 'String', 'BigInt', 'Symbol'].map((type) => [type, 'send the primitive value'] as const),
  ['Error', 'send its name and message'],
  ['Map', 'send Object.fromEntries(map) or [...map]'],
  ['Promise', 'await it first'],
  ['RegExp', 'send its source and flags'],
  ['Set', 'send [...set]'],
  ['SharedArrayBuffer', 'send a Uint8Array'],
  ...['WeakMap', 'WeakRef', 'WeakSet'].map((type) => [type, 'leave it out'] as const),
]);

/** The reply of a request that declares no type of it is just a value. */
export function encodeRefusal(text: string, declaredType: unknown, cause?: unknown): ZLinkError {
  const subject = typeof declaredType === 'function' ? `${declaredPacket(declaredType)}: ` : '';
  return new ZLinkError('InvalidOperation', subject + text, { cause });
}

/** What a message is called whose type was declared as this (2). */
export function declaredPacket(declaredType: unknown): string {
  try {
    return `packet ${describeValue(packetContract(declaredType as DeclaredType).packetName)}`; // checked there
  } catch {
    return describeValue(declaredType); // no descriptor and no class with a name
  }
}

/** `Map` for a map of whatever realm, `Object` for plain objects and most classes of applications. */
export function builtInName(value: object): string {
  return Object.prototype.toString.call(value).slice('[object '.length, -1);
}

/** @param path - keys from the whole value to the one in it */
export function pathText(path: readonly (string | number)[]): string {
  if (path.length === 0) return 'value';
  let text = '';
  for (const key of path) {
    if (typeof key === 'string' && identifier.test(key)) text += text === '' ? key : `.${key}`;
    else text += `[${JSON.stringify(key)}]`;
    if (text.length > pathTextLimit) return `${text.slice(0, pathTextLimit)}…`;
  }
  return text;
}
