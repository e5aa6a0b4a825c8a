import { CarriedFlow, type Flow, setFlow } from '@zlink/kernel/observe';
import { setDeadline } from '@zlink/kernel/internal/time';
import { message } from '@zlink/kernel/message';
import { loopTurns } from '@zlink/testing';
import type { LogRecord } from '@zlink/testing/internal';
import { CHANNEL, publish, startPublisher, startSubscriber } from './arrange.ts';
import { arrangeCluster, type Cluster } from './cluster.ts';
import { Alert, News } from './packets.ts';
import type { TestHost, TestHostOptions } from './test-host.ts';

type Level = NonNullable<TestHostOptions['diagnostics']>['level'];

interface Trio {
  readonly publisher: TestHost;
  readonly subscriber: TestHost;
  /** What each of the two handlers of `Alert` was given. */
  readonly seen: (Flow | undefined)[];
}

async function trio(cluster: Cluster, levels: readonly [publisher: Level, subscriber: Level]): Promise<Trio> {
  const seen: (Flow | undefined)[] = [];
  const [ofPublisher, ofSubscriber] = levels.map((level) => ({ diagnostics: level === undefined ? {} : { level } }));
  const publisher = await startPublisher(cluster, 'publisher', { ...(ofPublisher && { host: ofPublisher }) });
  const { host: subscriber } = await startSubscriber(cluster, 'subscriber', [publisher], {
    ...(ofSubscriber && { host: ofSubscriber }),
    handler: () => undefined,
    with: (described) =>
      described
        .channel(CHANNEL)
        .addHandler(Alert, (_, { flow }) => void seen.push(flow))
        .addHandler(Alert, (_, { flow }) => void seen.push(flow)),
  });
  await publisher.client.ready(CHANNEL, 1);
  return { publisher, subscriber, seen };
}

const phasesOf = (records: readonly LogRecord[]): unknown[] =>
  records.map(({ phase, packet_name: name, topic }) => [phase, name, topic]);

test('[TRACE-005] [TRACE-023] a publish is one record, each handler has its own, and nobody is named or counted', async () => {
  const cluster = arrangeCluster();
  const { publisher, subscriber, seen } = await trio(cluster, ['normal', 'normal']);
  await publisher.client.publish(CHANNEL, 'high', Alert({ level: 1 })).submit();
  await loopTurns(8);
  const [sent, ...others] = publisher.records;
  expect(others).toEqual([]);
  expect(sent).toStrictEqual({
    eventId: 'zlink.message_flow',
    timestamp: expect.any(String) as string,
    phase: 'sent',
    surface: 'classic_fanout',
    channel_name: CHANNEL,
    message_kind: 'send',
    packet_name: 'news.alert',
    topic: 'high',
    flow_id: expect.any(String) as string,
    flow_origin: 'application',
  });
  const ofHandler = ['received', 'admitted', 'dispatched', 'completed'].map((phase) => [phase, 'news.alert', 'high']);
  expect(phasesOf(subscriber.records)).toEqual([...ofHandler, ...ofHandler]);
  for (const record of subscriber.records) {
    expect(record).toMatchObject({ surface: 'classic_fanout', message_kind: 'send', flow_id: sent?.['flow_id'] });
    expect(Object.keys(record).filter((name) => /_rid$|endpoint|correlation/.test(name))).toEqual([]);
  }
  expect(seen.map((flow) => flow?.id)).toEqual([sent?.['flow_id'], sent?.['flow_id']]);
});

test('[TRACE-005] beacons and an event that nobody subscribes to make no record at a subscriber', async () => {
  const cluster = arrangeCluster();
  const { publisher, subscriber } = await trio(cluster, ['normal', 'normal']);
  await cluster.clock.advanceAsync(20_000);
  expect([publisher.records, subscriber.records]).toEqual([[], []]);
});

test('[TRACE-005] [TRACE-006] an event without a handler is a dispatch error of its subscriber, and no one else’s', async () => {
  const cluster = arrangeCluster();
  const { publisher, subscriber } = await trio(cluster, ['errors', 'errors']);
  await publish(publisher, message('unknown')({}));
  await loopTurns(8);
  expect(subscriber.log).toMatchObject([
    { reason: 'no_handler', action: 'drop', surface: 'classic_fanout', topic: 'unknown', flow_origin: 'application' },
  ]);
  expect([publisher.records, publisher.log]).toEqual([[], []]);
});

test('[TRACE-022] the handlers of an event without a flow share the one that begins with it', async () => {
  const cluster = arrangeCluster();
  const { publisher, seen } = await trio(cluster, ['off', 'errors']);
  await publish(publisher, Alert({ level: 1 }));
  await publish(publisher, Alert({ level: 2 }));
  await loopTurns(8);
  expect(seen.map((flow) => flow?.origin)).toEqual(['inbound', 'inbound', 'inbound', 'inbound']);
  expect(new Set(seen.map((flow) => flow?.id)).size).toBe(2);
});

test('[TRACE-010] at off an event carries nothing, and its handlers are shown nothing', async () => {
  const cluster = arrangeCluster();
  const { publisher, subscriber, seen } = await trio(cluster, ['normal', 'off']);
  await publish(publisher, Alert({ level: 1 }));
  await loopTurns(8);
  expect(seen).toEqual([undefined, undefined]);
  expect([subscriber.records, subscriber.log]).toEqual([[], []]);
});

test('[TRACE-026] a publish joins the flow that it is given, or that of the handler whose signal it has', async () => {
  const cluster = arrangeCluster();
  const { publisher, seen } = await trio(cluster, ['errors', 'errors']);
  const [given, joined] = [publisher.parts.flow.begin('inbound'), publisher.parts.flow.begin('inbound')];
  const { signal } = new AbortController();
  setDeadline(signal, Infinity);
  setFlow(signal, joined);
  await publisher.client
    .publish(CHANNEL, Alert({ level: 1 }))
    .flow(given)
    .submit();
  await publisher.client.publish(CHANNEL, Alert({ level: 1 })).submit(signal);
  await loopTurns(8);
  expect(seen.map((flow) => flow?.id)).toEqual(expect.arrayContaining([given.id, joined.id]));
  expect(seen.every((flow) => flow instanceof CarriedFlow)).toBe(true);
  const call = publisher.client.publish(CHANNEL, News({ seq: 1 }));
  expect(() => call.flow({} as never)).toThrow('[InvalidOperation] flow: object is not the flow of a context');
  await call.submit();
  expect(() => call.flow(given)).toThrow('[InvalidOperation]');
});

test('[CALL-002] a publish with what is no signal is refused, and nothing of it begins', async () => {
  const cluster = arrangeCluster();
  const { publisher, seen } = await trio(cluster, ['normal', 'errors']);
  for (const signal of [{ aborted: false }, 'x', null]) {
    const refused = publisher.client.publish(CHANNEL, Alert({ level: 1 })).submit(signal as AbortSignal);
    await expect(refused).rejects.toMatchObject({
      kind: 'InvalidOperation',
      message: expect.stringMatching(
        /^\[InvalidOperation\] signal: .+ is not allowed, allowed: an AbortSignal$/,
      ) as string,
    });
  }
  await loopTurns(8);
  expect([seen, publisher.records, publisher.log]).toEqual([[], [], []]);
});

test('[TRACE-006] shutdown: a publish that is refused is a dispatch error here', async () => {
  const cluster = arrangeCluster();
  const { publisher } = await trio(cluster, ['errors', 'errors']);
  publisher.drain();
  await expect(publish(publisher, Alert({ level: 1 }))).rejects.toMatchObject({ kind: 'ShuttingDown' });
  expect(publisher.log).toMatchObject([{ reason: 'shutdown', action: 'drop', surface: 'classic_fanout' }]);
  expect(publisher.records).toMatchObject([{ phase: 'dropped', outcome: 'shutdown', reason: 'shutdown' }]);
});
