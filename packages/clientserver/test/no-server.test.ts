import { message } from '@zlink/kernel/message';
import { loopTurns } from '@zlink/testing';
import { rejection } from '@zlink/testing/internal';
import { whyNoServer } from '../src/client/why-no-server.ts';
import type { ServerStatus } from '../src/server-status.ts';
import { CHANNEL, configureServer, dialingClient, endpointOf, startClient, startServer } from './arrange.ts';
import { arrangeCluster, type Cluster } from './cluster.ts';
import { Ask } from './packets.ts';
import type { TestHost } from './test-host.ts';

const Other = message<number>('other');

/** What a request and a send say that found no server within 500 ms. */
async function texts(cluster: Cluster, client: TestHost): Promise<[request: string, send: string]> {
  const errors = Promise.all([
    rejection(client.request(CHANNEL, Ask(1)).submit()),
    rejection(client.send(CHANNEL, Other(1)).submit()),
  ]);
  const [ofRequest, ofSend] = await cluster.passing(errors);
  expect([ofRequest.kind, ofSend.kind]).toEqual(['NotFound', 'NotFound']);
  return [ofRequest.message, ofSend.message];
}

const PREFIX = `[NotFound] channel "${CHANNEL}" had no ready server for 500 ms: `;
const shortWait = {
  with: (client: { setRequestTimeoutMs(ms: number): unknown }) => void client.setRequestTimeoutMs(500),
};

test('[CHAN-003] [CALL-005] a call that found no server says of every address what is the matter', async () => {
  const cluster = arrangeCluster();
  const elsewhere = cluster.host('elsewhere');
  elsewhere
    .channel('hello')
    .server()
    .listen(0)
    .addRequestHandler(Ask, () => 1);
  await elsewhere.start();
  const wrong = elsewhere.channel('hello').endpoint ?? '';
  const starting = await configureServer(cluster, 'starting').open();
  const client = await dialingClient(cluster, ['tcp://10.0.0.1:7200', wrong, starting], shortWait);
  await loopTurns(16);
  const [ofRequest, ofSend] = await texts(cluster, client);
  expect(ofSend).toBe(ofRequest);
  expect(ofRequest.startsWith(PREFIX)).toBe(true);
  const [nobody, mismatch, early] = ofRequest.slice(PREFIX.length).split('; ');
  expect(nobody).toMatch(/^tcp:\/\/10\.0\.0\.1:7200 (connecting|reconnecting)/);
  expect(mismatch).toMatch(/ rejected \(.*"hello".*\)$/);
  expect(mismatch).toContain(wrong);
  expect(early).toBe(`${endpointOf(starting)} admitted`);
});

test('[CHAN-003] [CALL-005] servers that are connected and cannot be chosen are named as such', async () => {
  const cluster = arrangeCluster();
  const weightless = await startServer(cluster, 'weightless', { weight: 0 });
  const leaving = await startServer(cluster, 'leaving');
  const client = await startClient(cluster, [weightless, leaving], shortWait);
  leaving.drain();
  await loopTurns(16);
  const [text] = await texts(cluster, client);
  expect(text).toBe(`${PREFIX}${endpointOf(weightless)} ready (weight 0); ${endpointOf(leaving)} draining`);
});

describe('the reasons', () => {
  const server = (port: number, rest: Partial<ServerStatus> = {}): ServerStatus => ({
    endpoint: `tcp://10.0.0.1:${port}`,
    state: 'reconnecting',
    weight: 0,
    draining: false,
    local: false,
    ...rest,
  });

  test('[CALL-005] of at most three addresses are shown, the rest is counted', () => {
    expect(
      whyNoServer(
        CHANNEL,
        [1, 2, 3].map((port) => server(port)),
        undefined,
      ),
    ).toBe('tcp://10.0.0.1:1 reconnecting; tcp://10.0.0.1:2 reconnecting; tcp://10.0.0.1:3 reconnecting');
    expect(
      whyNoServer(
        CHANNEL,
        [1, 2, 3, 4, 5].map((port) => server(port, { reason: 'refused' })),
        undefined,
      ),
    ).toBe(
      'tcp://10.0.0.1:1 reconnecting (refused); tcp://10.0.0.1:2 reconnecting (refused); ' +
        'tcp://10.0.0.1:3 reconnecting (refused); and 2 more',
    );
  });

  test('[CALL-005] leave out an address whose server is connected by another one', () => {
    const servers = [
      server(1, { state: 'closed', reason: '"a" is already connected', routingId: 'a' }),
      server(2, { state: 'ready', routingId: 'a' }),
    ];
    expect(whyNoServer(CHANNEL, servers, undefined)).toBe('tcp://10.0.0.1:2 ready (weight 0)');
  });
});
