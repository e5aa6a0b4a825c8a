import { jest } from '@jest/globals';
import type { Codec } from '@zlink/kernel/codec';
import { message, ZLinkMessage } from '@zlink/kernel/message';
import { loopTurns } from '@zlink/testing';
import { rejection, watch } from '@zlink/testing/internal';
import { CHANNEL, endpointOf, publish, publishNumbers, seenAll, startPublisher, startSubscriber } from './arrange.ts';
import { arrangeCluster, type Cluster } from './cluster.ts';
import { Ask, News } from './packets.ts';
import type { TestHost } from './test-host.ts';

const RESERVED = Uint8Array.of(0x01, 0x5a, 0x4c, 0x46, 0x31);
const RESERVED_TEXT = '\u0001ZLF1';

/** Topics as handlers see them, of whatever is published. */
async function topicsAt(cluster: Cluster, publisher: TestHost): Promise<Uint8Array[]> {
  const topics: Uint8Array[] = [];
  await startSubscriber(cluster, 'subscriber', [publisher], { handler: (_, { topic }) => void topics.push(topic) });
  await publisher.client.ready(CHANNEL, 1);
  return topics;
}

test('[FAN-002] a publish resolves once the publisher of this process has accepted it, also without any subscriber', async () => {
  const publisher = await startPublisher(arrangeCluster(), 'publisher');
  const outcome = watch(publish(publisher, News({ seq: 1 })));
  await Promise.resolve();
  expect(outcome).toEqual({ state: 'resolved', value: undefined }); // no hop, no time
});

test('[FAN-002] the topic is the packet name unless one is given, as text or as bytes of any kind', async () => {
  const cluster = arrangeCluster();
  const publisher = await startPublisher(cluster, 'publisher');
  const topics = await topicsAt(cluster, publisher);
  const given = Uint8Array.of(0, 255, 128);
  await publish(publisher, News({}));
  for (const topic of ['kitty', '', 'ü'.repeat(127), given, new Uint8Array(255)]) {
    await publisher.client.publish(CHANNEL, topic, News({})).submit();
  }
  await cluster.clock.advanceAsync(0);
  expect(topics.map((topic) => Buffer.from(topic).toString('latin1'))).toEqual([
    'news.item',
    'kitty',
    '',
    Buffer.from('ü'.repeat(127)).toString('latin1'),
    '\u0000\u00ff\u0080',
    '\u0000'.repeat(255),
  ]);
});

test('[FAN-002] topic bytes that the caller changes after publish are those of the call', async () => {
  const cluster = arrangeCluster();
  const publisher = await startPublisher(cluster, 'publisher');
  const topics = await topicsAt(cluster, publisher);
  const topic = Uint8Array.of(1, 2);
  const call = publisher.client.publish(CHANNEL, topic, News({}));
  topic[0] = 9;
  await call.submit();
  await cluster.clock.advanceAsync(0);
  expect(topics).toEqual([Uint8Array.of(1, 2)]);
});

test.each([
  ['bytes', (host: TestHost) => host.client.publish(CHANNEL, RESERVED, News({}))],
  ['a buffer', (host: TestHost) => host.client.publish(CHANNEL, Buffer.from(RESERVED), News({}))],
  ['text', (host: TestHost) => host.client.publish(CHANNEL, RESERVED_TEXT, News({}))],
  ['packet name', (host: TestHost) => host.client.publish(CHANNEL, message(RESERVED_TEXT)({}))],
])('[FAN-002] the reserved topic is refused as %s', async (_, attempt) => {
  const publisher = await startPublisher(arrangeCluster(), 'publisher');
  expect(() => attempt(publisher)).toThrow('[InvalidOperation] topic: the bytes 01 5A 4C 46 31 are reserved');
});

test('[FAN-002] its neighbours are topics like any other, and so is its packet name under another topic', async () => {
  const cluster = arrangeCluster();
  const publisher = await startPublisher(cluster, 'publisher');
  const topics = await topicsAt(cluster, publisher);
  const neighbours = [RESERVED.subarray(0, 4), Uint8Array.of(...RESERVED, 0), Uint8Array.of(1, 0x5a, 0x4c, 0x46, 0x32)];
  for (const topic of neighbours) await publisher.client.publish(CHANNEL, topic, News({})).submit();
  await publisher.client.publish(CHANNEL, '\u0001ZLF', News({})).submit();
  await publisher.client.publish(CHANNEL, 'other', message(RESERVED_TEXT)({})).submit();
  await cluster.clock.advanceAsync(0);
  expect(topics).toEqual([...neighbours, RESERVED.subarray(0, 4)]);
});

test.each([
  ['undefined', undefined],
  ['a number', 7],
  ['a list', [1, 2]],
  ['256 bytes', new Uint8Array(256)],
  ['256 bytes of text', 'ü'.repeat(128)],
  ['a long text', 'x'.repeat(10_000)],
  ['half a character', '\ud800'],
])('[FAN-002] a topic that is none is refused: %s', async (_, topic) => {
  const publisher = await startPublisher(arrangeCluster(), 'publisher');
  expect(() => publisher.client.publish(CHANNEL, topic as string, News({}))).toThrow('[InvalidOperation] topic: ');
});

test('[MSG-003] an event without packet name, and a request, are refused at the call', async () => {
  const { client } = await startPublisher(arrangeCluster(), 'publisher');
  expect(() => client.publish(CHANNEL, { text: 'x' })).toThrow(
    '[InvalidOperation] an object literal has no packet name',
  );
  expect(() => client.publish(CHANNEL, Ask(1))).toThrow('packet "news.ask" is a request, nobody answers an event');
});

test('[FAN-002] a class instance and a ZLinkMessage are events, too', async () => {
  class Notice {
    static readonly packetName = 'news.item';
    readonly seq: number;
    constructor(seq: number) {
      this.seq = seq;
    }
  }
  const cluster = arrangeCluster();
  const publisher = await startPublisher(cluster, 'publisher');
  const subscriber = await startSubscriber(cluster, 'subscriber', [publisher]);
  await publisher.client.ready(CHANNEL, 1);
  await publish(publisher, new Notice(1));
  await publish(publisher, ZLinkMessage.from({ seq: 2 }, Notice));
  await seenAll(subscriber, 2);
  expect(subscriber.seen).toEqual([1, 2]);
});

test('[FAN-002] a publish call carries no metadata', async () => {
  const publisher = await startPublisher(arrangeCluster(), 'publisher');
  expect(publisher.client.publish(CHANNEL, News({}))).not.toHaveProperty('metadata');
});

test('[CALL-001] a publish call is submitted once', async () => {
  const publisher = await startPublisher(arrangeCluster(), 'publisher');
  const call = publisher.client.publish(CHANNEL, News({}));
  await call.submit();
  expect(await rejection(call.submit())).toMatchObject({ kind: 'InvalidOperation' });
});

test('[CALL-002] a signal that has aborted publishes nothing and gives its reason; one that aborts later changes nothing', async () => {
  const cluster = arrangeCluster();
  const publisher = await startPublisher(cluster, 'publisher');
  const subscriber = await startSubscriber(cluster, 'subscriber', [publisher]);
  await publisher.client.ready(CHANNEL, 1);
  const reason = new Error('not today');
  await expect(publisher.client.publish(CHANNEL, News({ seq: 1 })).submit(AbortSignal.abort(reason))).rejects.toBe(
    reason,
  );
  const later = new AbortController();
  await publisher.client.publish(CHANNEL, News({ seq: 2 })).submit(later.signal);
  later.abort();
  await seenAll(subscriber, 1);
  expect(subscriber.seen).toEqual([2]);
});

test('[CALL-005] where there is no publisher, the submission says why', async () => {
  const cluster = arrangeCluster();
  const publisher = cluster.host('publisher');
  publisher.channel(CHANNEL).enablePublisher();
  expect(await rejection(publish(publisher, News({})))).toMatchObject({ kind: 'InvalidOperation' }); // not started
  expect(await rejection(publisher.client.ready(CHANNEL, 0))).toMatchObject({ kind: 'InvalidOperation' });
  await publisher.start();
  const { host: subscriber } = await startSubscriber(cluster, 'subscriber', [publisher]);
  expect(await rejection(publish(subscriber, News({})))).toMatchObject({ kind: 'NotConfigured' });
  expect(await rejection(subscriber.client.ready(CHANNEL, 0))).toMatchObject({ kind: 'NotConfigured' });
  expect(await rejection(publisher.client.publish('other', News({})).submit())).toMatchObject({ kind: 'NotFound' });
  expect(await rejection(publisher.client.ready('other', 0))).toMatchObject({ kind: 'NotFound' });
});

test('[FAN-002] what cannot be encoded is refused and leaves nothing of itself in the batch', async () => {
  const cluster = arrangeCluster();
  const publisher = await startPublisher(cluster, 'publisher');
  const subscriber = await startSubscriber(cluster, 'subscriber', [publisher]);
  await publisher.client.ready(CHANNEL, 1);
  const circular: Record<string, unknown> = {};
  circular['self'] = circular;
  await publish(publisher, News({ seq: 1 }));
  expect(await rejection(publish(publisher, News(circular)))).toMatchObject({ kind: 'InvalidOperation' });
  await publish(publisher, News({ seq: 2 }));
  await seenAll(subscriber, 2);
  expect(subscriber.seen).toEqual([1, 2]);
});

test('[FAN-002] a codec that publishes while it encodes is refused', async () => {
  const cluster = arrangeCluster();
  const publisher = await startPublisher(cluster, 'publisher');
  const inner: Promise<void>[] = [];
  const value = {
    toJSON: () => {
      inner.push(publish(publisher, News({ seq: 1 })));
      return { seq: 2 };
    },
  };
  const subscriber = await startSubscriber(cluster, 'subscriber', [publisher]);
  await publisher.client.ready(CHANNEL, 1);
  await publish(publisher, message('news.item')(value));
  expect(await rejection(inner[0] as Promise<void>)).toMatchObject({ kind: 'InvalidOperation' });
  await seenAll(subscriber, 1);
  expect(subscriber.seen).toEqual([2]);
});

test('[FAN-002] an event of 16 MiB arrives, one byte more is refused', async () => {
  const cluster = arrangeCluster();
  const bytes: Codec = {
    contentType: 'application/octet-stream',
    matches: (type) => type === Uint8Array,
    encode: (value) => value as Uint8Array,
    decode: (payload) => payload.length,
  };
  const publisher = await startPublisher(cluster, 'publisher', { host: { codecs: [bytes] } });
  const Blob = message<Uint8Array>('news.item', { declaredType: Uint8Array });
  const sizes: unknown[] = [];
  await startSubscriber(cluster, 'subscriber', [publisher], {
    host: { codecs: [bytes] },
    handler: (size) => void sizes.push(size),
  });
  await publisher.client.ready(CHANNEL, 1);
  expect(await rejection(publish(publisher, Blob(new Uint8Array(16_777_217))))).toMatchObject({
    kind: 'InvalidOperation',
  });
  await publish(publisher, Blob(new Uint8Array(16_777_216)));
  await loopTurns(8);
  expect(sizes).toEqual([16_777_216]);
});

test('[FAN-006] events of one turn leave in one message, and an event is encoded once for all subscribers', async () => {
  const cluster = arrangeCluster();
  const publisher = await startPublisher(cluster, 'publisher');
  const subscribers = [];
  for (const name of ['a', 'b', 'c']) subscribers.push(await startSubscriber(cluster, name, [publisher]));
  const messages: number[] = [];
  const subscription = cluster.hosts[1]?.parts.events.subscribe(
    { address: endpointOf(publisher) },
    { onOpen: () => undefined, onMessage: (parts) => void messages.push(parts.length), onClosed: () => undefined },
  );
  await publisher.client.ready(CHANNEL, 4);
  const toJSON = jest.fn(() => ({ seq: 0 }));
  await publish(publisher, message('news.item')({ toJSON }));
  await publishNumbers(publisher, 1, 999);
  for (const subscriber of subscribers) await seenAll(subscriber, 1_000);
  expect(messages).toEqual([1]);
  expect(toJSON).toHaveBeenCalledTimes(1);
  await subscription?.close();
});

test('[FAN-006] a turn of more than a frame leaves in few frames, without waiting for its end', async () => {
  const cluster = arrangeCluster();
  const publisher = await startPublisher(cluster, 'publisher', { host: { markCount: 90 } });
  const subscriber = await startSubscriber(cluster, 'subscriber', [publisher]);
  await publisher.client.ready(CHANNEL, 1);
  const text = 'x'.repeat(1_000);
  for (let seq = 1; seq <= 5_000; seq++) await publish(publisher, News({ seq, text })); // about 79 frames
  await seenAll(subscriber, 5_000);
  expect(subscriber.seen).toHaveLength(5_000);
});

test('[FAN-002] ready waits for so many subscribers, ends with the signal, with the host, and knows wrong numbers', async () => {
  const cluster = arrangeCluster();
  const publisher = await startPublisher(cluster, 'publisher');
  await publisher.client.ready(CHANNEL, 0);
  const two = watch(publisher.client.ready(CHANNEL, 2));
  await startSubscriber(cluster, 'a', [publisher]);
  await publisher.client.ready(CHANNEL, 1);
  expect(two.state).toBe('pending');
  const gone = await startSubscriber(cluster, 'b', [publisher]);
  await publisher.client.ready(CHANNEL, 2);
  expect(two.state).toBe('resolved');
  await gone.host.close();
  await loopTurns(8);
  const again = watch(publisher.client.ready(CHANNEL, 2));
  const signal = new AbortController();
  const aborted = publisher.client.ready(CHANNEL, 2, signal.signal);
  signal.abort('enough');
  await expect(aborted).rejects.toBe('enough');
  for (const wrong of [-1, 1.5, NaN]) {
    expect(await rejection(publisher.client.ready(CHANNEL, wrong))).toMatchObject({ kind: 'InvalidOperation' });
  }
  publisher.drain();
  await loopTurns(1);
  expect(again).toMatchObject({ state: 'rejected', value: { kind: 'ShuttingDown' } });
  expect(await rejection(publisher.client.ready(CHANNEL, 0))).toMatchObject({ kind: 'ShuttingDown' });
});
