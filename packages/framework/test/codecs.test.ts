import { type Codec, type CodecExtension, type Host, request } from '@zlink/framework';
import { endpointOf, makeHost, makeServer, startClient } from './hosts.ts';
import { rejection } from './outcome.ts';
import { CHANNEL, Charge } from './packets.ts';

const Shout = request<string, string>('shout');

/** Text in capitals, for packets of `Shout`; marks what it decodes. */
function capitals(contentType: string, mark: string): CodecExtension {
  const codec: Codec = {
    contentType,
    matches: (declaredType) => declaredType === Shout,
    encode: (value) => new TextEncoder().encode(String(value).toUpperCase()),
    decode: (bytes) => `${mark}:${new TextDecoder().decode(bytes)}`,
  };
  return { register: (codecs) => void codecs.add(codec) };
}

const seen: string[] = [];
beforeEach(() => {
  seen.length = 0;
});

async function startShouting(server: Host, client: Host): Promise<void> {
  const channel = server.addClientServerChannel(CHANNEL).server();
  channel.addRequestHandler(Shout, (text, { contentType }) => {
    seen.push(`${contentType} ${text}`);
    return `answer to ${text}`;
  });
  channel.addRequestHandler(Charge, ({ orderId }, { contentType }) => ({ receipt: `${contentType} ${orderId}` }));
  await server.start();
  client.addClientServerChannel(CHANNEL).client().connect(endpointOf(server));
  await client.start();
  await client.clientServerChannel(CHANNEL).whenReady(1);
}

const shout = (client: Host) => client.routeClient.requestToChannel(CHANNEL, Shout('hello')).submit();

test('[CODEC-001] JSON needs no registration, and serves whatever no other codec matches', async () => {
  const [server, client] = [makeHost(), makeHost()];
  for (const host of [server, client]) host.codecs().use(capitals('text/capitals', 'plain'));
  await startShouting(server, client);
  expect(await client.routeClient.requestToChannel(CHANNEL, Charge({ orderId: '7' })).submit()).toEqual({
    receipt: 'application/json 7',
  });
  await shout(client);
  expect(seen).toEqual(['text/capitals plain:HELLO']);
});

test('[CODEC-002] a content type is registered trimmed and in lower case, and travels so', async () => {
  const [server, client] = [makeHost(), makeHost()];
  server.codecs().use(capitals(' \tText/CAPITALS\t ', 'server'));
  client.codecs().use(capitals('TEXT/capitals', 'client'));
  await startShouting(server, client);
  await shout(client);
  expect(seen).toEqual(['text/capitals server:HELLO']);
});

test('[CODEC-002] of two codecs with one canonical content type the later one stays', async () => {
  const [server, client] = [makeHost(), makeHost()];
  server.codecs().use(capitals('text/capitals', 'first'));
  server.codecs().use(capitals(' TEXT/Capitals', 'second'));
  client.codecs().use(capitals('text/capitals', 'client'));
  await startShouting(server, client);
  await shout(client);
  expect(seen).toEqual(['text/capitals second:HELLO']);
});

test('[CODEC-003] a content type that the receiver does not have is a ProtocolError, never read as JSON', async () => {
  const [server, client] = [makeHost(), makeHost()];
  client.codecs().use(capitals('text/capitals', 'client'));
  await startShouting(server, client);
  const error = await rejection(shout(client));
  expect(error).toMatchObject({ kind: 'ProtocolError', submitted: true });
  expect(seen).toEqual([]);
});

test('[CODEC-004] several hosts of one process keep their codecs apart', async () => {
  const plain = makeServer();
  plain.codecs().use(capitals('text/capitals', 'x'));
  await plain.start();
  const client = await startClient([plain]); // without that codec
  const error = await rejection(client.routeClient.requestToChannel(CHANNEL, Shout('hello')).submit());
  expect(error.kind).toBe('NotFound'); // read as JSON, found no handler
});
