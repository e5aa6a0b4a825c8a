/**
 * Tells the values whose native JSON form is the faithful one: texts, booleans, finite numbers other than -0, null,
 * undefined, and arrays, plain objects and instances of plain classes made of them.
 *
 * Owns: one cheap walk, which must cost little beside the encoding itself. Leaves to others: everything it says no to.
 */

/** Deepest nesting of arrays and objects that is encoded. */
export const maxJsonDepth = 512;

/**
 * Whether the native encoder writes `value`, nested in `depth` others, as the JSON codec means it. Says no when in
 * doubt; the first no ends the walk, so a cycle costs one way down.
 */
export function isNative(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'undefined':
      return true;
    case 'number':
      return isNativeNumber(value);
    case 'object':
      return value === null || (depth < maxJsonDepth && isNativeObject(value, depth + 1));
    default:
      return false;
  }
}

function isNativeNumber(value: number): boolean {
  // The difference is NaN for every number that is not finite; the native form of -0 is 0.
  return value - value === 0 && (value !== 0 || 1 / value > 0);
}

function isNativeObject(value: object, depth: number): boolean {
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      if (!isNative(value[index], depth)) return false;
    }
    return true;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null && !isDataClass(value)) return false;
  // Inherited keys are looked at, too: that is faster, and can only say no where yes would do.
  for (const key in value) {
    if (!isNative((value as Record<string, unknown>)[key], depth)) return false;
  }
  return true;
}

/** An instance of an application's class, or a plain object of another realm; no built-in with a state of its own. */
function isDataClass(value: object): boolean {
  const isBuiltIn = Object.prototype.toString.call(value) !== '[object Object]';
  return !isBuiltIn && typeof (value as { toJSON?: unknown }).toJSON !== 'function';
}
