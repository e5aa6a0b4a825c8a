/**
 * What hosted services throw while they stop: recorded and told to the application, in nobody's way (HOST-006).
 *
 * Owns the record and the guard around the application's listener. Leaves order and deadlines to the services' stages.
 */
import type { UnhandledListener } from '@zlink/kernel/dispatch';
import type { StopFailureListener } from '@zlink/kernel/lifecycle';
import { errorText, type Logger } from '@zlink/kernel/observe';

export function recordServiceFailures(logger: Logger, onUnhandled: UnhandledListener): StopFailureListener {
  const listenerFailed = (error: unknown): void =>
    logger.error({ eventId: 'zlink.runtime.on_unhandled_failed', error: errorText(error) });
  return (error, where) => {
    logger.warn({ eventId: 'zlink.runtime.hosted_service_failed', where, error: errorText(error) });
    try {
      const result: unknown = onUnhandled(error, { where });
      // The contract says void, but an async listener fits it as well.
      if (result !== undefined) Promise.resolve(result).catch(listenerFailed);
    } catch (thrown) {
      listenerFailed(thrown);
    }
  };
}
