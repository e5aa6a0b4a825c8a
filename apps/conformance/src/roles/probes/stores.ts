/** Looks at what hosts do with their stores, in hosts of its own. */
import {
  type ChannelContext,
  ConfigurationError,
  createHost,
  createMemoryLocationStore,
  createMemoryRelocationStore,
  createMemoryStoreBackend,
  type Host,
  type LocationStore,
  type RelocationStore,
  request,
} from '@zlink/framework';
import { createRedisLocationStore, createRedisRelocationStore } from '@zlink/location-redis';
import { createFaultyLocationStore } from '@zlink/testing';
import { Redis } from 'ioredis';
import { errorFacts } from '../facts.ts';
import type { ProbeSite } from '../probes.ts';

const Ask = request<number, number>('probe.ask');

interface Warning {
  readonly eventId?: string;
}

function makeHost(records: Warning[] = []): Host {
  const keep = (record: object): void => void records.push(record);
  const logger = { debug: () => undefined, info: () => undefined, warn: keep, error: keep };
  const host = createHost({ logger, testing: { allowSeveralHosts: true } });
  const answer = (number: number, _context: ChannelContext): number => number;
  host.addClientServerChannel('stores').server().addRequestHandler(Ask, answer);
  return host;
}

async function problemsOf(describe: (host: Host) => void): Promise<readonly string[]> {
  const host = makeHost();
  try {
    describe(host);
    await host.start();
    return [];
  } catch (error) {
    if (!(error instanceof ConfigurationError)) return [`no ConfigurationError: ${errorFacts(error).message}`];
    if (host.query.listeners().length > 0) return ['a port was opened'];
    return error.problems;
  } finally {
    await host.shutdown();
  }
}

const location = (): LocationStore => createMemoryLocationStore(createMemoryStoreBackend());
const relocation = (): RelocationStore => createMemoryRelocationStore(createMemoryStoreBackend());

function altered<S extends object>(store: S, capabilities: object): S {
  return new Proxy(store, {
    get: (target, name) => {
      if (name === 'capabilities') return capabilities;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

/** How many mistakes each wrong registration is told of. */
export async function storeMistakes(_site: ProbeSite): Promise<Record<string, number>> {
  const anything = (value: unknown): never => value as never; // what plain JavaScript may pass
  const one = location();
  const count = async (describe: (host: Host) => void): Promise<number> => (await problemsOf(describe)).length;
  const lacking = (flag: string): Promise<number> => {
    const store = location();
    return count((host) => host.addLocationStore(altered(store, { ...store.capabilities, [flag]: false })));
  };
  const shared = location();
  return {
    twoOfEach: await count((host) =>
      host
        .addLocationStore(location())
        .addLocationStore(location())
        .addRelocationStore(relocation())
        .addRelocationStore(relocation()),
    ),
    sameTwice: await count((host) => host.addLocationStore(one).addLocationStore(one)),
    noStore: await count((host) => host.addLocationStore(anything(7)).addRelocationStore(anything({}))),
    theOtherKind: await count((host) =>
      host.addLocationStore(anything(relocation())).addRelocationStore(anything(location())),
    ),
    withoutCompareAndSet: await lacking('compareAndSet'),
    withoutStoreClock: await lacking('storeClock'),
    withoutOperationReplay: await lacking('operationReplay'),
    sharedBesideProcess: await count((host) =>
      host
        .addLocationStore(altered(shared, { ...shared.capabilities, scope: 'shared' }))
        .addRelocationStore(relocation()),
    ),
    sound: await count((host) => host.addLocationStore(location()).addRelocationStore(relocation())),
  };
}

/** How often a store was opened and disposed of, however its host ends. */
export async function storeLives(
  _site: ProbeSite,
): Promise<Record<string, readonly [opened: number, disposed: number]>> {
  const lives: Record<string, readonly [number, number]> = {};
  const live = async (name: string, run: (host: Host, store: LocationStore) => Promise<unknown>): Promise<void> => {
    const store = createFaultyLocationStore(location());
    const host = makeHost();
    await run(host.addLocationStore(store), store).catch(() => undefined);
    await host.shutdown();
    await host.shutdown();
    lives[name] = [store.calls.open, store.calls.dispose];
  };
  await live('served', (host) => host.start());
  await live('never started', async () => undefined);
  await live('refused', (host) => host.addLocationStore(location()).start());
  await live('failed service', (host) => {
    const fails = { start: () => Promise.reject(new Error('as asked')), stop: () => undefined };
    return host.addHostedService(fails).start();
  });
  return lives;
}

/** Warnings of a start with a store of one process. */
export async function processLocalWarnings(_site: ProbeSite): Promise<number> {
  const records: Warning[] = [];
  const host = makeHost(records).addLocationStore(location());
  await host.start();
  await host.shutdown();
  return records.filter(({ eventId }) => eventId === 'zlink.location.process_local_store').length;
}

/** Two stores over one client of the application: whether it still works when the host has ended. */
export async function sharedClient(_site: ProbeSite, url: string, keyPrefix: string): Promise<string> {
  const client = new Redis(url, { lazyConnect: true });
  client.on('error', () => undefined);
  const connection = { client };
  const host = makeHost()
    .addLocationStore(createRedisLocationStore({ keyPrefix, connection }))
    .addRelocationStore(createRedisRelocationStore({ keyPrefix, connection }));
  await host.start();
  await host.shutdown();
  const pong = await client.ping();
  await client.quit();
  return pong;
}

/** Options of a Redis store that no start waits for. */
export async function redisOptionMistakes(_site: ProbeSite): Promise<number> {
  const connection = { url: 'redis://127.0.0.1:1' };
  const anything = (value: unknown): never => value as never; // what plain JavaScript may pass
  let refused = 0;
  for (const options of [
    { keyPrefix: '', connection },
    { keyPrefix: 'a{b}', connection },
    { keyPrefix: 'x'.repeat(129), connection },
    { keyPrefix: 'x', connection, operationTimeoutMs: 0 },
    { keyPrefix: 'x', connection, replicaAcks: -1 },
    { keyPrefix: 'x', connection, replicaAcks: 1, replicaAckTimeoutMs: 2_000 },
    { keyPrefix: 'x', connection: 7 },
    { keyPrefix: 'x', connection, prefix: 'y' },
  ]) {
    try {
      createRedisLocationStore(anything(options));
    } catch (error) {
      if (error instanceof ConfigurationError) refused++;
    }
  }
  return refused;
}
