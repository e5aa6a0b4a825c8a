/** What a process shows and tells of a channel whose servers it finds. */
import type { TopologySections } from '@zlink/kernel/internal/host';
import type { ClientServerSnapshot } from '@zlink/kernel/observe';
import { loopTurns, until } from '@zlink/testing';
import { Board } from '@zlink/testing/internal';
import { ask, CHANNEL, endpointOf, findingClient, publishingServer, startClient, startServer } from './arrange.ts';
import { arrangeCluster } from './cluster.ts';
import type { TestHost } from './test-host.ts';

function showOf(host: TestHost): ClientServerSnapshot {
  const sections: TopologySections = {
    routeMeshes: [],
    clientServerChannels: [],
    fanoutChannels: [],
    backlog: { running: 0, queued: 0 },
  };
  host.channel(CHANNEL).showIn(sections);
  return sections.clientServerChannels[0]!; // every channel adds one
}

function statesOf({ facts }: TestHost): string[] {
  return facts.flatMap(({ fact }) => (fact.type === 'zlink.runtime.client_server.state_changed' ? [fact.state] : []));
}

test('[MON-021] a discovered server is told as it comes, connects and is gone, each state once', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'clientServer'>()];
  const server = await publishingServer(cluster, board, 'a');
  const client = await findingClient(cluster, board);
  await cluster.passing(client.channel(CHANNEL).whenReady(1));
  const { rid } = board.facts('a');
  await server.close();
  board.remove(rid);
  await until(() => showOf(client).servers.length === 0, 'it is gone');
  await loopTurns(2);
  const told = client.facts.flatMap(({ fact }) =>
    fact.type === 'zlink.runtime.client_server.server_changed' ? [fact.server] : [],
  );
  const states = told.map(({ state, draining }) => (draining ? 'draining' : state));
  expect(states.slice(0, 2)).toEqual(['connecting', 'ready']);
  expect(states.at(-1)).toBe('closed');
  expect(new Set(told.map(({ serverRid }) => serverRid))).toEqual(new Set(['a']));
  expect(statesOf(client)).toEqual(['degraded', 'ready', 'degraded']);
});

test('[MON-004] a configured address that leads to a published server has one row', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'clientServer'>()];
  const server = await publishingServer(cluster, board, 'a');
  const client = await findingClient(cluster, board, [server]);
  await cluster.passing(client.channel(CHANNEL).whenReady(1));
  await loopTurns(4);
  expect(showOf(client).servers).toMatchObject([{ endpoint: endpointOf(server), serverRid: 'a', state: 'ready' }]);
});

test('[MON-004] [LOC-064] a channel is degraded while the store is away, on either side', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'clientServer'>()];
  const server = await publishingServer(cluster, board, 'a');
  const client = await findingClient(cluster, board);
  await cluster.passing(client.channel(CHANNEL).whenReady(1));
  expect([server, client].map((host) => showOf(host).state)).toEqual(['ready', 'ready']);
  board.goAway('no answer');
  await loopTurns(2);
  for (const host of [server, client]) {
    expect(showOf(host)).toMatchObject({ state: 'degraded', reasons: ['location_unavailable'] });
    expect(showOf(host).servers).toMatchObject([{ state: 'ready' }]);
  }
  board.comeBack();
  await loopTurns(2);
  expect([server, client].map((host) => showOf(host).state)).toEqual(['ready', 'ready']);
});

test('[MON-020] a server tells of its own weight and of its end', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'clientServer'>()];
  const server = await publishingServer(cluster, board, 'a');
  server.channel(CHANNEL).setWeight(7);
  server.drain();
  await server.close();
  const told = server.facts.flatMap(({ fact }) =>
    fact.type === 'zlink.runtime.client_server.server_changed' ? [fact.server] : [],
  );
  expect(told.map(({ state, weight, draining }) => `${state} ${weight} ${draining}`)).toEqual([
    'admitted 100 false',
    'ready 100 false',
    'ready 7 false',
    'ready 7 true',
    'closed 7 true',
  ]);
});

test('[MON-001] [MON-021] a server shows the traffic of its link while there is one, and nobody is told that it moves', async () => {
  const cluster = arrangeCluster();
  const server = await startServer(cluster, 'a');
  const client = await startClient(cluster, [server]);
  const listed = () => client.channel(CHANNEL).servers();
  const before = showOf(client).servers[0]?.traffic;
  const toldCount = client.facts.length;
  await ask(client, 20);
  expect(client.facts).toHaveLength(toldCount);
  expect(before).toMatchObject({ sentMessages: 0, receivedMessages: 0 });
  for (const [row] of [showOf(client).servers, listed()]) {
    expect(row?.traffic).toMatchObject({ sentMessages: 20, receivedMessages: 20, waitingMessages: 0 });
  }
  await server.close();
  await until(() => listed()[0]?.state !== 'ready', 'it is gone');
  for (const [row] of [showOf(client).servers, listed()]) expect(row).not.toHaveProperty('traffic');
  const told = client.facts.flatMap(({ fact }) =>
    fact.type === 'zlink.runtime.client_server.server_changed' ? [fact.server] : [],
  );
  expect(told.length).toBeGreaterThan(2);
  for (const row of told) expect(row).not.toHaveProperty('traffic');
});
