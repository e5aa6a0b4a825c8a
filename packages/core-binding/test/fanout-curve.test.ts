import { curveKeyPair } from 'zeromq';
import { until } from '@zlink/testing';
import type { CurveSecurity, EngineWarning } from '../src/index.ts';
import { closeEngines, engine } from './engines.ts';
import { subscribe, subscribeTo } from './subscription-recorder.ts';

afterEach(closeEngines);

const server = curveKeyPair();
const client = curveKeyPair();
const stranger = curveKeyPair();
const subscribing = { ...client, serverPublicKey: server.publicKey };
const bindAddress = 'tcp://127.0.0.1:0';

test('[SEC-001] a subscriber with an allowed key gets what is published, encrypted', async () => {
  const publishing = engine({ security: { ...server, allowedClientKeys: [client.publicKey] } });
  const refused: string[] = [];
  const publisher = await publishing.bind({ bindAddress, onRefused: (reason) => refused.push(reason) });
  const { recorder } = await subscribeTo(engine({ security: subscribing }), publisher);
  publisher.send([Buffer.from('for friends'), Buffer.alloc(65_536)]);
  await recorder.received(1);
  expect(recorder.messages[0]!.map((part) => part.length)).toEqual([11, 65_536]);
  expect(refused).toEqual([]);
});

interface Refused {
  readonly who: string;
  readonly security?: CurveSecurity;
  /** Which side notices a mismatch first depends on whose bytes are faster. */
  readonly reasons: string[];
  readonly labels: string[];
}

const withoutKey = 'one side is secured and the other is not';
const incomplete = 'the other side did not complete the handshake';

test.each<Refused>([
  {
    who: 'an unknown key',
    security: { ...stranger, serverPublicKey: server.publicKey },
    reasons: ['the other side refused access'],
    labels: ['unknownClientKey'],
  },
  {
    who: 'another publisher in mind',
    security: { ...client, serverPublicKey: stranger.publicKey },
    reasons: [incomplete],
    labels: ['wrongKey'],
  },
  { who: 'no key', reasons: [withoutKey, incomplete], labels: ['securityMismatch', 'handshakeIncomplete'] },
])('[SEC-001] a subscriber with $who gets nothing and is told why', async ({ security, reasons, labels }) => {
  const publishing = engine({ security: { ...server, allowedClientKeys: [client.publicKey] } });
  const refused: string[] = [];
  const publisher = await publishing.bind({ bindAddress, onRefused: (reason) => refused.push(reason) });
  const { recorder } = subscribe(engine(security === undefined ? {} : { security }), publisher.endpoint);
  expect(reasons).toContain(await recorder.end());
  await until(() => refused.length > 0, 'counted');
  expect(refused).toHaveLength(1);
  expect(labels).toContain(refused[0]);
  expect([publisher.subscriptions, recorder.opened, recorder.messages]).toEqual([0, 0, []]);
});

test('[SEC-001] a secured subscriber takes nothing from a publisher without keys', async () => {
  const publisher = await engine().bind({ bindAddress });
  const { recorder } = subscribe(engine({ security: subscribing }), publisher.endpoint);
  expect([withoutKey, incomplete]).toContain(await recorder.end());
  expect([publisher.subscriptions, recorder.opened]).toEqual([0, 0]);
});

test('[SEC-001] a host without a pinned key publishes and does not subscribe', async () => {
  const onlyPublishing = engine({ security: server });
  const publisher = await onlyPublishing.bind({ bindAddress });
  await subscribeTo(engine({ security: subscribing }), publisher);
  const { recorder } = subscribe(onlyPublishing, publisher.endpoint);
  expect(await recorder.end()).toBe('no server key is pinned');
});

test('[SEC-001] an unsecured publisher that others can reach is warned of once', async () => {
  const warnings: EngineWarning[] = [];
  const warn = (warning: EngineWarning): void => void warnings.push(warning);
  await engine({ warn }).bind({ bindAddress });
  await engine({ warn, security: server }).bind({ bindAddress: 'tcp://0.0.0.0:0' });
  expect(warnings).toEqual([]);
  const publisher = await engine({ warn }).bind({ bindAddress: 'tcp://0.0.0.0:0', advertiseHost: '127.0.0.1' });
  expect(warnings).toEqual([expect.objectContaining({ event: 'unsecured bind', address: 'tcp://0.0.0.0:0' })]);
  await subscribeTo(engine(), publisher);
});
