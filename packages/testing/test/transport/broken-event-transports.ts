/**
 * Event transports over memory that are broken in one place each, and the case of the suite that catches each of them.
 *
 * Owns the breakages. Leaves running the cases to suites-catch.test.ts.
 */
import type { EventPublisher, EventTransport, Subscription, SubscriptionSink } from '@zlink/kernel/internal/transport';
import { altered } from '../altered.ts';

export interface BrokenEventTransport {
  readonly what: string;
  /** How the title of the case begins. */
  readonly caughtBy: string;
  readonly alter: (inner: EventTransport) => EventTransport;
  /** Messages that one subscriber may have unread; without it as many as the suite is told. */
  readonly markCount?: number;
}

const publishing =
  (change: (publisher: EventPublisher) => Partial<EventPublisher>) =>
  (inner: EventTransport): EventTransport =>
    altered(inner, {
      bind: async (options) => {
        const publisher = await inner.bind(options);
        return altered(publisher, change(publisher));
      },
    });

const told =
  (change: (sink: SubscriptionSink) => Partial<SubscriptionSink>) =>
  (inner: EventTransport): EventTransport =>
    altered(inner, { subscribe: (options, sink) => inner.subscribe(options, altered(sink, change(sink))) });

const subscribing =
  (change: (subscription: Subscription) => Partial<Subscription>) =>
  (inner: EventTransport): EventTransport =>
    altered(inner, {
      subscribe: (options, sink) => {
        const subscription = inner.subscribe(options, sink);
        return altered(subscription, change(subscription));
      },
    });

export const brokenEventTransports: readonly BrokenEventTransport[] = [
  {
    what: 'loses every 20th message',
    caughtBy: '[FAN-004] everything below the mark reaches every subscriber once',
    alter: publishing((publisher) => {
      let count = 0;
      return { send: (parts) => void (++count % 20 === 0 || publisher.send(parts)) };
    }),
  },
  {
    what: 'sends a message twice',
    caughtBy: '[FAN-004] everything below the mark reaches every subscriber once',
    alter: publishing((publisher) => {
      let count = 0;
      return {
        send: (parts) => {
          if (++count === 7) publisher.send(parts);
          publisher.send(parts);
        },
      };
    }),
  },
  {
    what: 'swaps two messages',
    caughtBy: '[FAN-004] one subscriber of two publishers',
    alter: publishing((publisher) => {
      let held: Uint8Array[] | undefined;
      let count = 0;
      return {
        send: (parts) => {
          if (++count === 9) held = parts;
          else publisher.send(parts);
          if (count === 10 && held !== undefined) publisher.send(held);
        },
      };
    }),
  },
  {
    what: 'joins the parts of a message',
    caughtBy: '[FAN-004] everything below the mark reaches every subscriber once',
    alter: told((sink) => ({ onMessage: (parts) => sink.onMessage([Buffer.concat(parts)]) })),
  },
  {
    what: 'delivers while it is paused',
    caughtBy: '[CORE-016] a pause inside a callback holds',
    alter: subscribing(() => ({ pause: () => undefined })),
  },
  {
    what: 'never reads again after a pause',
    caughtBy: '[CORE-016] a subscription that is paused before it is open',
    alter: subscribing(() => ({ resume: () => undefined })),
  },
  {
    what: 'keeps more than its mark',
    caughtBy: '[CORE-016] [FAN-004] a subscriber that does not read loses whole messages',
    alter: (inner) => inner,
    markCount: 1_000_000,
  },
  {
    what: 'keeps less than its mark',
    caughtBy: '[CORE-016] [FAN-004] a subscriber that does not read loses whole messages',
    alter: (inner) => inner,
    markCount: 60,
  },
  {
    what: 'counts nobody',
    caughtBy: '[FAN-004] subscriptions are counted',
    alter: publishing(() => ({ subscriptions: 0 })),
  },
  {
    what: 'tells of an end twice',
    caughtBy: '[CORE-009] a subscription to nobody ends once',
    alter: told((sink) => ({
      onClosed: (reason) => {
        sink.onClosed(reason);
        sink.onClosed(reason);
      },
    })),
  },
  {
    what: 'never tells of an end',
    caughtBy: '[CORE-009] a subscription to nobody ends once',
    alter: told(() => ({ onClosed: () => undefined })),
  },
  {
    what: 'loses what was sent before it closes',
    caughtBy: '[CORE-011] [FAN-004] what was sent before the publisher closes',
    alter: publishing((publisher) => ({ close: () => publisher.close(0) })),
  },
  {
    what: 'names the place where it is bound, whatever others shall be told',
    caughtBy: '[FAN-001] a publisher says where it is bound',
    alter: (inner) => altered(inner, { bind: ({ bindAddress }) => inner.bind({ bindAddress }) }),
  },
];
