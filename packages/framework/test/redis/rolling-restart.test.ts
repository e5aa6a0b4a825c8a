/** Servers that find and are found through Redis are replaced one after the other while they are called all the time. */
import { setTimeout as rest } from 'node:timers/promises';
import { jest } from '@jest/globals';
import { type RedisServer, startRedisServer } from '@zlink/testing';
import { endChildren } from '../faults/fault-child.ts';
import { eventually } from './eventually.ts';
import { endHosts, expectOnce, MESH_CALLS, reaches, SERVERS, startHost, type StoreHost } from './store-hosts.ts';
import { StoreView } from './store-view.ts';

jest.setTimeout(120_000);

const location = { pollingIntervalMs: 200 };
const PLACES = [1, 2, 3];
const KINDS = [SERVERS, ...MESH_CALLS];
/** So many that at any moment some calls are on their way. */
const CALLERS_OF_A_KIND = 40;
/** For what was under way to a server when it took weight 0, as docs/operating.md has it; a busy machine is late. */
const MOMENT_MS = 3_000;

let redis: RedisServer;
let view: StoreView;

beforeEach(async () => {
  redis = await startRedisServer();
  view = await StoreView.open(redis.url, 'game');
});

afterEach(async () => {
  await endChildren();
  await view.close();
  await redis.close();
});

const storeOf = ({ url }: RedisServer) => ({ connection: { url }, keyPrefix: 'game' });

function startServer(place: number, name: string): Promise<StoreHost> {
  const serves = { routingId: `billing-${place}` };
  return startHost({ name: `${name} ${place}`, store: storeOf(redis), location, mesh: 'server', serves });
}

/** Ends a server without a failed call; resolves with what it has handled. */
async function retire(server: StoreHost): Promise<readonly string[]> {
  await server.ask('setWeight', 0);
  await rest(MOMENT_MS);
  const handled = await server.ask('handled');
  await endHosts([server]);
  return handled;
}

test.each([
  ['before its successor starts', false],
  ['once its successor serves under the same RID', true],
] as const)(
  '[CS-009] [CS-013] [LOC-055] each server ends %s: no call fails, every new one takes part',
  async (_, overlap) => {
    const old = await Promise.all(PLACES.map((place) => startServer(place, 'old')));
    const client = await startHost({ name: 'client', store: storeOf(redis), location, mesh: 'client', calls: true });
    await Promise.all([client.ask('serversReady', 3), client.ask('peersReady', 3)]);
    await client.ask(
      'load',
      KINDS.flatMap((kind) => new Array<typeof kind>(CALLERS_OF_A_KIND).fill(kind)),
    );

    const next: StoreHost[] = [];
    const handledByOld: string[] = [];
    const retireOld = async (at: number): Promise<void> => void handledByOld.push(...(await retire(old[at]!)));
    for (const [at, place] of PLACES.entries()) {
      if (!overlap) await retireOld(at);
      const successor = await startServer(place, 'new');
      next.push(successor);
      for (const kind of [SERVERS, MESH_CALLS[0]!]) await reaches(client, kind, `new ${place}`);
      if (overlap) await retireOld(at);
    }

    const ends = await client.ask('finish', KINDS);
    await expectOnce(next, ends);
    const handled = [...handledByOld, ...(await Promise.all(next.map((server) => server.ask('handled')))).flat()];
    expect(new Set(handled).size).toBe(handled.length);
    const names = ['new', 'old'].flatMap((name) => PLACES.map((place) => `${name} ${place}`));
    for (const { by } of ends.slice(0, 2)) expect(Object.keys(by).sort()).toEqual(names); // of requests
    const known = async (): Promise<number> =>
      (await client.ask('serverRids')).length + (await client.ask('peerRids')).length;
    await eventually(async () => (await known()) === 2 * PLACES.length, 'the old ones are forgotten');
    await endHosts([...next, client]);
    expect(await view.traces()).toEqual([]);
  },
);
