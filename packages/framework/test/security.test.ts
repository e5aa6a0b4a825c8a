import { inspect } from 'node:util';
import { createCurveKeys, type CurveSecurity, type Host, type HostOptions } from '@zlink/framework';
import { until } from '@zlink/testing';
import { ask, counters, endpointOf, portOf, startClient, startDialing, startServer } from './hosts.ts';
import { type LogRecord, LogRecorder } from './log-recorder.ts';
import { askChannel, askNode, joinNode, peersOf, refusedPeer, startNode } from './meshes.ts';
import { rejection } from './outcome.ts';
import { Ask, CHANNEL, Charge, MESH, Notice } from './packets.ts';
import { tapTo } from './tcp-tap.ts';

const serverKeys = createCurveKeys();
const clientKeys = createCurveKeys();
const foreignKeys = createCurveKeys();

const serverSecurity: CurveSecurity = { ...serverKeys, allowedClientKeys: [clientKeys.publicKey] };
const clientSecurity: CurveSecurity = { ...clientKeys, serverPublicKey: serverKeys.publicKey };

const allKeys = [serverKeys, clientKeys, foreignKeys].flatMap(({ publicKey, secretKey }) => [publicKey, secretKey]);

/** The client stays out: it says why, its calls find no server, and the server has heard nothing. */
async function expectKeptOut(client: Host, server: Host, reason: RegExp): Promise<void> {
  const status = () => client.clientServerChannel(CHANNEL).servers()[0];
  await until(() => status()?.reason !== undefined, 'an attempt has failed');
  expect(status()?.reason).toMatch(reason);
  expect(status()?.state).not.toBe('ready');
  const call = client.routeClient.requestToChannel(CHANNEL, Ask('let me in')).timeoutMs(50);
  expect(await rejection(call.submit())).toMatchObject({ kind: 'NotFound', submitted: false });
  expect(counters(server, 'request').accepted).toBe(0);
}

test('[SEC-001] a client with an allowed key is served', async () => {
  const server = await startServer({ options: { security: serverSecurity } });
  const client = await startClient([server], { options: { security: clientSecurity } });
  expect(await ask(client, 'by key')).toBe('by key');
});

test('[SEC-001] a callback decides about keys, and without list or callback every key is let in', async () => {
  const asked: string[] = [];
  const allowedClientKeys = async (key: string): Promise<boolean> => {
    asked.push(key);
    return key === clientKeys.publicKey;
  };
  const server = await startServer({ options: { security: { ...serverKeys, allowedClientKeys } } });
  const client = await startClient([server], { options: { security: clientSecurity } });
  expect(await ask(client, 1)).toBe(1);
  expect(asked).toEqual([clientKeys.publicKey]);

  const open = await startServer({ options: { security: serverKeys } });
  const anyone = { ...foreignKeys, serverPublicKey: serverKeys.publicKey };
  expect(await ask(await startClient([open], { options: { security: anyone } }), 2)).toBe(2);
});

test.each<[string, HostOptions, RegExp]>([
  [
    'a foreign key',
    { security: { ...foreignKeys, serverPublicKey: serverKeys.publicKey } },
    /^the other side refused access$/,
  ],
  ['no encryption', {}, /^(one side is secured and the other is not|the other side did not complete the handshake)$/],
  [
    'another server in mind',
    { security: { ...clientKeys, serverPublicKey: foreignKeys.publicKey } },
    /^(keys of the two sides do not fit|the other side did not complete the handshake)$/,
  ],
])('[SEC-001] a client with %s is kept out, and others are served meanwhile', async (_, options, reason) => {
  const server = await startServer({ options: { security: serverSecurity } });
  const kept = await startDialing([server], { options });
  await expectKeptOut(kept, server, reason);
  const client = await startClient([server], { options: { security: clientSecurity } });
  expect(await ask(client, 1)).toBe(1);
});

test('[SEC-001] a secured client does not talk to an unsecured server', async () => {
  const server = await startServer();
  const client = await startDialing([server], { options: { security: clientSecurity } });
  await expectKeptOut(
    client,
    server,
    /^(one side is secured and the other is not|the other side did not complete the handshake)$/,
  );
});

test.each([
  [
    'reads nothing of secured hosts',
    { server: { security: serverSecurity }, client: { security: clientSecurity } },
    false,
  ],
  ['reads all of plain ones', { server: {}, client: {} }, true],
])('[SEC-001] who listens on the wire %s', async (_, options, isReadable) => {
  const server = await startServer({ options: options.server });
  const tap = await tapTo(portOf(endpointOf(server)));
  const client = await startClient([tap.address], { options: options.client });
  expect(await ask(client, 'the secret of tenant-42')).toBe('the secret of tenant-42');
  expect(tap.seen.length).toBeGreaterThan(100);
  for (const text of ['the secret of tenant-42', 'billing.ask', CHANNEL])
    expect(tap.seen.includes(text)).toBe(isReadable);
  for (const { secretKey } of [serverKeys, clientKeys]) expect(tap.seen).not.toContain(secretKey);
});

test('[SEC-001] a bind that others can reach is warned of once, unless it is secured', async () => {
  const warnings = async (options: HostOptions): Promise<LogRecord[]> => {
    const log = new LogRecorder();
    await startServer({ options: { ...options, logger: log } });
    return log.of('zlink.transport.engine_warning');
  };
  const network = { bindHost: '0.0.0.0', advertiseHost: '127.0.0.1' };
  expect(await warnings({ network })).toMatchObject([{ event: 'unsecured bind' }]);
  expect(await warnings({ network, security: serverSecurity })).toEqual([]);
  expect(await warnings({})).toEqual([]);
});

test('[SEC-001] [MESH-002] the nodes of a mesh share the key pair that they pin, and let in whose keys they know', async () => {
  const nodeKeys = createCurveKeys();
  const pinned = { serverPublicKey: nodeKeys.publicKey, allowedClientKeys: [nodeKeys.publicKey, clientKeys.publicKey] };
  const security: CurveSecurity = { ...nodeKeys, ...pinned };
  const a = await startNode('a', { weight: 100, options: { security } });
  const b = await joinNode('b', { connect: [a], options: { security } });
  const c = await joinNode('c', { connect: [a, b], options: { security: { ...clientKeys, ...pinned } } }); // only dials
  await a.routeMesh(MESH).whenReady(2);
  expect(
    await Promise.all([askNode(a, 'b'), askNode(b, 'a'), askNode(c, 'b'), askNode(a, 'c'), askChannel(c)]),
  ).toEqual(
    ['b', 'a', 'b', 'c', 'a'], // prettier-ignore
  );
  const foreign = { ...foreignKeys, serverPublicKey: nodeKeys.publicKey };
  const stranger = await startNode('stranger', { connect: [a], options: { security: foreign } });
  expect(await refusedPeer(stranger)).toMatchObject({ channels: [], reason: 'the other side refused access' });
  const plain = await startNode('plain', { connect: [a] });
  expect((await refusedPeer(plain)).reason).toMatch(
    /^(one side is secured and the other is not|the other side did not complete the handshake)$/,
  );
  expect(peersOf(a).map(({ routingId }) => routingId)).toEqual(['b', 'c']);
  for (const host of [stranger, plain]) expect((await rejection(askNode(host, 'a'))).kind).toBe('NotFound');
});

test('[SEC-001] a node that has no key to pin only listens, and says why it cannot dial', async () => {
  const nodeKeys = createCurveKeys();
  const a = await startNode('a', { options: { security: nodeKeys } });
  const { peers } = a.routeMesh(MESH);
  expect(() => peers.connect('tcp://127.0.0.1:7200')).toThrow(
    /^\[InvalidOperation\] mesh "game" peers connect: security\.serverPublicKey is missing/,
  );
  const b = await joinNode('b', {
    connect: [a],
    options: { security: { ...clientKeys, serverPublicKey: nodeKeys.publicKey } },
  });
  expect(await askNode(b, 'a')).toBe('a');
});

test('[SEC-003] keys and payloads are in no log, error, reason or counter, however things go wrong', async () => {
  const secret = 'card of Mrs Quixote'; // no port, id or time ever reads like it
  const log = new LogRecorder();
  const errors: unknown[] = [];
  const server = await startServer({
    options: { security: serverSecurity, logger: log },
    answer: (asked) => {
      throw Object.assign(new Error('no such card'), { asked });
    },
    with: (builder) => builder.addSendHandler(Notice, () => Promise.reject(new Error('not today'))),
  });
  const client = await startClient([server], { options: { security: clientSecurity, logger: log } });
  const { routeClient } = client;
  errors.push(await rejection(ask(client, secret)));
  errors.push(await rejection(routeClient.requestToChannel(CHANNEL, Charge({ orderId: secret })).submit()));
  errors.push(await rejection(routeClient.requestToChannel(CHANNEL, Ask({ secret, not: NaN })).submit()));
  await routeClient.sendToChannel(CHANNEL, Notice(secret)).metadata('card', secret).submit();
  for (const security of [{ ...foreignKeys, serverPublicKey: serverKeys.publicKey }, undefined]) {
    const stranger = await startDialing([server], { options: { logger: log, ...(security && { security }) } });
    await until(
      () => stranger.clientServerChannel(CHANNEL).servers()[0]?.reason !== undefined,
      'an attempt has failed',
    );
    errors.push(stranger.clientServerChannel(CHANNEL).servers());
  }
  const mixed = {
    publicKey: clientKeys.publicKey,
    secretKey: serverKeys.secretKey,
    allowedClientKeys: [`${secret}${'x'.repeat(26)}`],
  };
  errors.push(await startServer({ options: { security: mixed } }).catch((error: unknown) => error));
  await until(() => log.of('zlink.dispatch_error').length >= 3, 'the failures are logged');
  errors.push(server.query.counters(), client.clientServerChannel(CHANNEL).servers());

  const everything = inspect([log.records, errors], {
    depth: 10,
    showHidden: true,
    maxArrayLength: null,
    maxStringLength: null,
  });
  expect(everything).toContain('handler_exception');
  for (const key of allKeys) expect(everything).not.toContain(key);
  expect(everything).not.toContain('Quixote');
});
