import type { Host } from '@zlink/framework';
import { createMemoryLocationStore, createMemoryStoreBackend, StoreError } from '@zlink/kernel/location';
import { until } from '@zlink/testing';
import { Gate, isFree, quietPort } from '@zlink/testing/internal';
import { ask, makeHost, slackMs } from '../hosts.ts';
import { problems, rejection, thrown, watch } from '../outcome.ts';
import { Ask, CHANNEL, MESH } from '../packets.ts';
import { recordedRelocationStore, Space, watchedStore } from './stores.ts';

/** A server on that port; whether it is free tells whether the host has bound. */
function addServer(host: Host, port: number): Host {
  host
    .addClientServerChannel(CHANNEL)
    .server()
    .listen(port)
    .addRequestHandler(Ask, (asked) => asked);
  return host;
}

test('[HOST-002] a start opens the store, takes the lease, binds, publishes, starts services, then serves', async () => {
  const events: string[] = [];
  const space = new Space();
  const host = makeHost();
  const note = (event: string): void => {
    const bound = host.query.listeners().length;
    events.push(`${event}, ${host.state}, ${bound} bound`);
  };
  host.addLocationStore(watchedStore(space.store(), note));
  host
    .addClientServerChannel(CHANNEL)
    .server()
    .addRequestHandler(Ask, () => 1);
  host.addRouteMesh(MESH);
  host.addHostedService({ start: async () => note('service'), stop: () => undefined });
  expect(events).toEqual([]);
  await host.start();
  expect(events).toEqual([
    'open, starting, 0 bound',
    'lease, starting, 0 bound',
    'publish starting, starting, 2 bound',
    'publish starting, starting, 2 bound',
    'service, starting, 2 bound',
    'publish serving, starting, 2 bound',
    'publish serving, starting, 2 bound',
  ]);
  expect(host.state).toBe('serving');
  expect(await space.traces()).toHaveLength(3);
});

test('[HOST-002] [LOC-060] who sees a host serve finds it in the store as serving', async () => {
  const space = new Space();
  const store = space.store();
  store.inject({ kind: 'delay', at: 'request', ms: 30 }, 'commit'); // each write takes its time
  const server = space.server(() => 'found', {}, store);
  await server.start();
  const client = space.client();
  await client.start();
  expect(await ask(client, 1)).toBe('found');
});

test('[HOST-002] a store that does not take the last word delays serving by one call at most', async () => {
  const space = new Space();
  const store = space.store();
  // No renewal comes in between.
  const location = { ownerLeaseTtlMs: 120_000, ownerLeaseRenewIntervalMs: 60_000, ownerLeaseRenewTimeoutMs: 100 };
  const server = space.server(() => 1, { location }, store);
  let callsBefore = 0;
  server.addHostedService({
    start: async () => {
      store.inject({ kind: 'hold', at: 'request' }, 'commit');
      callsBefore = store.calls.commit;
    },
    stop: () => store.heal(),
  });
  const since = performance.now();
  await server.start();
  expect(server.state).toBe('serving');
  expect(store.calls.commit - callsBefore).toBe(1);
  expect(performance.now() - since).toBeLessThan(100 + slackMs); // without a limit it would wait for ever
});

test('[LOC-004] a store that is away when a host starts is tried again', async () => {
  const space = new Space();
  const events: string[] = [];
  const store = space.store();
  store.inject({ kind: 'fail' }, 'open', 2);
  store.inject({ kind: 'loseReply' }, 'commit', 1);
  let fails = 2;
  const relocation = recordedRelocationStore(events, {
    open: () => (fails-- > 0 ? Promise.reject(new StoreError('unavailable', 'notApplied', 'away')) : Promise.resolve()),
  });
  const host = space.server(() => 1, {}, store).addRelocationStore(relocation);
  await host.start();
  expect([host.state, store.calls.open, events.length]).toEqual(['serving', 3, 3]);
});

test('[LOC-004] a store that stays away for 10 s ends the start with Unavailable, and nothing was bound', async () => {
  const port = await quietPort();
  const [away, silent, deaf] = [new Space().store(), new Space().store(), new Space().store()];
  away.inject({ kind: 'fail' }, 'open');
  silent.inject({ kind: 'hold', at: 'request' }, 'open');
  deaf.inject({ kind: 'fail' }, 'commit'); // opens, and takes no lease
  const events: string[] = [];
  const down = recordedRelocationStore(events, { open: () => Promise.reject(new Error('connect ECONNREFUSED')) });
  const hanging = recordedRelocationStore(events, { open: () => new Promise(() => undefined) });
  const space = new Space();
  const hosts = [
    makeHost().addLocationStore(away),
    makeHost().addLocationStore(silent),
    makeHost().addLocationStore(deaf),
    space.host().addRelocationStore(down),
    makeHost().addRelocationStore(hanging),
  ];
  const since = performance.now();
  const errors = await Promise.all(hosts.map((host) => rejection(addServer(host, port).start())));
  const tookMs = performance.now() - since;
  expect(tookMs).toBeGreaterThanOrEqual(9_900);
  expect(tookMs).toBeLessThan(13_000 + slackMs);
  for (const [at, { kind, message }] of errors.entries()) {
    expect([kind, message]).toEqual(['Unavailable', expect.stringMatching(/(location|relocation) store.* 10000 ms/)]);
    expect([hosts[at]?.state, hosts[at]?.query.listeners()]).toEqual(['error', []]);
  }
  expect(errors[3]?.message).toContain('ECONNREFUSED');
  expect(await isFree(port)).toBe(true);
  for (const store of [away, silent, deaf]) expect(store.calls.dispose).toBe(1);
  expect(events.filter((event) => event === 'dispose relocation store')).toHaveLength(2);
  expect(await space.traces()).toEqual([]); // the lease that was taken before is given back
  silent.heal();
}, 120_000);

test('[LOC-004] a store that holds what is none of ours is a mistake, at once', async () => {
  const port = await quietPort();
  const store = new Space().store();
  const error = new StoreError('incompatible', 'notApplied', 'its schema is 9');
  store.inject({ kind: 'fail', error }, 'open');
  expect(await problems(addServer(makeHost().addLocationStore(store), port).start())).toEqual([
    'location store: its schema is 9',
  ]);
  const relocation = recordedRelocationStore([], { open: () => Promise.reject(error) });
  expect(await problems(addServer(makeHost().addRelocationStore(relocation), port).start())).toEqual([
    'relocation store: its schema is 9',
  ]);
  expect([store.calls.open, store.calls.dispose, await isFree(port)]).toEqual([1, 1, true]);
});

test('[LOC-004] [C25] an abort ends the wait for a store, also for one that hangs', async () => {
  const stores = [new Space().store(), new Space().store(), new Space().store()];
  stores[0]?.inject({ kind: 'fail' }, 'open');
  stores[1]?.inject({ kind: 'hold', at: 'request' }, 'open');
  stores[2]?.inject({ kind: 'hold', at: 'reply' }, 'commit');
  const port = await quietPort();
  const reason = new Error('changed my mind');
  const ends = stores.map(async (store, at) => {
    const controller = new AbortController();
    const host = addServer(makeHost().addLocationStore(store), port);
    const starting = watch(host.start(controller.signal));
    await until(() => store.calls[at === 2 ? 'commit' : 'open'] > 0, 'the store is asked');
    controller.abort(reason);
    await until(() => starting.state === 'rejected', 'the start ends');
    expect(starting.value).toBe(reason);
    expect([host.state, store.calls.dispose]).toEqual(['error', 1]);
    store.heal();
  });
  await Promise.all(ends);
  expect(await isFree(port)).toBe(true);
});

test('[C25] a shutdown while the store is waited for ends the start', async () => {
  const store = new Space().store();
  store.inject({ kind: 'hold', at: 'request' }, 'open');
  const host = makeHost().addLocationStore(store);
  const starting = watch(host.start());
  await until(() => store.heldCount === 1, 'the store is asked');
  expect(await host.shutdown()).toEqual({ outcome: 'stopped', reason: 'none' });
  expect([starting.value, host.state, store.calls.dispose]).toMatchObject([{ kind: 'ShuttingDown' }, 'stopped', 1]);
  store.heal();
});

/** Every point at which a start may be given up: with the commits of lease and descriptors, in services, at the end. */
test.each(Array.from({ length: 8 }, (_, at) => at))(
  '[C25] [LOC-055] a start that is given up at its step %d leaves nothing to others',
  async (step) => {
    const space = new Space();
    const port = await quietPort();
    const controller = new AbortController();
    const inner = space.store();
    let steps = 0;
    const count = (): void => {
      if (steps++ === step) controller.abort(new Error('changed my mind'));
    };
    const host = addServer(makeHost({ location: { pollingIntervalMs: 20 } }), port);
    host.addLocationStore(watchedStore(inner, (event) => event !== 'remove' && event !== 'release' && count()));
    host.addRouteMesh(MESH);
    host.addHostedService({ start: async () => count(), stop: () => undefined });
    await host.start(controller.signal).catch(() => undefined); // how it ended is in its state
    const isServing = host.state === 'serving';
    expect([host.state, await isFree(port)]).toEqual(isServing ? ['serving', false] : ['error', true]);
    if (step < 7) expect(isServing).toBe(false);
    await host.shutdown();
    expect([await space.traces(), inner.calls.dispose, await isFree(port)]).toEqual([[], 1, true]);
  },
);

test('[HOST-004] a service calls other hosts that it found by itself, in its start', async () => {
  const space = new Space();
  const server = space.server((asked) => `${String(asked)} answered`);
  const node = space.node('lobby');
  await Promise.all([server.start(), node.start()]);
  const answers: unknown[] = [];
  const host = space.host();
  host.addClientServerChannel(CHANNEL).client();
  host.addRouteMesh(MESH);
  host.addHostedService({
    start: async (signal) => {
      await host.routeMesh(MESH).whenReady(1, signal);
      answers.push(await ask(host, 'from start', signal));
      const rid = node.routeMesh(MESH).routingId;
      answers.push(await host.routeClient.requestToNode(MESH, rid, Ask(1)).submit(signal));
    },
    stop: () => undefined,
  });
  await host.start();
  expect(answers).toEqual(['from start answered', 'lobby']);
});

test('[HOST-003] [HOST-004] a host starts alone, and refuses until it serves; who waits for it is served then', async () => {
  const space = new Space();
  const gate = new Gate();
  const server = space.server(() => 'served');
  server.addHostedService({ start: () => gate.opened, stop: () => undefined });
  const client = space.client();
  await client.start(); // nobody is there
  expect(client.state).toBe('serving');
  const starting = server.start();
  const answer = watch(ask(client, 1));
  await until(() => client.clientServerChannel(CHANNEL).servers()[0]?.state === 'admitted', 'the client has found it');
  expect([answer.state, server.state]).toEqual(['pending', 'starting']);
  gate.open();
  await starting;
  await until(() => answer.state === 'resolved', 'the waiting call is served');
  expect(answer.value).toBe('served');
});

test('[HOST-005] a service that fails to start ends the host, and others never hear that it serves', async () => {
  const space = new Space();
  const events: string[] = [];
  const cause = new Error('no database');
  const host = space.host(
    {},
    watchedStore(space.store(), (event) => events.push(event)),
  );
  addServer(host, 0);
  host.addHostedService({ start: async () => undefined, stop: () => void events.push('stop of the first') });
  host.addHostedService({ start: () => Promise.reject(cause), stop: () => void events.push('stop of the second') });
  expect(await thrown(host.start())).toMatchObject({ kind: 'InternalFailure', cause });
  expect(host.state).toBe('error');
  expect(events).toEqual(['open', 'lease', 'publish starting', 'stop of the first', 'remove', 'release', 'dispose']);
});

test('[HOST-009] each mistake of discovery keeps the store untouched', async () => {
  const store = createMemoryLocationStore(createMemoryStoreBackend());
  const events: string[] = [];
  const host = makeHost({ location: { ownerLeaseTtlMs: 0 }, applicationVersion: 0n, maintenanceWave: '' });
  host.addLocationStore(watchedStore(store, (event) => events.push(event)));
  expect(await problems(host.start())).toHaveLength(3);
  expect(events).toEqual(['dispose']);
});
