/**
 * What a peer process does: opens one end, loads it or counts on it.
 *
 * Owns the end and the running load. Leaves the channel to the coordinator to `answering.ts`.
 *
 * 1. One end per process; a command that needs the other one is an error.
 */
import { createCargo } from './cargo.ts';
import { calls, type EndlessLoad, flood, pace, stream } from './load.ts';
import { machineNowMs } from './machine-clock.ts';
import { Meter } from './meter.ts';
import type { Commands, PeerSample, WorkSpec } from './peer-commands.ts';
import { collectGarbage, countDescriptors } from './process-facts.ts';
import type { Performance } from './question.ts';
import { loadSide } from './sides/load-side.ts';
import type { ClientEnd, ServerEnd, Work } from './sides/side.ts';

export class PeerStage implements Performance<Commands> {
  readonly #meter = new Meter(machineNowMs);
  #server: ServerEnd | undefined;
  #client: { readonly end: ClientEnd; readonly work: Work } | undefined;
  #load: EndlessLoad | undefined;

  async openServer({ side, work }: Commands['openServer']['args']): Promise<Commands['openServer']['result']> {
    const loaded = await loadSide(side);
    this.#server = await loaded.openServer(workOf(work), this.#meter.tick);
    return { address: this.#server.address };
  }

  async openClient({ side, work: spec, address }: Commands['openClient']['args']): Promise<undefined> {
    const loaded = await loadSide(side);
    const work = workOf(spec);
    this.#client = { end: await loaded.openClient(work, address), work };
    return undefined;
  }

  async arm({ count }: Commands['arm']['args']): Promise<undefined> {
    this.#meter.arm(count);
    return undefined;
  }

  async counted(): Promise<Commands['counted']['result']> {
    return { lastAtMs: await this.#meter.finished() };
  }

  async window(): Promise<Commands['window']['result']> {
    return { windowBytes: this.#server?.windowBytes };
  }

  async stream({ count }: Commands['stream']['args']): Promise<Commands['stream']['result']> {
    const { end, work } = this.#requireClient();
    const startedAtMs = machineNowMs();
    await stream(end, work.cargo, count);
    return { startedAtMs };
  }

  async calls(plan: Commands['calls']['args']): Promise<Commands['calls']['result']> {
    const { end, work } = this.#requireClient();
    return await calls(end, work.cargo, plan);
  }

  async flood(): Promise<undefined> {
    const { end, work } = this.#requireClient();
    this.#load = flood(end, work.cargo);
    return undefined;
  }

  async pace({ operationsPerSecond }: Commands['pace']['args']): Promise<undefined> {
    const { end, work } = this.#requireClient();
    this.#load = pace(end, work.cargo, operationsPerSecond);
    return undefined;
  }

  async progress(): Promise<Commands['progress']['result']> {
    return { sentCount: this.#load?.sentCount ?? 0 };
  }

  async rest(): Promise<Commands['rest']['result']> {
    const load = this.#load;
    this.#load = undefined;
    return (await load?.rest()) ?? { sentCount: 0 };
  }

  async sample(): Promise<PeerSample> {
    await collectGarbage();
    const { rss, heapUsed, external } = process.memoryUsage();
    return {
      rssBytes: rss,
      heapBytes: heapUsed,
      heldBytes: heapUsed + external,
      descriptorCount: countDescriptors(),
      seenCount: this.#meter.seen,
    };
  }

  async close(): Promise<undefined> {
    await this.#client?.end.close();
    await this.#server?.close();
    return undefined;
  }

  #requireClient(): { readonly end: ClientEnd; readonly work: Work } {
    if (this.#client === undefined) throw new Error('this peer holds no client'); // 1
    return this.#client;
  }
}

function workOf({ verb, cargo }: WorkSpec): Work {
  return { verb, cargo: createCargo(cargo) };
}
