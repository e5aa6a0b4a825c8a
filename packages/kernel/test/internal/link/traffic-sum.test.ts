/** What a transport says of all its links together, against what each of them has said of itself. */
import type { Link } from '../../../src/internal/transport/index.ts';
import type { TrafficTotals } from '../../../src/observe/index.ts';
import { type TestHost, TestNetwork } from './test-host.ts';
import { TestRecord } from './test-record.ts';

const NOTHING: TrafficTotals = { sentMessages: 0, sentBytes: 0, receivedMessages: 0, receivedBytes: 0 };

function sumOf(links: readonly Link[]): TrafficTotals {
  const sum = (total: keyof TrafficTotals): number => links.reduce((all, { traffic }) => all + traffic[total], 0);
  return {
    sentMessages: sum('sentMessages'),
    sentBytes: sum('sentBytes'),
    receivedMessages: sum('receivedMessages'),
    receivedBytes: sum('receivedBytes'),
  };
}

/** A server that has two clients, with `sends` messages of each. */
async function startServing(on: TestNetwork, sends: readonly [number, number]) {
  const server = on.host('server', { policy: 'every' });
  const { endpoint } = await server.listen();
  const clients = [on.host('first'), on.host('second')] as const;
  const intents = clients.map((client) => client.dial(endpoint));
  await on.settle();
  for (const [at, client] of clients.entries()) send(client, sends[at]!);
  await on.settle();
  return { server, clients, intents };
}

function send(from: TestHost, count: number): void {
  for (let sent = 0; sent < count; sent++) TestRecord.send({ payload: new Uint8Array(100) }).submit(from.openLinks[0]!);
}

test('[CORE-001] a transport sums what has gone over its links, and a link that ends takes nothing away', async () => {
  const on = new TestNetwork();
  const { server, clients, intents } = await startServing(on, [3, 4]);
  const { transport, opened } = server;
  const both = transport.status;
  expect(both).toMatchObject({ links: 2, traffic: { sentMessages: 0, receivedMessages: 7 } });
  expect(both.traffic).toEqual(sumOf(opened));

  const closing = intents[0]!.close(1_000);
  await on.pass(100);
  await closing;
  const one = transport.status;
  expect(one).toMatchObject({ links: 1, traffic: { receivedMessages: 7 } });
  expect(one.traffic).toEqual(sumOf(opened)); // of an ended one as well
  expect(opened.map(({ phase }) => phase).sort()).toEqual(['closed', 'open']);

  opened.find(({ phase }) => phase === 'open')!.fail('broken by the test');
  await on.settle();
  expect(transport.status).toMatchObject({ links: 0, traffic: { receivedMessages: 7 } });
  await on.pass(2_000); // the second client has dialled again
  send(clients[1], 5);
  await on.settle();
  expect(transport.status).toMatchObject({ links: 1, traffic: { receivedMessages: 12 } });

  expect(await on.close()).toEqual([]);
  expect(opened).toHaveLength(3);
  expect(transport.status.traffic).toEqual(sumOf(opened));
  for (const client of clients) expect(client.transport.status.traffic).toEqual(sumOf(client.opened));
});

test('[CORE-001] whenever the topic asks, while a link opens or ends as well, each link is in the sum once', async () => {
  const on = new TestNetwork();
  const server = on.host('server', { policy: 'every' });
  const seen: TrafficTotals[] = [];
  const look = (): void => void seen.push(server.transport.status.traffic);
  server.onOpen = look;
  server.onClosed = look;
  const { endpoint } = await server.listen();
  const client = on.host('client');
  client.dial(endpoint);
  await on.settle();
  send(client, 3);
  await on.settle();
  server.openLinks[0]!.fail('broken by the test');
  look();
  const { receivedBytes, sentBytes } = server.opened[0]!.traffic;
  const after = { ...NOTHING, receivedMessages: 3, receivedBytes, sentBytes };
  expect(seen).toEqual([NOTHING, after, after]);
  expect(await on.close()).toEqual([]);
});

test('[CORE-001] a peer that is refused is in no sum', async () => {
  const on = new TestNetwork();
  const server = on.host('server');
  server.onRefuse = () => 'not today';
  const { endpoint } = await server.listen();
  on.host('client').dial(endpoint);
  await on.settle();
  expect(server.transport.status.refused).toEqual({ refused: 1 });
  expect(server.transport.status.traffic).toEqual(NOTHING);
  expect(await on.close()).toEqual([]);
});
