/**
 * What becomes of errors that no caller gets to see while the application has no `onUnhandled`: a log record with a stack.
 *
 * Owns that record. The records of messages have no stack (TRACE-004), and this is the only place that shows one.
 *
 * 1. One record per second and place; the others are counted.
 * 2. A stack is bounded, and names places in code only: its first lines repeat the message.
 */
import { boundedText, errorText } from './error-text.ts';
import type { RateLimitedLog } from './rate-limited-log.ts';
import type { UnhandledListener } from './unhandled.ts';

const FRAMES_SHOWN = 10;
const FRAME_LIMIT = 256;

export function logUnhandled(log: RateLimitedLog): UnhandledListener {
  return (error, { where }) =>
    log.error(`unhandled ${where}`, {
      // 1
      eventId: 'zlink.runtime.unhandled_error',
      where,
      error: errorText(error),
      stack: framesOf(error),
    });
}

function framesOf(error: unknown): readonly string[] {
  const stack = readStack(error);
  if (typeof stack !== 'string') return [];
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line)); // 2
  return frames.slice(0, FRAMES_SHOWN).map((frame) => boundedText(frame.trim(), FRAME_LIMIT));
}

function readStack(error: unknown): unknown {
  if (typeof error !== 'object' || error === null) return undefined;
  try {
    return (error as { readonly stack?: unknown }).stack; // any object may be asked for any property
  } catch {
    return undefined; // a getter or proxy that throws
  }
}
