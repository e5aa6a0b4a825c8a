import type { Filter, FanoutContext, FilterContext } from '@zlink/kernel/dispatch';
import { message } from '@zlink/kernel/message';
import { loopTurns } from '@zlink/testing';
import { Gate } from '@zlink/testing/internal';
import { CHANNEL, publish, startPublisher, startSubscriber } from './arrange.ts';
import { arrangeCluster, type Cluster } from './cluster.ts';
import { Alert, News } from './packets.ts';
import type { TestHost, TestHostOptions } from './test-host.ts';

interface Pair {
  readonly publisher: TestHost;
  readonly subscriber: TestHost;
}

/** @param register - the handlers of the subscriber */
async function pair(
  cluster: Cluster,
  register: (channel: ReturnType<TestHost['channel']>) => unknown,
  host: TestHostOptions = {},
): Promise<Pair> {
  const publisher = await startPublisher(cluster, 'publisher');
  const { host: subscriber } = await startSubscriber(cluster, 'subscriber', [publisher], {
    host,
    handler: () => undefined,
    with: (described) => register(described.channel(CHANNEL)),
  });
  await publisher.client.ready(CHANNEL, 1);
  return { publisher, subscriber };
}

test('[FAN-003] the packet name chooses the handlers, whatever the topic is; the context shows both', async () => {
  const contexts: FanoutContext[] = [];
  const { publisher } = await pair(arrangeCluster(), (channel) =>
    channel.addHandler(Alert, ({ level }, context) => void (level === 3 && contexts.push(context))),
  );
  await publisher.client.publish(CHANNEL, 'news.item', Alert({ level: 3 })).submit();
  await loopTurns(8);
  const [context] = contexts;
  expect(contexts).toHaveLength(1);
  expect(context?.channelName).toBe(CHANNEL);
  expect(context?.packetName).toBe('news.alert');
  expect(context?.topicText).toBe('news.item');
  expect(Buffer.from(context?.topic ?? []).toString()).toBe('news.item');
  expect(context?.signal.aborted).toBe(false);
});

test('[DISP-003] a context of an event shows nothing else', async () => {
  const keys: string[] = [];
  const { publisher } = await pair(arrangeCluster(), (channel) =>
    channel.addHandler(Alert, (_, context) => {
      keys.push(...Object.getOwnPropertyNames(Object.getPrototypeOf(context)), ...Object.keys(context));
    }),
  );
  await publish(publisher, Alert({ level: 1 }));
  await loopTurns(8);
  expect(keys.sort()).toEqual(['channelName', 'constructor', 'flow', 'packetName', 'signal', 'topic', 'topicText']);
});

test('[FAN-003] topic bytes that are no text are shown as they are, and each handler has its own', async () => {
  const topics: Uint8Array[] = [];
  const texts: string[] = [];
  const keep = (_: unknown, context: FanoutContext): void => {
    topics.push(context.topic);
    texts.push(context.topicText);
    context.topic.fill(0);
    expect(context.topic).toBe(topics.at(-1));
  };
  const { publisher } = await pair(arrangeCluster(), (channel) =>
    channel.addHandler(Alert, keep).addHandler(Alert, (...args) => keep(...args)),
  );
  for (let i = 0; i < 2; i++)
    await publisher.client.publish(CHANNEL, Uint8Array.of(65, 255), Alert({ level: 1 })).submit();
  await loopTurns(8);
  expect(texts).toEqual(['A\ufffd', 'A\ufffd', 'A\ufffd', 'A\ufffd']);
  expect(new Set(topics).size).toBe(4);
});

test('[FAN-003] several handlers of one packet get a dispatch each: one that throws or waits holds up no other', async () => {
  const gate = new Gate();
  const seen: string[] = [];
  const { publisher, subscriber } = await pair(arrangeCluster(), (channel) =>
    channel
      .addHandler(Alert, async ({ level }) => {
        await gate.opened;
        seen.push(`waited ${level}`);
      })
      .addHandler(Alert, () => {
        throw new Error('broken');
      })
      .addHandler(Alert, ({ level }) => void seen.push(`at once ${level}`)),
  );
  await publish(publisher, Alert({ level: 1 }));
  await publish(publisher, Alert({ level: 2 }));
  await loopTurns(8);
  expect(seen).toEqual(['at once 1', 'at once 2']);
  expect(subscriber.counters(CHANNEL)).toMatchObject({ accepted: 6, handled: 2, failed: 2, running: 2 });
  expect(subscriber.unhandled).toHaveLength(2);
  gate.open();
  await loopTurns(2);
  expect(seen).toEqual(['at once 1', 'at once 2', 'waited 1', 'waited 2']);
  expect(subscriber.counters(CHANNEL)).toMatchObject({ accepted: 6, handled: 4, failed: 2, running: 0 });
});

test('[FAN-003] packets with different numbers of handlers share nothing', async () => {
  const seen: string[] = [];
  const note = (name: string) => (): void => void seen.push(name);
  const One = message('one');
  const { publisher } = await pair(arrangeCluster(), (channel) =>
    channel.addHandler(One, note('one')).addHandler(Alert, note('a')).addHandler(Alert, note('b')),
  );
  await publish(publisher, One({}));
  await publish(publisher, Alert({ level: 1 }));
  await publish(publisher, One({}));
  await loopTurns(8);
  expect(seen.sort()).toEqual(['a', 'b', 'one', 'one']);
});

test('[FAN-003] an event without handler is counted and logged, once, and the next ones are handled', async () => {
  const cluster = arrangeCluster();
  const { publisher, subscriber } = await pair(cluster, () => undefined);
  await publish(publisher, message('unknown')({}));
  await publish(publisher, News({ seq: 1 }));
  await loopTurns(8);
  expect(subscriber.counters(CHANNEL)).toMatchObject({ accepted: 2, handled: 1, dropped: { no_handler: 1 } });
  expect(subscriber.log).toMatchObject([
    { eventId: 'zlink.dispatch_error', reason: 'no_handler', packet_name: 'unknown' },
  ]);
});

test('[CODEC-003] an event in a content type that is unknown here is a recorded error, and is never read as JSON', async () => {
  const cluster = arrangeCluster();
  const text = {
    contentType: 'text/x-own',
    matches: () => true,
    encode: () => Buffer.from('{"seq":1}'),
    decode: () => 0,
  };
  const publisher = await startPublisher(cluster, 'publisher', { host: { codecs: [text] } });
  const subscriber = await startSubscriber(cluster, 'subscriber', [publisher]);
  await publisher.client.ready(CHANNEL, 1);
  await publish(publisher, News({ seq: 1 }));
  await loopTurns(8);
  expect(subscriber.seen).toEqual([]);
  expect(subscriber.host.counters(CHANNEL)).toMatchObject({ accepted: 1, dropped: { decode_error: 1 } });
  expect(subscriber.host.log).toMatchObject([{ reason: 'decode_error' }]);
  expect(subscriber.host.log[0]?.['error']).toContain('text/x-own');
});

test('[DISP-007] filters run around every dispatch of an event, and see what it is', async () => {
  const contexts: FilterContext[] = [];
  const filter: Filter = (context, next) => {
    contexts.push(context);
    return next();
  };
  const seen: string[] = [];
  const { publisher } = await pair(
    arrangeCluster(),
    (channel) => channel.addHandler(Alert, () => void seen.push('a')).addHandler(Alert, () => void seen.push('b')),
    { filters: [filter] },
  );
  await publish(publisher, Alert({ level: 1 }));
  await loopTurns(8);
  expect(seen.sort()).toEqual(['a', 'b']);
  expect(
    contexts.map(({ dispatchKind, meshName, message: { packetName } }) => [dispatchKind, meshName, packetName]),
  ).toEqual([
    ['fanout', undefined, 'news.alert'],
    ['fanout', undefined, 'news.alert'],
  ]);
});

test('[DISP-008] a filter that does not call next ends this one handler, and the others run', async () => {
  let calls = 0;
  const filter: Filter = (_, next) => (++calls === 1 ? undefined : next());
  const seen: string[] = [];
  const { publisher, subscriber } = await pair(
    arrangeCluster(),
    (channel) => channel.addHandler(Alert, () => void seen.push('a')).addHandler(Alert, () => void seen.push('b')),
    { filters: [filter] },
  );
  await publish(publisher, Alert({ level: 1 }));
  await loopTurns(8);
  expect(seen).toEqual(['b']);
  expect(subscriber.counters(CHANNEL)).toMatchObject({ accepted: 2, handled: 1, dropped: { filtered: 1 } });
});

test('[DISP-009] every handler of an event has an instance and a scope of its own, disposed once', async () => {
  const disposed: number[] = [];
  let scopes = 0;
  class Dependency {}
  class Reader {
    static readonly inject = [Dependency];
    handle(): void {}
  }
  class OtherReader extends Reader {}
  const { publisher } = await pair(
    arrangeCluster(),
    (channel) => channel.addHandler(Alert, Reader).addHandler(Alert, OtherReader),
    {
      services: {
        createScope: () => {
          const id = ++scopes;
          return { get: (token) => new token(), dispose: () => void disposed.push(id) };
        },
      },
    },
  );
  await publish(publisher, Alert({ level: 1 }));
  await loopTurns(8);
  expect([scopes, disposed.sort()]).toEqual([2, [1, 2]]);
});

test('[DISP-005] events of one publisher start their handlers in the order of their publishing', async () => {
  const started: number[] = [];
  const { publisher } = await pair(arrangeCluster(), (channel) =>
    channel.addHandler(Alert, async ({ level }) => {
      started.push(level);
      await Promise.resolve();
    }),
  );
  for (let level = 0; level < 2_000; level++) await publish(publisher, Alert({ level }));
  await loopTurns(50);
  expect(started).toEqual([...started.keys()]);
  expect(started).toHaveLength(2_000);
});

test('[DISP-004] a handler that publishes in turn does so while its host drains', async () => {
  const cluster = arrangeCluster();
  const gate = new Gate();
  const host = cluster.host('relay');
  const outcomes: Promise<void>[] = [];
  host.channel(CHANNEL).enablePublisher(7_100).connect('tcp://127.0.0.1:7100');
  host.channel(CHANNEL).addHandler(News, async (_, { signal }) => {
    await gate.opened;
    outcomes.push(host.client.publish(CHANNEL, Alert({ level: 1 })).submit(signal));
    outcomes.push(host.client.publish(CHANNEL, Alert({ level: 1 })).submit());
  });
  await host.start();
  await host.client.ready(CHANNEL, 1);
  await publish(host, News({}));
  await loopTurns(8);
  host.drain();
  gate.open();
  await host.drained();
  const ends = await Promise.allSettled(outcomes);
  expect(ends).toMatchObject([{ status: 'fulfilled' }, { status: 'rejected', reason: { kind: 'ShuttingDown' } }]);
});
