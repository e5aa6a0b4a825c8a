/**
 * What logs say of an error whose own text may quote a message (TRACE-004).
 *
 * 1. Kept beside the error, not in it: who catches it reads its whole text.
 */
const recordTexts = new WeakMap<object, string>();

export function setRecordText(error: object, text: string): void {
  recordTexts.set(error, text);
}

/** Undefined: its own text will do. */
export function recordTextOf(thrown: unknown): string | undefined {
  return typeof thrown === 'object' && thrown !== null ? recordTexts.get(thrown) : undefined;
}
