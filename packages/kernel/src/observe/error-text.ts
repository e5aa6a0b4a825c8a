/**
 * One bounded line about anything that was thrown.
 *
 * Owns what of a thrown value may be shown to people on this side. Leaves to others what a peer may see.
 *
 * 1. Never throws, whatever was thrown: null, a frozen object, a getter that throws, a cycle of causes.
 * 2. At most `limit` characters, no stack, no inside of objects.
 * 3. An error that may quote a message has a text of its own for logs and records (TRACE-004).
 */
import { describeValue } from '../errors/index.ts';
import { recordTextOf } from '../errors/record-text.ts';

const defaultLimit = 256;

// Line ends and control characters could forge or hide a line of a log.
// eslint-disable-next-line no-control-regex -- control characters are what is looked for
const unprintable = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+/g;

export function errorText(thrown: unknown, limit = defaultLimit): string {
  return boundedText(recordTextOf(thrown) ?? readMessage(thrown) ?? `thrown ${describeValue(thrown)}`, limit); // 3
}

/** `text` on one line, cut to `limit` characters; half a surrogate pair is not left behind. */
export function boundedText(text: string, limit: number): string {
  const line = text.slice(0, limit).replace(unprintable, ' ');
  const last = line.charCodeAt(line.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? line.slice(0, -1) : line;
}

function readMessage(thrown: unknown): string | undefined {
  if (typeof thrown !== 'object' || thrown === null) return undefined;
  try {
    const { name, message } = thrown as { readonly name?: unknown; readonly message?: unknown }; // may be any object
    if (typeof message !== 'string' || message === '') return undefined;
    // A ZLinkError's message already begins with its kind.
    if (typeof name !== 'string' || name === '' || name === 'Error' || message.startsWith('[')) return message;
    return `${name}: ${message}`;
  } catch {
    return undefined; // 1: a getter or proxy that throws
  }
}
