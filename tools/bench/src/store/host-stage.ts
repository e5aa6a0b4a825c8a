/**
 * What a process with hosts does: starts them with all options default, and watches others.
 *
 * Owns the hosts and what was seen of others. Leaves when something happens to the coordinator.
 *
 * 1. A view of the store is what a host's discovery gives its topics. Applications cannot see it, so it is taken from
 *    there, without a host around it.
 */
import { createHost, type Host, request } from '@zlink/framework';
import { DEFAULT_LOCATION_TIMING, LocationRuntime, type View } from '@zlink/kernel/internal/discovery';
import { systemClock, systemRandom } from '@zlink/kernel/internal/time';
import type { LocationStore } from '@zlink/kernel/location';
import { createRedisLocationStore } from '@zlink/location-redis';
import { machineNowMs } from '../machine-clock.ts';
import { processorTime } from '../process-facts.ts';
import type { Performance } from '../question.ts';
import { quietLogger } from '../quiet-logger.ts';
import type { HostCommands, HostRole } from './host-commands.ts';
import { Journal, type Sighting } from './journal.ts';

type Commands = HostCommands;

const channelName = 'bench';
const ask = request<number, number>('ask');
const lookEveryMs = 1;
const openLimitMs = 50_000;
const readyLimitMs = 50_000;

export class HostStage implements Performance<HostCommands> {
  readonly #servers: Host[] = [];
  readonly #clients: Host[] = [];
  readonly #journal = new Journal();
  #looking: NodeJS.Timeout | undefined;
  #discovery: LocationRuntime | undefined;

  async start({ url, roles }: Commands['start']['args']): Promise<Commands['start']['result']> {
    let startedAtMs = NaN;
    const calledAtMs = machineNowMs();
    for (const role of roles) {
      await this.#start(url, role);
      if (Number.isNaN(startedAtMs)) startedAtMs = machineNowMs();
    }
    const endpoints = this.#servers.map((host) => host.clientServerChannel(channelName).endpoint ?? '');
    return { calledAtMs, startedAtMs, endpoints };
  }

  async ready({ serverCount }: Commands['ready']['args']): Promise<undefined> {
    const limit = AbortSignal.timeout(readyLimitMs);
    const channels = this.#clients.map((host) => host.clientServerChannel(channelName));
    await Promise.all(channels.map((channel) => channel.whenReady(serverCount, limit)));
    return undefined;
  }

  async watch({ url, what }: Commands['watch']['args']): Promise<undefined> {
    if (what === 'view') return await this.#watchView(url);
    const channel = (await this.#start(url, 'client')).clientServerChannel(channelName);
    this.#looking = setInterval(() => {
      const seen = channel.servers().map(({ endpoint, state, reason, draining, weight }): [string, Sighting] => {
        const isUsable = state === 'ready' && !draining && reason === undefined;
        return [endpoint, { isListed: true, isUsable, weight }];
      });
      this.#journal.note(new Map(seen), machineNowMs());
    }, lookEveryMs);
    return undefined;
  }

  async saw({ endpoint, wanted, sinceMs }: Commands['saw']['args']): Promise<Commands['saw']['result']> {
    return { atMs: await this.#journal.first(endpoint, wanted, sinceMs) };
  }

  async setWeight({ weight }: Commands['setWeight']['args']): Promise<Commands['setWeight']['result']> {
    const [server] = this.#servers;
    if (server === undefined) throw new Error('there is no server here');
    const atMs = machineNowMs();
    server.clientServerChannel(channelName).setWeight(weight);
    return { atMs };
  }

  async shutdown(): Promise<Commands['shutdown']['result']> {
    const calledAtMs = machineNowMs();
    await Promise.all([...this.#servers, ...this.#clients].map((host) => host.shutdown()));
    return { calledAtMs, endedAtMs: machineNowMs() };
  }

  async processorTime(): Promise<Commands['processorTime']['result']> {
    return processorTime();
  }

  async close(): Promise<undefined> {
    clearInterval(this.#looking);
    await this.#discovery?.withdraw(AbortSignal.timeout(openLimitMs));
    await this.#discovery?.close();
    await this.shutdown();
    return undefined;
  }

  async #start(url: string, role: HostRole): Promise<Host> {
    const host = createHost({ logger: quietLogger, testing: { allowSeveralHosts: true } });
    (role === 'server' ? this.#servers : this.#clients).push(host);
    const channel = host.addLocationStore(storeAt(url)).addClientServerChannel(channelName);
    if (role === 'server') channel.server().addRequestHandler(ask, (asked) => asked);
    else channel.client();
    await host.start();
    return host;
  }

  /** 1 */
  async #watchView(url: string): Promise<undefined> {
    this.#discovery = new LocationRuntime({
      store: storeAt(url),
      timing: DEFAULT_LOCATION_TIMING,
      clock: systemClock,
      random: systemRandom,
      logger: quietLogger,
      securityIdentity: undefined,
    });
    await this.#discovery.open(AbortSignal.timeout(openLimitMs));
    this.#discovery.watch({ kind: 'clientServer', name: channelName }, (view) => this.#noteView(view));
    return undefined;
  }

  #noteView({ endpoints }: View<'clientServer'>): void {
    const seen = [...endpoints.values()].map(({ descriptor, isOwnerPresent }): [string, Sighting] => {
      const { endpoint, state, weight } = descriptor;
      return [endpoint, { isListed: true, isUsable: isOwnerPresent && state === 'serving', weight }];
    });
    this.#journal.note(new Map(seen), machineNowMs());
  }
}

function storeAt(url: string): LocationStore {
  return createRedisLocationStore({ keyPrefix: 'bench', connection: { url } });
}
