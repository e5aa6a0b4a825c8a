import { createCurveKeys, type CurveSecurity, type HostOptions } from '@zlink/framework';
import { until } from '@zlink/testing';
import { LogRecorder } from '../log-recorder.ts';
import { problems } from '../outcome.ts';
import { portOf } from '../hosts.ts';
import { tapTo } from '../tcp-tap.ts';
import { endpointOf, NEWS, publish, startPublisher, startSubscriber } from './fanout-hosts.ts';

const publisherKeys = createCurveKeys();
const subscriberKeys = createCurveKeys();
const foreignKeys = createCurveKeys();

const publisherSecurity: CurveSecurity = { ...publisherKeys, allowedClientKeys: [subscriberKeys.publicKey] };
const subscriberSecurity: CurveSecurity = { ...subscriberKeys, serverPublicKey: publisherKeys.publicKey };

const SECRET = 'what nobody else may read';
const LARGE = SECRET.repeat(100_000);

/** What a listener on the wire sees of events, small ones and a large one, that all arrive. */
async function overheard(publishing: HostOptions, subscribing: HostOptions): Promise<string> {
  const publisher = await startPublisher({ options: publishing });
  const tap = await tapTo(portOf(endpointOf(publisher)));
  const subscriber = await startSubscriber([tap.address], { options: subscribing });
  await publisher.fanoutClient.ready(NEWS, 1);
  await publish(publisher, 1, 100, SECRET);
  await publish(publisher, 101, 101, LARGE);
  await subscriber.sees(101);
  expect(subscriber.publishers).toMatchObject([{ state: 'ready', missedEvents: 0 }]);
  expect(tap.seen.length).toBeGreaterThan(LARGE.length);
  return tap.seen;
}

test('[SEC-001] a subscriber with an allowed key gets events of any size, and nobody else can read them', async () => {
  expect(await overheard({}, {})).toContain(SECRET);
  const secured = await overheard({ security: publisherSecurity }, { security: subscriberSecurity });
  expect(secured.includes(SECRET)).toBe(false);
});

test.each<[string, HostOptions]>([
  ['a foreign key', { security: { ...foreignKeys, serverPublicKey: publisherKeys.publicKey } }],
  ['another key of the publisher', { security: { ...subscriberKeys, serverPublicKey: foreignKeys.publicKey } }],
  ['no encryption', {}],
])(
  '[SEC-001] a subscriber with %s gets nothing, is not counted, and both sides say why',
  async (_, options) => {
    const logger = new LogRecorder();
    const publisher = await startPublisher({ options: { security: publisherSecurity, logger } });
    const subscriber = await startSubscriber([publisher], { options });
    const allowed = await startSubscriber([publisher], { options: { security: subscriberSecurity } });
    await publisher.fanoutClient.ready(NEWS, 1);
    await until(() => subscriber.publishers[0]?.reason !== undefined, 'an attempt has failed');
    await publish(publisher, 1, 1);
    await allowed.sees(1);
    expect(subscriber.publishers[0]?.state).not.toBe('ready');
    expect([subscriber.numbers, allowed.numbers]).toEqual([[], [1]]);
    await until(() => logger.of('zlink.transport.connection_refused').length > 0, 'the publisher has noticed');
  },
  120_000,
);

test('[SEC-001] who pins no key of publishers cannot subscribe to any', async () => {
  const found = await problems(startSubscriber(['tcp://127.0.0.1:1'], { options: { security: publisherSecurity } }));
  expect(found).toEqual([
    `fanout channel "${NEWS}" subscriber: security.serverPublicKey is missing, without it no server can be dialled`,
  ]);
});
