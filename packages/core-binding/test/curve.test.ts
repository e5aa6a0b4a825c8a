import { curveKeyPair } from 'zeromq';
import { until } from '@zlink/testing';
import { createZmqEngine, type CurveSecurity } from '../src/index.ts';
import { closeEngines, engine } from './engines.ts';
import { bytesOf, dial, dialAndGreet, listen } from './pipe-recorder.ts';

afterEach(closeEngines);

const server = curveKeyPair();
const client = curveKeyPair();
const stranger = curveKeyPair();
const dialing = { ...client, serverPublicKey: server.publicKey };

test('[SEC-001] a client with an allowed key gets through', async () => {
  const listener = await listen(engine({ security: { ...server, allowedClientKeys: [client.publicKey] } }));
  const { recorder } = await dialAndGreet(engine({ security: dialing }), listener);
  listener.pipes[0]!.send([bytesOf('welcome')]);
  await recorder.received(1);
  expect(listener.refused).toEqual([]);
});

test('[SEC-001] a secured engine that dials stays a server for who dials it', async () => {
  const keys = { ...server, serverPublicKey: server.publicKey };
  const node = engine({ security: keys });
  const [one, other] = [await listen(node), await listen(engine({ security: keys }))];
  await dialAndGreet(node, other);
  await dialAndGreet(engine({ security: dialing }), one);
  expect(one.refused).toEqual([]);
});

const withoutKey = 'one side is secured and the other is not';
const incomplete = 'the other side did not complete the handshake';

interface Refused {
  readonly who: string;
  readonly security?: CurveSecurity;
  /** What the dialling side may be told. Which side notices a mismatch first depends on whose bytes are faster. */
  readonly reasons: string[];
  readonly labels: string[];
}

test.each<Refused>([
  {
    who: 'an unknown key',
    security: { ...stranger, serverPublicKey: server.publicKey },
    reasons: ['the other side refused access'],
    labels: ['unknownClientKey'],
  },
  {
    who: 'another server in mind',
    security: { ...client, serverPublicKey: stranger.publicKey },
    reasons: [incomplete],
    labels: ['wrongKey'],
  },
  {
    who: 'no key',
    reasons: [withoutKey, incomplete],
    labels: ['securityMismatch', 'handshakeIncomplete'],
  },
])('[SEC-001] a client with $who is refused and told why', async ({ security, reasons, labels }) => {
  const listener = await listen(engine({ security: { ...server, allowedClientKeys: [client.publicKey] } }));
  const { recorder } = dial(engine(security === undefined ? {} : { security }), listener.address);
  expect(reasons).toContain(await recorder.end());
  await until(() => listener.refused.length > 0, 'counted');
  expect(listener.refused).toHaveLength(1);
  expect(labels).toContain(listener.refused[0]);
  expect(listener.recorders).toEqual([]);
});

test('[SEC-001] a secured client does not talk to an unsecured listener', async () => {
  const listener = await listen(engine());
  const { recorder } = dial(engine({ security: dialing }), listener.address);
  expect([withoutKey, incomplete]).toContain(await recorder.end());
});

test.each<[string, (key: string) => boolean | Promise<boolean>, boolean]>([
  ['says yes', (key) => key === client.publicKey, true],
  ['says yes later', async (key) => key === client.publicKey, true],
  ['says no', () => false, false],
  [
    'throws',
    () => {
      throw new Error('key store is down');
    },
    false,
  ],
  ['rejects', () => Promise.reject(new Error('key store is down')), false],
  ['answers nonsense', () => 'yes' as unknown as boolean, false],
])('[SEC-002] a key callback that %s decides', async (_, allowedClientKeys, admitted) => {
  const listener = await listen(engine({ security: { ...server, allowedClientKeys } }));
  const from = engine({ security: dialing });
  if (admitted) await dialAndGreet(from, listener);
  else expect(await dial(from, listener.address).recorder.end()).toBe('the other side refused access');
  expect(listener.refused).toEqual(admitted ? [] : ['unknownClientKey']);
});

test('[SEC-001] a host without a pinned server key does not dial', async () => {
  const onlyServing = engine({ security: server });
  const mesh = await listen(onlyServing);
  expect(await dial(onlyServing, mesh.address).recorder.end()).toBe('no server key is pinned');
});

test('[SEC-001] a proof holds for its message, its maker and its reader only', () => {
  const proof = (security: CurveSecurity) => engine({ security }).security!;
  const message = bytesOf('hello, generation 7');
  const signature = proof(dialing).sign(message, server.publicKey);
  const verifier = proof(server);
  expect(verifier.verify(client.publicKey, message, signature)).toBe(true);
  expect(verifier.verify(client.publicKey, bytesOf('hello, generation 8'), signature)).toBe(false);
  expect(verifier.verify(stranger.publicKey, message, signature)).toBe(false);
  expect(verifier.verify(client.publicKey, message, signature.subarray(1))).toBe(false);
  expect(verifier.verify(client.publicKey, message, new Uint8Array(32))).toBe(false);
  expect(verifier.verify('0'.repeat(40), message, signature)).toBe(false);
  expect(verifier.verify('no key', message, signature)).toBe(false);
  expect(proof(stranger).verify(client.publicKey, message, signature)).toBe(false);
  expect([verifier.publicKey, verifier.serverPublicKey]).toEqual([server.publicKey, undefined]);
});

test('[SEC-003] wrong key material is reported whole and never shown', () => {
  const wrong = {
    publicKey: 'secret'.repeat(6),
    secretKey: `${server.secretKey}x`,
    serverPublicKey: '"'.repeat(40),
    allowedClientKeys: [client.publicKey, 'short'],
  };
  let message = '';
  try {
    createZmqEngine({ security: wrong, ioThreads: 0 });
  } catch (error) {
    message = String(error);
  }
  for (const option of ['publicKey', 'secretKey', 'serverPublicKey', 'allowedClientKeys[1]', 'ioThreads'])
    expect(message).toContain(option);
  for (const key of [wrong.publicKey, server.secretKey, wrong.serverPublicKey, 'short'])
    expect(message).not.toContain(key);
});

test('[SEC-001] a key pair that does not belong together is a configuration error', () => {
  const mixed = { publicKey: client.publicKey, secretKey: server.secretKey };
  expect(() => createZmqEngine({ security: mixed })).toThrow(
    'security.publicKey does not belong to security.secretKey',
  );
});

test('[SEC-001] a server key that shares no secret with anyone is a configuration error', () => {
  expect(() => createZmqEngine({ security: { ...client, serverPublicKey: '0'.repeat(40) } })).toThrow(
    'security.serverPublicKey is no key of a server',
  );
});

test.each<[string, CurveSecurity['allowedClientKeys']]>([
  ['list', [client.publicKey]],
  ['callback', (key) => key === client.publicKey],
])('[SEC-001] a secured engine tells keys that it has let in from others: %s', async (_, allowedClientKeys) => {
  const serving = engine({ security: { ...server, ...(allowedClientKeys && { allowedClientKeys }) } });
  const listener = await listen(serving);
  await dialAndGreet(engine({ security: dialing }), listener);
  const other = dial(engine({ security: { ...stranger, serverPublicKey: server.publicKey } }), listener.address);
  await other.recorder.end();
  expect(serving.security!.admits(client.publicKey)).toBe(true);
  expect(serving.security!.admits(stranger.publicKey)).toBe(false);
});

test('[SEC-001] an unsecured bind that others can reach is warned of once', async () => {
  const warnings: unknown[] = [];
  const warn = (warning: unknown): void => void warnings.push(warning);
  await listen(engine({ warn }), 'tcp://127.0.0.1:0');
  await listen(engine({ warn, security: server }), 'tcp://0.0.0.0:0');
  expect(warnings).toEqual([]);
  await listen(engine({ warn }), 'tcp://0.0.0.0:0');
  expect(warnings).toEqual([expect.objectContaining({ event: 'unsecured bind', address: 'tcp://0.0.0.0:0' })]);
});
