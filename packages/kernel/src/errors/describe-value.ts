/**
 * Names a value in an error message.
 *
 * Owns what of a value may be shown. Knows no options: a value that is secret by nature must not be given to it.
 *
 * 1. Never throws, and runs no code of the value: no getter, no toString, no iterator. Traps of a proxy and a
 *    byteLength of its own are the exception.
 * 2. The result is one line of at most `maxLength` characters.
 * 3. The inside of objects, arrays and byte arrays is never shown, nor what a URL carries before its `@`.
 */

const maxLength = 120;
const maxTextLength = 64;

// Line ends, control and direction characters could forge or hide a line of a log; JSON.stringify leaves these alone.
const unprintable = /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

export function describeValue(x: unknown): string {
  try {
    const text = describe(x);
    return text.length <= maxLength ? text : `${text.slice(0, maxLength - 1)}…`;
  } catch {
    return 'an unreadable value'; // a revoked or throwing proxy
  }
}

function describe(x: unknown): string {
  switch (typeof x) {
    case 'string':
      return describeText(x);
    case 'number':
      return Object.is(x, -0) ? '-0' : String(x);
    case 'bigint':
      // Printing takes time that grows with the square of the length.
      return BigInt.asIntN(64, x) === x ? `${x}n` : 'a bigint beyond 64 bits';
    case 'symbol':
      return `symbol ${describeText(x.description ?? '')}`;
    case 'function':
      return `function ${ownName(x)}`.trimEnd();
    case 'object':
      return x === null ? 'null' : describeObject(x);
    case 'boolean':
    case 'undefined':
      return String(x);
  }
}

function describeText(text: string): string {
  if (text.includes('-----BEGIN')) return `PEM text of ${text.length} characters`;
  const shown = withoutUserInfo(text);
  const quoted = quote(shown.slice(0, maxTextLength));
  return shown.length <= maxTextLength ? quoted : `${quoted}… (${text.length} characters)`;
}

/** `redis://user:password@host` becomes `redis://***@host`. */
function withoutUserInfo(text: string): string {
  const start = text.indexOf('://');
  const end = text.lastIndexOf('@'); // a password may contain '@' itself
  return start >= 0 && end > start ? `${text.slice(0, start)}://***${text.slice(end)}` : text;
}

function quote(text: string): string {
  return JSON.stringify(text).replace(unprintable, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function describeObject(x: object): string {
  if (Array.isArray(x)) return `array of ${x.length}`;
  const prototype: unknown = Object.getPrototypeOf(x);
  if (prototype === null) return 'object';
  const constructor = ownValue(prototype as object, 'constructor'); // a prototype that is not null is an object
  const name = typeof constructor === 'function' ? ownName(constructor) : '';
  if (ArrayBuffer.isView(x)) return `${name || 'view'} of ${x.byteLength} bytes`;
  return name === '' || name === 'Object' ? 'object' : `object ${name}`;
}

function ownName(x: object): string {
  const value = ownValue(x, 'name');
  return typeof value === 'string' ? quote(value.slice(0, maxTextLength)).slice(1, -1) : '';
}

function ownValue(x: object, key: string): unknown {
  return Object.getOwnPropertyDescriptor(x, key)?.value; // a getter has no value and is not run (1.)
}
