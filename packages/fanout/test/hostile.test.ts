import fc from 'fast-check';
import { loopTurns, until } from '@zlink/testing';
import { EventNames } from '../src/subscriber/event-names.ts';
import {
  CHANNEL,
  publishNumbers,
  startPublisher,
  startSubscriber,
  stateOf,
  statusOf,
  type Subscriber,
} from './arrange.ts';
import { arrangeCluster, type Cluster } from './cluster.ts';
import { type BatchFacts, frameOf, RawPublisher } from './raw-publisher.ts';

/** What a subscriber of a hostile publisher has beside it: a good one, which must not notice anything. */
async function besides(cluster: Cluster): Promise<[RawPublisher, Subscriber, () => Promise<void>]> {
  const raw = await RawPublisher.bind(cluster);
  const good = await startPublisher(cluster, 'good');
  const subscriber = await startSubscriber(cluster, 'subscriber', [raw.endpoint, good.runtime(CHANNEL).endpoint ?? '']);
  await raw.subscribed();
  await good.client.ready(CHANNEL, 1);
  const check = async (): Promise<void> => {
    const before = subscriber.seen.length;
    await publishNumbers(good, 900, 904);
    await until(() => subscriber.seen.length === before + 5, 'the good publisher is heard');
    expect(statusOf(subscriber)[1]).toMatchObject({ state: 'ready', missedEvents: 0 });
  };
  return [raw, subscriber, check];
}

const EVENT = '{"seq":1}';

test.each<[string, readonly Uint8Array[], string]>([
  ['another channel', [frameOf(1, [EVENT], { channel: 'other' })], 'publisher of another fanout channel'],
  ['several parts', [frameOf(1, [EVENT]), frameOf(2, [EVENT])], 'message has 2 parts, not 1'],
  ['no part', [], 'message has 0 parts, not 1'],
  ['an empty part', [new Uint8Array(0)], 'frame does not begin as one of a publisher'],
  ['garbage', [Buffer.from('GET / HTTP/1.1\r\n\r\n')], 'frame does not begin as one of a publisher'],
  ['another version', [withByte(4, 9)], 'version 9 is unknown'],
  ['an unknown form', [withByte(13, 9)], 'form 9 is unknown'],
  ['more events than there are', [withByte(14, 255)], 'cut off'],
  ['fewer events than there are', [withByte(14, 1, [EVENT, EVENT])], 'there are bytes behind the last event'],
  ['no events', [withByte(14, 0)], 'batch has no events'],
  ['a cut frame', [frameOf(1, [EVENT]).subarray(0, -1)], 'payload is cut off'],
])(
  '[FAN-005] a publisher that sends %s is refused and dialled again, and no other notices',
  async (_, parts, fault) => {
    const [raw, subscriber, check] = await besides(arrangeCluster());
    raw.send(...parts);
    await loopTurns(4);
    const [row] = statusOf(subscriber);
    expect(row?.state).toBe('rejected');
    expect(row?.reason).toContain(fault);
    expect(raw.subscriptions).toBe(0);
    expect(subscriber.host.log).toMatchObject([{ eventId: 'zlink.fanout.publisher_refused', reason: row?.reason }]);
    await check();
  },
);

function withByte(at: number, value: number, events: readonly string[] = [EVENT]): Uint8Array {
  const frame = frameOf(1, events);
  frame[at] = value;
  return frame;
}

test('[FAN-005] numbers that go back are those of a stranger; what came before them counts', async () => {
  const [raw, subscriber, check] = await besides(arrangeCluster());
  raw.send(frameOf(10, ['{"seq":10}']));
  raw.send(frameOf(10, ['{"seq":11}']));
  await loopTurns(4);
  expect(statusOf(subscriber)[0]).toMatchObject({ state: 'rejected', reason: 'numbers of events do not rise' });
  expect(subscriber.seen).toEqual([10]);
  await check();
});

test('[FAN-005] a stranger that beacons well is dialled ever more slowly, and taken once it says what it should', async () => {
  const cluster = arrangeCluster();
  const raw = await RawPublisher.bind(cluster);
  const subscriber = await startSubscriber(cluster, 'subscriber', [raw.endpoint]);
  let attempts = 0;
  for (const endAtMs = cluster.clock.nowMs() + 60_000; cluster.clock.nowMs() < endAtMs;) {
    await cluster.clock.advanceAsync(50);
    if (raw.subscriptions === 0) continue;
    attempts++;
    raw.beacon();
    raw.send(frameOf(1, [EVENT], { channel: 'other' }));
    await loopTurns(4);
    expect(stateOf(subscriber)).toBe('rejected');
  }
  expect(attempts).toBeLessThan(30); // without the growing delay, 400
  await cluster.passing(raw.subscribed());
  raw.send(frameOf(1, [EVENT]));
  await loopTurns(4);
  expect(stateOf(subscriber)).toBe('ready');
  expect(subscriber.seen).toEqual([1]);
});

test('[WIRE-003] payloads, packet names and topics of any kind reach nobody who did not ask, and harm nothing', async () => {
  const [raw, subscriber, check] = await besides(arrangeCluster());
  let first = 1;
  const send = (payload: string, facts: BatchFacts = {}): void => raw.send(frameOf(first++, [payload], facts));
  send('{"seq":');
  send(EVENT, { packetName: '__proto__' });
  send(EVENT, { packetName: '' });
  send(EVENT, { contentType: '' });
  send(EVENT, { contentType: 'constructor' });
  await loopTurns(4);
  expect(subscriber.host.counters(CHANNEL)).toMatchObject({ accepted: 5, dropped: { decode_error: 3, no_handler: 2 } });
  expect(stateOf(subscriber)).toBe('ready');
  await check();
});

test('[WIRE-004] names without end fill no memory without end, and names that are known stay so', async () => {
  const cluster = arrangeCluster();
  const raw = await RawPublisher.bind(cluster);
  const subscriber = await startSubscriber(cluster, 'subscriber', [raw.endpoint]);
  await raw.subscribed();
  for (let first = 1; first <= 6_000; first++) {
    raw.send(frameOf(first, [EVENT], { packetName: `unknown ${first}` }));
    if (first % 500 === 0) await loopTurns(4);
  }
  raw.send(frameOf(6_001, [EVENT]));
  await until(() => subscriber.seen.length === 1, 'the event with a handler is handled');
  expect(subscriber.host.counters(CHANNEL)).toMatchObject({ accepted: 6_001, dropped: { no_handler: 6_000 } });
});

test('[WIRE-004] names are looked up once, as many as fit, and any further ones each time', () => {
  let lookups = 0;
  const names = new EventNames(() => {
    lookups++;
    return 1;
  });
  const first = names.get('application/json', 'first');
  expect(names.get('application/json', 'first')).toBe(first);
  expect(names.get('text/plain', 'first')).not.toBe(first);
  for (let count = 2; count < 4_096; count++) names.get('application/json', `name ${count}`);
  expect(lookups).toBe(4_096);
  const further = names.get('application/json', 'further');
  expect(names.get('application/json', 'further')).not.toBe(further);
  expect(names.get('application/json', 'first')).toBe(first);
  expect(lookups).toBe(4_098);
});

test('[WIRE-003] whatever bytes a publisher sends, a subscriber lives on and its host logs no error', async () => {
  const cluster = arrangeCluster();
  const [raw, subscriber, check] = await besides(cluster);
  const part = fc.oneof(
    fc.uint8Array({ maxLength: 80 }),
    fc.tuple(fc.nat(60), fc.nat(255)).map(([at, value]) => withByte(at, value, [EVENT, EVENT])),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(part, { maxLength: 3 }), async (parts) => {
      raw.send(...parts);
      await loopTurns(3);
      if (raw.subscriptions === 0) await cluster.passing(raw.subscribed(), 1_000);
    }),
    { numRuns: 300 },
  );
  expect(subscriber.host.errors).toEqual([]);
  await check();
});
