/** What a subscriber shows and tells of publishers that it finds. */
import type { FanoutSnapshot } from '@zlink/kernel/observe';
import { loopTurns, until } from '@zlink/testing';
import { Board } from '@zlink/testing/internal';
import { CHANNEL, endpointOf, findingSubscriber, publishingHost } from './arrange.ts';
import { arrangeCluster } from './cluster.ts';
import type { TestHost } from './test-host.ts';

const showOf = (host: TestHost): FanoutSnapshot | undefined => host.showOf(CHANNEL);

test('[MON-006] [MON-021] a discovered publisher is shown and told from its discovery to its end', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'fanout'>()];
  const publisher = await publishingHost(cluster, board, 'a');
  const { host } = await findingSubscriber(cluster, board, 'subscriber');
  await cluster.passing(publisher.client.ready(CHANNEL, 1));
  await cluster.passing(until(() => showOf(host)?.publishers[0]?.state === 'ready', 'it is heard'));
  expect(showOf(host)).toEqual({
    channelName: CHANNEL,
    state: 'ready',
    reasons: [],
    publishers: [
      { publisherRid: 'a', endpoint: endpointOf(publisher), intent: 'open', state: 'ready', missedEvents: 0 },
    ],
  });
  expect(showOf(publisher)).toBeUndefined();
  await publisher.close();
  board.remove('a');
  await until(() => showOf(host)?.publishers.length === 0, 'it is gone');
  await loopTurns(2);
  const told = host.facts.flatMap(({ fact }) =>
    fact.type === 'zlink.runtime.fanout.publisher_changed' ? [fact.publisher] : [],
  );
  const states = told.map(({ state }) => state);
  expect(states.filter((state, at) => state !== states[at - 1]).slice(0, 3)).toEqual([
    'connecting',
    'admitted',
    'ready',
  ]);
  expect(told.at(-1)).toMatchObject({ publisherRid: 'a', intent: 'closed', state: 'closed' });
});

test('[MON-006] a publisher that is silent for 15 s is not ready any more, and its channel is degraded', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'fanout'>()];
  const publisher = await publishingHost(cluster, board, 'a');
  const { host } = await findingSubscriber(cluster, board, 'subscriber');
  await cluster.passing(publisher.client.ready(CHANNEL, 1));
  await cluster.passing(until(() => showOf(host)?.publishers[0]?.state === 'ready', 'it is heard'));
  cluster.network.blackhole(endpointOf(publisher));
  await cluster.clock.advanceAsync(14_000);
  expect(showOf(host)?.state).toBe('ready');
  await cluster.passing(until(() => showOf(host)?.state === 'degraded', 'it is missed'));
  expect(showOf(host)?.reasons).toEqual(['no_ready_peer']);
});

test('[MON-004] [LOC-064] a subscriber that finds its publishers is degraded while the store is away', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'fanout'>()];
  const { host } = await findingSubscriber(cluster, board, 'subscriber');
  expect(showOf(host)?.state).toBe('ready');
  board.goAway('no answer');
  await loopTurns(2);
  expect(showOf(host)).toMatchObject({ state: 'degraded', reasons: ['location_unavailable'] });
  board.comeBack();
  await loopTurns(2);
  expect(showOf(host)?.state).toBe('ready');
});
