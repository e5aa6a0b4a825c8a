/**
 * What the application is told about errors that no caller gets to see.
 *
 * Owns the listener's type and the guard around it. Leaves which errors those are to whoever runs the application's code.
 *
 * 1. A guarded listener never throws and leaves no rejected promise, whatever the application's one does.
 * 2. That it failed is logged, at most once per second.
 */
import { errorText } from './error-text.ts';
import type { RateLimitedLog } from './rate-limited-log.ts';

/** Told every error that an application's code threw and no caller got as a typed answer. */
export type UnhandledListener = (error: unknown, context: { readonly where: string }) => void;

/** The same listener, but what it throws or rejects with ends in the log (1). */
export function guardUnhandled(listener: UnhandledListener, log: RateLimitedLog): UnhandledListener {
  const failed = (thrown: unknown, where: string): void =>
    log.error('onUnhandled', { eventId: 'zlink.runtime.on_unhandled_failed', where, error: errorText(thrown) }); // 2
  return (error, context) => {
    try {
      const result: unknown = listener(error, context);
      // The contract says void, but an async listener fits it as well.
      if (result !== undefined) Promise.resolve(result).catch((thrown: unknown) => failed(thrown, context.where));
    } catch (thrown) {
      failed(thrown, context.where);
    }
  };
}
