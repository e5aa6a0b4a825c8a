/**
 * How long it takes until others see what becomes of a server: a new weight, its start, its end in order, its death.
 *
 * Owns what happens when. Leaves hosts and looking to the processes that hold them.
 *
 * 1. Who looks runs all the time and keeps what it saw; it is asked afterwards, so that asking delays nothing.
 * 2. Polls and renewals have a beat: events are spread over it, not begun in step with it.
 */
import { median } from '../figures.ts';
import { machineNowMs } from '../machine-clock.ts';
import { type HostPeer, pause, startHostPeer } from './host-peer.ts';
import type { Wanted } from './journal.ts';

export interface Delay {
  readonly what: string;
  readonly valuesMs: readonly number[];
}

export interface DelaySummary {
  readonly what: string;
  readonly count: number;
  readonly medianMs: number;
  readonly lowestMs: number;
  readonly highestMs: number;
}

/** At the defaults: how often stamps are read, and leases. */
const pollBeatMs = 1_000;
const leaseBeatMs = 5_000;
/** A weight is quickly changed; the rest takes seconds. */
const weightsPerRepeat = 3;

class Delays {
  readonly #values = new Map<string, number[]>();

  add(what: string, valueMs: number): void {
    const values = this.#values.get(what) ?? [];
    values.push(valueMs);
    this.#values.set(what, values);
  }

  all(): readonly Delay[] {
    return [...this.#values].map(([what, valuesMs]) => ({ what, valuesMs }));
  }
}

interface Stage {
  readonly url: string;
  readonly repeats: number;
  readonly client: HostPeer;
  readonly view: HostPeer;
  readonly delays: Delays;
  /** All that run; whoever ends takes itself out. */
  readonly servers: Set<HostPeer>;
}

export async function measureDelays(url: string, repeats: number): Promise<readonly Delay[]> {
  const [client, view] = [startHostPeer('client'), startHostPeer('view')];
  const stage: Stage = { url, repeats, client, view, delays: new Delays(), servers: new Set() };
  try {
    await Promise.all([client.ask('watch', { url, what: 'servers' }), view.ask('watch', { url, what: 'view' })]);
    await changeWeights(stage);
    await startAndStop(stage);
    await kill(stage);
    return stage.delays.all();
  } finally {
    await Promise.all([...stage.servers].map((server) => server.end()));
    await Promise.all([client.end(), view.end()]);
  }
}

async function changeWeights(stage: Stage): Promise<void> {
  const { client, view, delays, repeats } = stage;
  const { server, endpoint } = await startServer(stage);
  for (let index = 0; index < repeats * weightsPerRepeat; index++) {
    await pause(spreadMs(index, pollBeatMs)); // 2
    const weight = 200 + index;
    const { atMs } = await server.ask('setWeight', { weight });
    const [linkMs, viewMs] = await Promise.all([client, view].map((who) => delay(who, endpoint, { weight }, atMs)));
    delays.add('weight changed: seen by a connected client', linkMs!);
    delays.add('weight changed: in the view of the store', viewMs!);
  }
  await endServer(stage, server);
}

async function startAndStop(stage: Stage): Promise<void> {
  const { client, view, delays, repeats } = stage;
  for (let index = 0; index < repeats; index++) {
    await pause(spreadMs(index, pollBeatMs)); // 2
    const { server, endpoint, calledAtMs, startedAtMs } = await startServer(stage);
    const usable = { isUsable: true };
    const [readyMs, servingMs] = await Promise.all(
      [client, view].map((who) => delay(who, endpoint, usable, calledAtMs)),
    );
    delays.add('start() of a server', startedAtMs - calledAtMs);
    delays.add('start() over: ready at a client', readyMs! - (startedAtMs - calledAtMs));
    delays.add('start() over: serves in the view of the store', servingMs! - (startedAtMs - calledAtMs));
    await pause(spreadMs(index, pollBeatMs));
    const stopped = await server.ask('shutdown', undefined);
    delays.add('shutdown(): out of selection at a client', await delay(client, endpoint, unusable, stopped.calledAtMs));
    delays.add('shutdown(): gone from the view of the store', await delay(view, endpoint, gone, stopped.calledAtMs));
    delays.add('shutdown() of a server', stopped.endedAtMs - stopped.calledAtMs);
    await endServer(stage, server);
  }
}

async function kill(stage: Stage): Promise<void> {
  const { client, view, delays, repeats } = stage;
  const started = await Promise.all(Array.from({ length: repeats }, () => startServer(stage)));
  const seen = started.map(async ({ server, endpoint }, index) => {
    await pause(spreadMs(index, leaseBeatMs)); // 2
    const atMs = machineNowMs();
    server.kill();
    stage.servers.delete(server);
    delays.add('SIGKILL: out of selection at a client', await delay(client, endpoint, unusable, atMs));
    delays.add('SIGKILL: lease absent in the view of the store', await delay(view, endpoint, unusable, atMs));
    const [fromView, fromClient] = await Promise.all([view, client].map((who) => delay(who, endpoint, gone, atMs)));
    delays.add('SIGKILL: descriptor gone from the view', fromView!);
    delays.add('SIGKILL: no row of the client any more', fromClient!);
  });
  await Promise.all(seen);
}

const unusable: Wanted = { isUsable: false };
const gone: Wanted = { isListed: false };

/** Resolves when it is ready at the client and serves in the view. */
async function startServer({ url, client, view, servers }: Stage) {
  const server = startHostPeer('server');
  servers.add(server);
  const { calledAtMs, startedAtMs, endpoints } = await server.ask('start', { url, roles: ['server'] });
  const endpoint = endpoints[0]!; // of the one server
  await Promise.all([client, view].map((who) => delay(who, endpoint, { isUsable: true }, calledAtMs)));
  return { server, endpoint, calledAtMs, startedAtMs };
}

async function endServer({ servers }: Stage, server: HostPeer): Promise<void> {
  servers.delete(server);
  await server.end();
}

/** From `sinceMs` until `who` saw the server so. */
async function delay(who: HostPeer, endpoint: string, wanted: Wanted, sinceMs: number): Promise<number> {
  return (await who.ask('saw', { endpoint, wanted, sinceMs })).atMs - sinceMs;
}

/** Pauses that fall on all parts of a beat, the same in every run: steps of the golden section. */
export function spreadMs(index: number, beatMs: number): number {
  return ((index * 0.618_034) % 1) * beatMs;
}

export function summarize({ what, valuesMs }: Delay): DelaySummary {
  return {
    what,
    count: valuesMs.length,
    medianMs: median(valuesMs),
    lowestMs: Math.min(...valuesMs),
    highestMs: Math.max(...valuesMs),
  };
}
