/**
 * A host of the fleet: a node of the mesh and a server of the channel, which knows the store and nobody else.
 *
 * Owns one host. It is the same whether the host has a process of its own or shares one; leaves that to who starts it.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { createHost, type Host, type HostOptions, type LocationStore } from '@zlink/framework';
import { verbCountsOf } from '../calls.ts';
import { Book, DEPOT, FLEET, Load, RIDE } from './contracts.ts';
import type { Departure, HostCounts } from './reports.ts';
import { loadMs, location } from './timing.ts';

const meetWithinMs = 10_000;

export interface FleetPartOptions {
  readonly name: string;
  readonly store: LocationStore;
  /** Beside those of the fleet. */
  readonly options?: HostOptions;
}

/** As every host of the fleet begins, the caller, too. */
export function describeHost({ store, options }: FleetPartOptions): Host {
  return createHost({ location, network: { bindHost: '127.0.0.1' }, ...options }).addLocationStore(store);
}

export class FleetHost {
  readonly #host: Host;

  constructor(part: FleetPartOptions, weight: number) {
    const { name } = part;
    this.#host = describeHost(part);
    this.#host
      .addRouteMesh(FLEET)
      .setRoutingIdPrefix(name)
      .channel(RIDE)
      .server()
      .setWeight(weight)
      .addRequestHandler(Book, ({ id }) => ({ id, by: name }));
    this.#host
      .addClientServerChannel(DEPOT)
      .server()
      .routingId(name)
      .addRequestHandler(Load, async ({ id }, { signal }) => {
        await delay(loadMs, undefined, { signal });
        return { id, by: name };
      });
  }

  start(): Promise<void> {
    return this.#host.start();
  }

  /** Resolves when it is connected with so many other nodes. */
  meet(count: number): Promise<void> {
    return this.#host.routeMesh(FLEET).whenReady(count, AbortSignal.timeout(meetWithinMs));
  }

  weigh(weight: number): void {
    this.#host.routeMesh(FLEET).channel(RIDE).setWeight(weight);
  }

  counts(): HostCounts {
    return { rides: verbCountsOf(this.#host, RIDE, 'request'), loads: verbCountsOf(this.#host, DEPOT, 'request') };
  }

  /** Ends in order: nothing new, what was accepted to its end. */
  async leave(): Promise<Departure> {
    const { outcome } = await this.#host.shutdown();
    return { outcome, counts: this.counts() };
  }

  /** For when nobody waits for an orderly end any more. */
  async abandon(deadlineMs: number): Promise<void> {
    await this.#host.shutdown({ deadlineMs });
  }
}
