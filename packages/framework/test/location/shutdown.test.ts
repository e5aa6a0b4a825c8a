import type { Host } from '@zlink/framework';
import { createFaultProxy, until } from '@zlink/testing';
import { Gate, isFree } from '@zlink/testing/internal';
import { accepted, ask, endpointOf, makeHost, portOf, slackMs } from '../hosts.ts';
import { LogRecorder } from '../log-recorder.ts';
import { rejection } from '../outcome.ts';
import { Ask, CHANNEL, MESH } from '../packets.ts';
import { quick, recordedRelocationStore, Space, watchedStore } from './stores.ts';

const stopped = { outcome: 'stopped', reason: 'none' };
const late = { outcome: 'forceStopped', reason: 'deadlineExceeded' };
const stuck = { outcome: 'forceStopped', reason: 'teardownFailed' };

/** A lease that has to be renewed while a test waits. */
const shortLease = {
  ...quick,
  ownerLeaseTtlMs: 4_000,
  ownerLeaseRenewIntervalMs: 100,
  ownerLeaseRenewTimeoutMs: 100,
  ownerLeaseFencingMarginMs: 500,
};

test('[DRAIN-002] [HOST-006] draining is told first, then work ends, services stop, records go, links close, stores last', async () => {
  const space = new Space();
  const gate = new Gate();
  const events: string[] = [];
  const host = makeHost({ location: quick });
  const note = (event: string): void => {
    const bound = host.query.listeners().length > 0 ? 'bound' : 'closed';
    events.push(`${event}, ${host.state}, ${bound}`);
  };
  host.addLocationStore(watchedStore(space.store(), note));
  host.addRelocationStore(recordedRelocationStore(events));
  host
    .addClientServerChannel(CHANNEL)
    .server()
    .addRequestHandler(Ask, async () => {
      await gate.opened;
      note('work ends');
      return 'in time';
    });
  for (const name of ['a', 'b']) {
    host.addHostedService({
      start: async () => undefined,
      requestStop: () => note(`requestStop ${name}`),
      stop: () => note(`stop ${name}`),
    });
  }
  await host.start();
  const client = space.client();
  await client.start();
  const answer = ask(client, 1);
  await accepted(host, 'request', 1);
  const port = portOf(endpointOf(host));
  events.length = 0;
  const down = host.shutdown();
  const told = ['publish draining', 'requestStop a'];
  await until(() => told.every((one) => events.some((event) => event.startsWith(one))), 'all are told');
  gate.open();
  expect(await down).toEqual(stopped);
  expect(await answer).toBe('in time');
  const publishing = events.find((event) => event.startsWith('publish'));
  expect(publishing).toBe('publish draining, draining, bound');
  const ends = events.splice(-2);
  expect(ends.sort()).toEqual(['dispose relocation store', 'dispose, draining, bound']);
  expect(events.filter((event) => event !== publishing)).toEqual([
    'requestStop b, draining, bound',
    'requestStop a, draining, bound',
    'work ends, draining, bound',
    'stop b, draining, bound',
    'stop a, draining, bound',
    'remove, draining, bound',
    'release, draining, bound',
  ]);
  expect(events.indexOf('publish draining, draining, bound')).toBeLessThan(3); // before the work ends
  expect([host.state, await isFree(port), await space.traces()]).toMatchObject(['stopped', true, [expect.anything()]]);
});

test('[DRAIN-003] accepted work never loses its owner: lease and descriptor live until the work has ended', async () => {
  const space = new Space();
  const gate = new Gate();
  const events: string[] = [];
  const store = watchedStore(space.store(), (event) => events.push(event));
  const host = space.server(() => gate.opened.then(() => 'done'), { location: shortLease }, space.store());
  const worker = makeHost({ location: shortLease }).addLocationStore(store);
  worker
    .addClientServerChannel(CHANNEL)
    .server()
    .addRequestHandler(Ask, () => gate.opened.then(() => 'done'));
  await worker.start();
  const client = space.client();
  await client.start();
  const answer = ask(client, 1);
  await accepted(worker, 'request', 1);
  events.length = 0;
  const down = worker.shutdown();
  await until(() => events.filter((event) => event === 'renew').length >= 45, 'more than a whole lease has passed');
  expect(events).not.toContain('remove');
  expect((await space.traces()).filter((key) => key.startsWith('d/'))).toHaveLength(1);
  gate.open();
  expect([await answer, await down]).toEqual(['done', stopped]);
  expect(events.slice(-3)).toEqual(['remove', 'release', 'dispose']);
  await host.shutdown();
});

test('[DRAIN-004] a call that crosses the drain is refused, never left hanging', async () => {
  const space = new Space();
  const gate = new Gate();
  const server = space.server(() => gate.opened);
  const client = space.client();
  await Promise.all([server.start(), client.start()]);
  const answer = ask(client, 1);
  await accepted(server, 'request', 1);
  const down = server.shutdown();
  const kinds = await Promise.all(
    [1, 2, 3].map(() => rejection(client.routeClient.requestToChannel(CHANNEL, Ask(1)).timeoutMs(300).submit())),
  );
  for (const { kind } of kinds) expect(['Rejected', 'NotFound', 'DeadlineExceeded']).toContain(kind);
  gate.open();
  await answer;
  expect(await down).toEqual(stopped);
});

test('[CS-008] [DRAIN-004] what reaches a host that has withdrawn already is Rejected, as without a store', async () => {
  const space = new Space();
  const released = new Gate();
  const store = watchedStore(space.store(), (event) => {
    if (event === 'release') released.open();
  });
  const server = space.server(() => 1, {}, store);
  await server.start();
  const proxy = await createFaultProxy({ target: endpointOf(server) });
  const client = makeHost();
  client.addClientServerChannel(CHANNEL).client().connect(proxy.address);
  await client.start();
  await client.clientServerChannel(CHANNEL).whenReady(1);
  proxy.delay(3_000, 'toClient'); // so long does the client not know
  const down = server.shutdown();
  await released.opened;
  expect((await rejection(ask(client, 1))).kind).toBe('Rejected');
  expect(await down).toEqual(stopped);
  await proxy.close();
});

/** A host that serves nothing but is known to others. */
async function startKnown(setup: {
  readonly space: Space;
  readonly store?: ReturnType<Space['store']>;
  readonly log?: LogRecorder;
}): Promise<Host> {
  const { space, store = space.store(), log = new LogRecorder() } = setup;
  const host = space.server(() => 1, { logger: log }, store);
  host.addRouteMesh(MESH);
  await host.start();
  return host;
}

test.each(['fail', 'hold'] as const)(
  '[DRAIN-001] [DRAIN-002] [DRAIN-006] a store that is away (%s) at the end delays it by its time limits, and is no failure',
  async (kind) => {
    const space = new Space();
    const store = space.store();
    const log = new LogRecorder();
    const host = await startKnown({ space, store, log });
    store.inject(kind === 'fail' ? { kind } : { kind, at: 'request' });
    const since = performance.now();
    expect(await host.shutdown({ deadlineMs: 2_000 })).toEqual(stopped);
    expect(performance.now() - since).toBeLessThan(2_000 + 1_000 + slackMs);
    expect(store.calls.dispose).toBe(1);
    expect(await space.traces()).toHaveLength(3); // they run out by themselves
    if (kind === 'fail') expect(log.of('zlink.location.withdraw_failed')).toHaveLength(2 + 1);
    store.heal();
  },
);

test('[DRAIN-005] [DRAIN-006] [C25] late, and the store hangs as well: the end comes at most 2 s after the deadline', async () => {
  const space = new Space();
  const store = space.store();
  const host = space.server(() => new Promise(() => undefined), {}, store);
  host.addRelocationStore(recordedRelocationStore([], { dispose: () => new Promise(() => undefined) }));
  await host.start();
  const client = space.client();
  await client.start();
  const answer = rejection(ask(client, 1));
  await accepted(host, 'request', 1);
  store.inject({ kind: 'hold', at: 'request' });
  store.inject({ kind: 'hold', at: 'request' }, 'dispose');
  const since = performance.now();
  expect((await host.shutdown({ deadlineMs: 100 })).outcome).toBe('forceStopped');
  expect(performance.now() - since).toBeLessThan(100 + 2_000 + slackMs);
  expect((await answer).kind).toBe('ShuttingDown');
  expect(host.state).toBe('stopped');
  store.heal();
});

test('[DRAIN-006] what is late is withdrawn all the same', async () => {
  const space = new Space();
  const host = space.server(() => new Promise(() => undefined));
  await host.start();
  const client = space.client();
  await client.start();
  const answer = rejection(ask(client, 1));
  await accepted(host, 'request', 1);
  expect(await host.shutdown({ deadlineMs: 50 })).toEqual(late);
  expect((await answer).kind).toBe('ShuttingDown');
  expect(await space.traces()).toHaveLength(1); // the client's lease
});

test.each<[string, 'location' | 'relocation']>([
  ['a location store', 'location'],
  ['a relocation store', 'relocation'],
])('[LOC-003] [DRAIN-006] %s that cannot be disposed of makes the end teardownFailed, and nothing else fails', async (_, which) => {
  const space = new Space();
  const store = space.store();
  const log = new LogRecorder();
  const events: string[] = [];
  const broken = { dispose: () => Promise.reject(new Error('socket is stuck')) };
  if (which === 'location') store.inject({ kind: 'fail', error: new Error('socket is stuck') }, 'dispose');
  const host = space.server(() => 1, { logger: log }, store);
  host.addRelocationStore(recordedRelocationStore(events, which === 'relocation' ? broken : {}));
  await host.start();
  const port = portOf(endpointOf(host));
  expect(await host.shutdown()).toEqual(stuck);
  expect([host.state, await isFree(port), await space.traces(), store.calls.dispose]).toEqual(['stopped', true, [], 1]);
  expect(events).toEqual(['open relocation store', 'dispose relocation store']);
  const logged = log.of('zlink.runtime.teardown_failed').map(({ error }) => error);
  expect(logged).toEqual([expect.stringContaining('socket is stuck')]);
}); // prettier-ignore

test('[LOC-003] a store that can neither be opened nor disposed of ends the start with the first failure', async () => {
  const store = new Space().store();
  store.inject({ kind: 'fail', error: new Error('will not close') }, 'dispose');
  store.inject({ kind: 'hold', at: 'request' }, 'open');
  const controller = new AbortController();
  const host = makeHost().addLocationStore(store);
  const starting = host.start(controller.signal);
  await until(() => store.heldCount === 1, 'the store is asked');
  controller.abort(new Error('changed my mind'));
  await expect(starting).rejects.toThrow('changed my mind');
  expect([host.state, store.calls.dispose]).toEqual(['error', 1]);
  store.heal();
});

test('[DRAIN-007] [C25] starting and ending again and again leaves nothing behind', async () => {
  const space = new Space();
  const client = space.client();
  await client.start();
  for (let round = 0; round < 15; round++) {
    const store = space.store();
    const host = space.server(() => round, {}, store);
    host.addRouteMesh(MESH);
    await host.start();
    expect(await ask(client, 1)).toBe(round);
    const results = await Promise.all([host.shutdown(), host.shutdown()]);
    expect(results[0]).toEqual(stopped);
    expect(results[1]).toBe(results[0]);
    expect([await space.traces(), store.calls.dispose, store.listenerCount]).toEqual([[expect.anything()], 1, 0]);
    await until(() => client.clientServerChannel(CHANNEL).servers().length === 0, 'the client forgets it');
  }
});

test('[HOST-007] [HOST-008] states of a host with a store are those of any host', async () => {
  const space = new Space();
  const states: string[] = [];
  const host = space.server(() => 1);
  host.addHostedService({
    start: async () => void states.push(host.state),
    requestStop: () => void states.push(host.state),
    stop: () => void states.push(host.state),
  });
  states.push(host.state);
  await host.start();
  states.push(host.state);
  await host.shutdown();
  states.push(host.state);
  expect(states).toEqual(['configuring', 'starting', 'serving', 'draining', 'draining', 'stopped']);
});
