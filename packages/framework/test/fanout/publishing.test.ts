import { type Codec, type FilterContext, message } from '@zlink/framework';
import { createZmqEngine } from '@zlink/core-binding';
import { checkBeacon } from '@zlink/kernel/internal/wire';
import { until } from '@zlink/testing';
import { Gate } from '@zlink/testing/internal';
import { makeHost } from '../hosts.ts';
import { LogRecorder } from '../log-recorder.ts';
import { rejection } from '../outcome.ts';
import { endpointOf, Item, NEWS, publish, range, startPair, startPublisher, startSubscriber } from './fanout-hosts.ts';

const RESERVED = Uint8Array.of(0x01, 0x5a, 0x4c, 0x46, 0x31);
const RESERVED_TEXT = '\u0001ZLF1';

test('[FAN-002] the topic is the packet name, or what is given as text or bytes; every subscriber gets every event', async () => {
  const { publisher, subscriber } = await startPair();
  const other = await startSubscriber([publisher]);
  await publisher.fanoutClient.ready(NEWS, 2);
  const { fanoutClient } = publisher;
  await fanoutClient.publish(NEWS, Item({ seq: 1 })).submit();
  await fanoutClient.publish(NEWS, 'sports', Item({ seq: 2 })).submit();
  await fanoutClient.publish(NEWS, new TextEncoder().encode('spørt'), Item({ seq: 3 })).submit();
  await fanoutClient.publish(NEWS, '', Item({ seq: 4 })).submit();
  for (const one of [subscriber, other]) {
    await one.sees(4);
    expect(one.seen).toEqual([
      { seq: 1, topic: 'news.item' },
      { seq: 2, topic: 'sports' },
      { seq: 3, topic: 'spørt' },
      { seq: 4, topic: '' },
    ]);
  }
});

test('[FAN-002] a publish resolves without any subscriber, already when submit returns, and has no answer', async () => {
  const publisher = await startPublisher();
  const submitted = publisher.fanoutClient.publish(NEWS, Item({ seq: 1 })).submit();
  let resolved: unknown = 'pending';
  void submitted.then((value) => (resolved = value));
  await Promise.resolve();
  expect(resolved).toBeUndefined();
});

test.each<[string, string | Uint8Array]>([
  ['bytes', RESERVED],
  ['text', RESERVED_TEXT],
])('[FAN-002] the reserved topic is refused as %s, when the call is made', async (_, topic) => {
  const publisher = await startPublisher();
  expect(() => publisher.fanoutClient.publish(NEWS, topic, Item({ seq: 1 }))).toThrow('[InvalidOperation]');
});

test('[FAN-002] the reserved topic is refused as a packet name, and a topic that is too long is, too', async () => {
  const publisher = await startPublisher();
  expect(() => publisher.fanoutClient.publish(NEWS, message<number>(RESERVED_TEXT)(1))).toThrow('[InvalidOperation]');
  expect(() => publisher.fanoutClient.publish(NEWS, 'x'.repeat(256), Item({ seq: 1 }))).toThrow('[InvalidOperation]');
});

test('[FAN-002] neighbours of the reserved topic are topics as any other', async () => {
  const { publisher, subscriber } = await startPair();
  const neighbours = [
    RESERVED.subarray(0, 4),
    Uint8Array.of(...RESERVED, 0),
    Uint8Array.of(...RESERVED, ...RESERVED),
    ...range(0, 4).flatMap((at) =>
      [-1, 1].map((step) => RESERVED.map((byte, here) => (here === at ? byte + step : byte))),
    ),
  ];
  for (const [seq, topic] of neighbours.entries()) {
    await publisher.fanoutClient.publish(NEWS, topic, Item({ seq })).submit();
  }
  await subscriber.sees(neighbours.length);
  expect(subscriber.seen).toEqual(neighbours.map((topic, seq) => ({ seq, topic: new TextDecoder().decode(topic) })));
  expect(subscriber.publishers).toMatchObject([{ state: 'ready', missedEvents: 0 }]);
});

test('[FAN-003] several handlers of a packet each get their dispatch, and what fails in one touches no other', async () => {
  const Other = message<number>('news.other');
  const third: number[] = [];
  const others: number[] = [];
  const unhandled: unknown[] = [];
  const { publisher, subscriber } = await startPair({
    options: { onUnhandled: (error) => unhandled.push(error) },
    with: (channel) =>
      void channel
        .addHandler(Item, () => {
          throw new Error('second of three');
        })
        .addHandler(Item, ({ seq }) => void third.push(seq))
        .addHandler(Other, (value) => void others.push(value)),
  });
  await publish(publisher, 1, 2);
  await publisher.fanoutClient.publish(NEWS, Other(7)).submit();
  await until(() => subscriber.counters.handled + subscriber.counters.failed === 7, 'all have ended');
  expect({ first: subscriber.numbers, third, others }).toEqual({ first: [1, 2], third: [1, 2], others: [7] });
  expect(unhandled.map(String)).toEqual(['Error: second of three', 'Error: second of three']);
  expect(subscriber.counters).toMatchObject({ accepted: 7, handled: 5, failed: 2 });
});

test('[DISP-006] [DISP-007] filters of the host run around every handler of an event, and are told that it is one', async () => {
  const told: FilterContext[] = [];
  const publisher = await startPublisher();
  const subscriberHost = makeHost();
  const seen: number[] = [];
  subscriberHost.addFilter(async (context, next) => {
    told.push(context);
    await next();
  });
  subscriberHost
    .addFanoutChannel(NEWS)
    .connect(endpointOf(publisher))
    .addHandler(Item, ({ seq }) => void seen.push(seq))
    .addHandler(Item, ({ seq }) => void seen.push(seq * 10));
  await subscriberHost.start();
  await publisher.fanoutClient.ready(NEWS, 1);
  await publisher.fanoutClient.publish(NEWS, 'sports', Item({ seq: 1 })).submit();
  await until(() => seen.length === 2, 'both have run');
  expect(told.map(({ dispatchKind }) => dispatchKind)).toEqual(['fanout', 'fanout']);
  expect(told[0]).not.toHaveProperty('meshName');
  expect(told[0]?.message).toMatchObject({ channelName: NEWS, packetName: 'news.item', topicText: 'sports' });
});

test('[FAN-003] an event that nobody handles, or that cannot be decoded, is counted and logged, and the next one comes', async () => {
  const logger = new LogRecorder();
  const Unknown = message<number>('news.unknown');
  const Unchecked = message<number>('news.checked');
  const { publisher, subscriber } = await startPair({
    options: { logger },
    with: (channel) => void channel.addHandler(message('news.checked', { schema: never }), () => undefined),
  });
  await publisher.fanoutClient.publish(NEWS, Unknown(1)).submit();
  await publisher.fanoutClient.publish(NEWS, Unchecked(1)).submit();
  await publish(publisher, 1, 1);
  await subscriber.sees(1);
  expect(subscriber.counters).toMatchObject({ handled: 1, dropped: { no_handler: 1, decode_error: 1 } });
  const errors = (): unknown[] => logger.of('zlink.dispatch_error').map(({ reason }) => reason);
  await until(() => errors().length === 2, 'both errors are logged');
  expect(errors()).toEqual(['no_handler', 'decode_error']);
});

test('[FAN-006] the events of a turn are one message, encoded once for all subscribers', async () => {
  let encoded = 0;
  const counting: Codec = {
    contentType: 'application/x-counted',
    matches: (type) => type === Item,
    encode: (value) => {
      encoded++;
      return new TextEncoder().encode(JSON.stringify(value));
    },
    decode: (bytes) => JSON.parse(new TextDecoder().decode(bytes)) as unknown,
  };
  const publisher = makeHost();
  publisher.addFanoutChannel(NEWS).enablePublisher();
  publisher.codecs().use({ register: (codecs) => void codecs.add(counting) });
  await publisher.start();
  const messages: Uint8Array[][] = [];
  const engine = createZmqEngine();
  const listening = [1, 2, 3].map((at) =>
    engine.subscribe(
      { address: endpointOf(publisher) },
      {
        onOpen: () => undefined,
        onMessage: (parts) => {
          if (at === 1 && checkBeacon(parts) === 'none') messages.push([...parts]);
        },
        onClosed: () => undefined,
      },
    ),
  );
  try {
    await publisher.fanoutClient.ready(NEWS, listening.length);
    await publish(publisher, 1, 500);
    await until(() => messages.length > 0, 'a message comes');
    await publish(publisher, 501, 501);
    await until(() => messages.length > 1, 'another one comes');
    expect(messages.map((parts) => parts.length)).toEqual([1, 1]);
    const [many = 0, one = 0] = messages.map(([part]) => part?.length ?? 0);
    expect(many).toBeGreaterThan(50 * one);
    expect(encoded).toBe(501);
  } finally {
    await engine.close();
  }
});

test('[FAN-002] an event of megabytes arrives whole, between small ones and in order', async () => {
  const lengths: number[] = [];
  const { publisher, subscriber } = await startPair({ handle: ({ text = '' }) => void lengths.push(text.length) });
  const large = 'x'.repeat(3_000_000);
  await publish(publisher, 1, 1, 'a');
  await publish(publisher, 2, 3, large);
  await publish(publisher, 4, 4, 'b');
  await subscriber.sees(4);
  expect([subscriber.numbers, lengths]).toEqual([range(1, 4), [1, large.length, large.length, 1]]);
  expect(subscriber.publishers).toMatchObject([{ missedEvents: 0, firstEvent: 1 }]);
});

test('[DISP-005] handlers of one publisher start in the order of publishing, and an ended wait of one holds up none', async () => {
  const gate = new Gate();
  const started: number[] = [];
  const { publisher, subscriber } = await startPair({
    handle: ({ seq }) => {
      started.push(seq);
      return seq === 1 ? gate.opened : undefined;
    },
  });
  await publish(publisher, 1, 100);
  await subscriber.sees(99);
  expect(started).toEqual(range(1, 100));
  gate.open();
  await subscriber.sees(100);
});

test('[FAN-005] publishers given by hand are connected and disconnected at run time', async () => {
  const [first, second] = [await startPublisher(), await startPublisher()];
  const subscriber = await startSubscriber([first]);
  const { connections } = subscriber.host.fanoutChannel(NEWS);
  await first.fanoutClient.ready(NEWS, 1);
  connections.connect(endpointOf(second));
  expect(connections.list()).toEqual([endpointOf(first), endpointOf(second)]);
  await second.fanoutClient.ready(NEWS, 1);
  await publish(second, 1, 1);
  await subscriber.sees(1);
  connections.disconnect(endpointOf(first));
  expect(subscriber.publishers.map(({ endpoint }) => endpoint)).toEqual([endpointOf(second)]);
  await publish(first, 2, 2);
  await publish(second, 3, 3);
  await subscriber.sees(2);
  expect(subscriber.numbers).toEqual([1, 3]);
});

test('[CALL-001] a publish is submitted once, and one whose signal is over is not submitted', async () => {
  const { publisher, subscriber } = await startPair();
  const call = publisher.fanoutClient.publish(NEWS, Item({ seq: 1 }));
  await call.submit();
  expect((await rejection(call.submit())).kind).toBe('InvalidOperation');
  const aborted = publisher.fanoutClient.publish(NEWS, Item({ seq: 2 })).submit(AbortSignal.abort('no more'));
  await expect(aborted).rejects.toBe('no more');
  await publish(publisher, 3, 3);
  await subscriber.sees(2);
  expect(subscriber.numbers).toEqual([1, 3]);
});

/** A schema that nothing passes. */
const never = {
  '~standard': { version: 1 as const, vendor: 'test', validate: () => ({ issues: [{ message: 'never' }] }) },
};
