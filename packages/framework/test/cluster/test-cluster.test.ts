/** Hosts of a test cluster: the whole of a host, over a network in memory and by a clock of the test. */
import {
  createCurveKeys,
  createHost,
  type Host,
  type HostOptions,
  message,
  request,
  type ZLinkError,
} from '@zlink/framework';
import { surroundingsIn } from '@zlink/kernel/internal/host';
import { createMemoryLocationStore, createMemoryStoreBackend } from '@zlink/kernel/location';
import { createTestCluster, ManualClock, type TestCluster } from '@zlink/testing';
import { recordedRelocationStore } from '../location/stores.ts';
import { LogRecorder } from '../log-recorder.ts';
import { Witness } from '../monitoring/observing.ts';
import { problems, rejection, thrown, watch } from '../outcome.ts';

const Add = request<{ a: number; b: number }, number>('sums.add');
const Wait = request<null, null>('sums.wait');
const Price = message<number>('prices.changed');

let clock: ManualClock;
let cluster: TestCluster;
let log: LogRecorder;

beforeEach(() => {
  clock = new ManualClock();
  cluster = createTestCluster({ clock });
  log = new LogRecorder();
});

afterEach(async () => {
  await cluster.close();
  expect(clock.pendingTimers).toBe(0);
});

function hostNamed(name: string, options: HostOptions = {}): Host {
  return createHost({ logger: log, ...cluster.hostOptions(name), ...options });
}

function server(name = 'server', options: HostOptions = {}): Host {
  const host = hostNamed(name, options);
  host
    .addClientServerChannel('sums')
    .server()
    .listen(7200)
    .addRequestHandler(Add, ({ a, b }) => a + b)
    .addRequestHandler(Wait, () => new Promise<null>(() => undefined));
  return host;
}

function client(name = 'client', options: HostOptions = {}, ...servers: string[]): Host {
  const host = hostNamed(name, options);
  const role = host.addClientServerChannel('sums').client();
  for (const each of servers.length === 0 ? ['server'] : servers) role.connect(`tcp://${each}:7200`);
  return host;
}

const add = (host: Host): Promise<number> => host.routeClient.requestToChannel('sums', Add({ a: 2, b: 3 })).submit();

const wait = (host: Host): Promise<null> => host.routeClient.requestToChannel('sums', Wait(null)).submit();

/** Deadlines of calls are kept in slots of so many milliseconds, never early. */
const SLOT_MS = 16;

/** The error that ends the call `ms` from now, and not before. */
async function failsAfter(ms: number, call: Promise<unknown>): Promise<Pick<ZLinkError, 'kind' | 'submitted'>> {
  const outcome = watch(call);
  if (ms > 0) await clock.advanceAsync(ms - 1);
  if (ms > 0) expect(outcome.state).toBe('pending');
  await clock.advanceAsync(SLOT_MS);
  expect(outcome.state).toBe('rejected');
  const { kind, submitted } = await rejection(call);
  return { kind, submitted };
}

test('[HOSTREG-001] [HOSTREG-005] hosts with the options of a cluster call each other without a socket, while time stands still', async () => {
  const hosts = [server(), client()] as const;
  await cluster.start(...hosts);
  const startedAtMs = clock.nowMs();
  expect(await add(hosts[1])).toBe(5);
  expect(clock.nowMs()).toBe(startedAtMs);
  expect(hosts[0].query.listeners()).toMatchObject([{ endpoint: 'tcp://server:7200' }]);
  expect(process.getActiveResourcesInfo().filter((kind) => kind.startsWith('TCP'))).toEqual([]);
});

test('[HOSTREG-005] without a clock of its own a cluster has the time of the system', async () => {
  cluster = createTestCluster();
  const both = createHost({ logger: log, ...cluster.hostOptions(), requestTimeoutMs: 20 });
  both
    .addClientServerChannel('sums')
    .server()
    .addRequestHandler(Wait, () => new Promise<null>(() => undefined));
  both.addClientServerChannel('sums').client();
  await cluster.start(both);
  await both.clientServerChannel('sums').whenReady(1); // a call that is still waiting for its server ends as NotFound
  expect((await rejection(wait(both))).kind).toBe('DeadlineExceeded');
  await both.shutdown({ deadlineMs: 20 });
});

test('[HOSTREG-005] hosts of two clusters do not reach each other', async () => {
  const other = createTestCluster({ clock });
  const stranger = createHost({ logger: log, ...other.hostOptions('server') });
  stranger
    .addClientServerChannel('sums')
    .server()
    .listen(7200)
    .addRequestHandler(Add, () => -1);
  await other.start(stranger);
  const lonely = client();
  await cluster.start(lonely);
  expect(await failsAfter(5_000, add(lonely))).toEqual({ kind: 'NotFound', submitted: false });
  await other.close();
});

test('[CALL-003] a request ends when its time is over by the clock of the test, and whoever awaits it has run by then', async () => {
  const caller = client();
  await cluster.start(server(), caller);
  expect(await failsAfter(30_000, wait(caller))).toEqual({ kind: 'DeadlineExceeded', submitted: true });
  let told = '';
  const asked = wait(caller).catch((error: Error) => (told = error.message));
  await clock.advanceAsync(30_000 + SLOT_MS);
  expect(told).toMatch(/^\[DeadlineExceeded\]/);
  await asked;
});

test('[C09] a killed host fails the calls that it has, takes no more, and another one may take its place', async () => {
  const caller = client();
  const first = server();
  await cluster.start(first, caller);
  const running = wait(caller);
  await clock.advanceAsync(0);
  cluster.kill('server');
  expect(await failsAfter(0, running)).toEqual({ kind: 'Unavailable', submitted: true });
  expect(await failsAfter(5_000, add(caller))).toEqual({ kind: 'NotFound', submitted: false });
  const second = server();
  await cluster.start(second);
  const again = add(caller);
  await clock.advanceAsync(5_000);
  expect(await again).toBe(5);
  expect(second.query.counters().find(({ verb }) => verb === 'request')?.handled).toBe(1);
});

test('[C09] a killed host that calls others reaches nobody', async () => {
  const caller = client();
  await cluster.start(server(), caller);
  expect(await add(caller)).toBe(5);
  cluster.kill('client');
  await clock.advanceAsync(0);
  expect((await failsAfter(5_000, add(caller))).kind).toBe('NotFound');
});

test('[C10] a frozen host answers when it is thawed, if nobody has given it up until then', async () => {
  const caller = client();
  await cluster.start(server(), caller);
  await add(caller);
  cluster.freeze('server');
  const call = watch(add(caller));
  await clock.advanceAsync(10_000);
  expect(call.state).toBe('pending');
  cluster.thaw('server');
  await clock.advanceAsync(0);
  expect(call).toEqual({ state: 'resolved', value: 5 });
});

test('[LIVE-001] a host that stays frozen is given up by the others, as a silent one is', async () => {
  const caller = client();
  await cluster.start(server(), caller);
  await add(caller);
  for (const silence of [() => cluster.freeze('server'), () => cluster.blackhole('server', 'client')]) {
    silence();
    const call = add(caller);
    const outcome = watch(call);
    await clock.advanceAsync(9_000);
    expect(outcome.state).toBe('pending');
    await clock.advanceAsync(11_000);
    expect(await rejection(call)).toMatchObject({ kind: 'Unavailable', submitted: true });
    cluster.restore();
    const again = add(caller);
    await clock.advanceAsync(30_000);
    expect(await again).toBe(5);
  }
});

test('[LIVE-004] liveness may be shorter than it is over sockets', async () => {
  cluster = createTestCluster({ clock, liveness: { probeIntervalMs: 20, deadlineMs: 60 } });
  const caller = client();
  await cluster.start(server(), caller);
  await add(caller);
  cluster.blackhole('client', 'server');
  const call = add(caller);
  const outcome = watch(call);
  await clock.advanceAsync(200);
  expect(outcome.state).toBe('rejected');
  expect((await rejection(call)).kind).toBe('Unavailable');
});

test('[C09] a cut breaks what is between two hosts and nothing else, until it is restored', async () => {
  const near = client('near');
  const far = client('far');
  await cluster.start(server(), near, far);
  await Promise.all([add(near), add(far)]);
  const running = [wait(near), wait(far)] as const;
  const outcome = watch(running[1]);
  await clock.advanceAsync(0);
  cluster.cut('near', 'server');
  expect(await failsAfter(0, running[0])).toEqual({ kind: 'Unavailable', submitted: true });
  expect(await failsAfter(5_000, add(near))).toEqual({ kind: 'NotFound', submitted: false });
  expect(await add(far)).toBe(5);
  expect(outcome.state).toBe('pending');
  cluster.restore();
  const again = add(near);
  await clock.advanceAsync(5_000);
  expect(await again).toBe(5);
  await expect(after(25_000, running[1])).rejects.toThrow('DeadlineExceeded');
});

async function after<T>(ms: number, call: Promise<T>): Promise<T> {
  watch(call);
  await clock.advanceAsync(ms);
  return call;
}

test('[C03] a delay concerns one way between two hosts, to the millisecond', async () => {
  const caller = client();
  await cluster.start(server(), caller);
  await add(caller);
  for (const [from, to] of [
    ['client', 'server'],
    ['server', 'client'],
  ] as const) {
    cluster.delay(from, to, 70);
    const call = watch(add(caller));
    await clock.advanceAsync(69);
    expect(call.state).toBe('pending');
    await clock.advanceAsync(1);
    expect(call).toEqual({ state: 'resolved', value: 5 });
    cluster.restore();
  }
});

test('[CS-002] [LOC-055] hosts find each other in the store of the cluster; what a killed one leaves there expires', async () => {
  const servers = ['one', 'two'].map((name) => {
    const host = hostNamed(name).addLocationStore(cluster.locationStore(name));
    host
      .addClientServerChannel('sums')
      .server()
      .addRequestHandler(Add, ({ a, b }) => a + b);
    return host;
  });
  const caller = hostNamed('client').addLocationStore(cluster.locationStore('client'));
  caller.addClientServerChannel('sums').client();
  await cluster.start(...servers, caller);
  const ready = () =>
    caller
      .clientServerChannel('sums')
      .servers()
      .filter(({ state }) => state === 'ready').length;
  await clock.advanceAsync(1_000);
  expect(await Promise.all([add(caller), add(caller)])).toEqual([5, 5]);
  expect(ready()).toBe(2);
  const left = await leases();
  expect(left).toHaveLength(3);
  cluster.kill('one');
  await clock.advanceAsync(9_000);
  expect([ready(), await leases()]).toEqual([1, left]);
  await clock.advanceAsync(11_000);
  expect(await leases()).toHaveLength(2);
  expect(log.of('zlink.location.process_local_store')).toEqual([]);
});

/** Keys of the hosts that the store of the cluster believes alive. */
async function leases(): Promise<readonly string[]> {
  cluster.hostOptions('onlooker');
  const store = cluster.locationStore('onlooker');
  await store.open();
  const { items } = await store.scan({ prefix: 'l/', limit: 100, keysOnly: true });
  await store.dispose();
  return items.map(({ key }) => key);
}

test('[FAN-001] events reach the subscribers of other hosts, and those of a host that is cut off are lost', async () => {
  const seen: [string, number][] = [];
  const publisher = hostNamed('prices');
  publisher.addFanoutChannel('prices').enablePublisher(7300);
  const subscribers = ['desk', 'board'].map((name) => {
    const host = hostNamed(name);
    const channel = host.addFanoutChannel('prices');
    channel.connect('tcp://prices:7300').addHandler(Price, (price) => void seen.push([name, price]));
    return host;
  });
  await cluster.start(publisher, ...subscribers);
  await after(1_000, publisher.fanoutClient.ready('prices', 2));
  await publisher.fanoutClient.publish('prices', Price(1)).submit();
  await clock.advanceAsync(0);
  cluster.cut('prices', 'desk');
  await publisher.fanoutClient.publish('prices', Price(2)).submit();
  await clock.advanceAsync(0);
  expect(seen.sort()).toEqual([
    ['board', 1],
    ['board', 2],
    ['desk', 1],
  ]);
});

test('[HOSTREG-001] close ends what was started, with handlers that never end, and what is left by a host that hangs in a fault', async () => {
  const caller = client();
  await cluster.start(server(), caller);
  const running = watch(wait(caller));
  await clock.advanceAsync(0);
  cluster.freeze('client');
  cluster.blackhole('server', 'client');
  await cluster.close();
  expect(running.state).toBe('rejected');
  expect(clock.pendingTimers).toBe(0);
  await cluster.close();
});

test('[HOSTREG-001] close names who was not shut down, with what it holds, and frees it', async () => {
  const [forgotten, caller] = [server(), client()] as const;
  await forgotten.start();
  await cluster.start(caller);
  await add(caller);
  const error = await thrown(cluster.close());
  expect(String(error)).toMatch(/^Error: test cluster: host "server" was not shut down \(timers: \d+, listeners: 1\)$/);
  expect(clock.pendingTimers).toBe(0);
  await cluster.close();
  await forgotten.shutdown({ deadlineMs: 10 });
});

test('[HOSTREG-001] a start that fails leaves nothing', async () => {
  const [first, second] = [server('same'), hostNamed('other', { network: { bindHost: 'same' } })] as const;
  second
    .addClientServerChannel('sums')
    .server()
    .listen(7200)
    .addRequestHandler(Add, () => 0);
  const call = thrown(cluster.start(first, second));
  await clock.advanceAsync(0);
  expect(await call).toMatchObject({ kind: 'AlreadyExists' });
});

test('[HOSTREG-003] a cluster says what it was asked wrongly', async () => {
  const options = cluster.hostOptions('server');
  expect(() => cluster.kill('serve')).toThrow('test cluster: there is no host "serve"; hosts: server');
  expect(() => cluster.cut('server', '')).toThrow('there is no host ""');
  expect(() => cluster.locationStore('else')).toThrow('there is no host "else"');
  for (const name of ['', '*', 'a b']) expect(() => cluster.hostOptions(name)).toThrow(`"${name}" is no host name`);
  const [first, twin] = [createHost({ ...options, logger: log }), createHost({ ...options, logger: log })];
  await cluster.start(first);
  expect(() => cluster.hostOptions('server')).toThrow('there is a host "server" that still runs');
  expect(String(await thrown(twin.start()))).toMatch('the options of host "server" are for one host');
  await first.shutdown();
  expect(cluster.hostOptions('server')).toMatchObject({ network: { bindHost: 'server' } });
});

test('[HOSTREG-003] surroundings of anybody else, or with security, are found by the start', async () => {
  const { testing } = cluster.hostOptions();
  const foreign = createHost({ testing: { surroundings: {} as never } });
  expect(await problems(foreign.start())).toEqual([
    'testing.surroundings: object is not allowed, allowed: what createTestCluster of @zlink/testing makes',
  ]);
  const secured = createHost({ testing, security: createCurveKeys() });
  expect(await problems(secured.start())).toEqual([
    'security: the network of a test cluster encrypts nothing; leave security out of such a test',
  ]);
});

test('[HOSTREG-005] [MON-020] all dates that a host tells of are those of the clock of the test', async () => {
  const [answering, caller] = [server('server', { diagnostics: { level: 'normal' } }), client()];
  await cluster.start(answering, caller);
  const startAt = new Date(clock.dateMs());
  expect(startAt.toISOString()).toMatch(/^2030-01-01T00:00:0/);
  expect(answering.query.snapshot().host.lifecycleGeneration).toBeGreaterThanOrEqual(BigInt(Date.UTC(2030, 0, 1)));
  const call = thrown(caller.routeClient.requestToChannel('sums', Wait(null)).submit());
  await clock.advanceAsync(10_000);
  const atMs = clock.dateMs();
  expect(atMs - startAt.getTime()).toBe(10_000);

  const witness = new Witness(answering);
  const ending = answering.shutdown({ deadlineMs: 60_000 });
  await clock.advanceAsync(50_000);
  const { observedAt, host } = answering.query.snapshot();
  expect([observedAt.getTime() - atMs, host.deadline!.getTime() - atMs]).toEqual([50_000, 60_000]);
  await clock.advanceAsync(20_000);
  await Promise.all([ending, witness.ended, call]);
  const statesAt = witness.of('zlink.runtime.host.state_changed').map(({ state, at }) => [state, at.getTime() - atMs]);
  expect(statesAt).toEqual([
    ['draining', 0],
    ['stopped', 60_000],
  ]);
  const [received] = log.of('zlink.message_flow');
  expect(received).toMatchObject({ phase: 'received', timestamp: startAt.toISOString() });
  const flowId = String(received?.['flow_id']).replace('-', ''); // begins with the time at which the flow began
  expect(Number.parseInt(flowId.slice(0, 12), 16)).toBe(startAt.getTime());
});

test('[HOSTREG-005] what hosts leave to chance is the same for the same seed, and not the same for two hosts', () => {
  const drawn = (seed: number): number[] => {
    const one = createTestCluster({ clock, seed });
    return [one.hostOptions(), one.hostOptions()].map(
      ({ testing }) => surroundingsIn(testing.surroundings)?.random() ?? Number.NaN,
    );
  };
  expect(drawn(1)).toEqual(drawn(1));
  expect(drawn(1)).not.toEqual(drawn(7));
  expect(new Set(drawn(1)).size).toBe(2);
});

describe('a host with a store that never ends', () => {
  /** By no means the time of the system. */
  const FAR_BACK_MS = -10_000_000;

  function stuck(): Host {
    clock = new ManualClock(FAR_BACK_MS);
    cluster = createTestCluster({ clock });
    return server()
      .addLocationStore(createMemoryLocationStore(createMemoryStoreBackend()))
      .addRelocationStore(recordedRelocationStore([], { dispose: () => new Promise(() => undefined) }));
  }

  test('[HOST-002] [HOSTREG-005] gives up a failed start by its own clock', async () => {
    const host = stuck().addHostedService({
      start: () => {
        throw new Error('no service');
      },
      stop: () => undefined,
    });
    const started = watch(host.start());
    await clock.advanceAsync(3_000); // more than an undo takes
    expect(started.state).toBe('rejected');
    expect(host.state).toBe('error');
  });

  test('[LOC-003] [HOSTREG-005] ends unstarted by its own clock', async () => {
    const ended = watch(stuck().shutdown());
    await clock.advanceAsync(1_400);
    expect(ended.state).toBe('pending');
    await clock.advanceAsync(200);
    expect(ended.state).toBe('resolved');
  });
});
