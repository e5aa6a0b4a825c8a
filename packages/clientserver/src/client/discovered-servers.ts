/**
 * The servers of one channel that discovery has found.
 *
 * Owns the watch, and which of them the store leaves out of selection. Leaves to the kernel which are dialled and kept, and
 * to the channel client dialling and choosing.
 *
 * 1. What a descriptor says of weight and drain never counts for a connected server: its link says so first (CS-005).
 */
import type { NodeIdentity } from '@zlink/kernel/identity';
import {
  type DiscoveredEndpoint,
  DiscoveredEndpoints,
  type DiscoveredEndpointsOptions,
  type Discovery,
  type NotUsed,
} from '@zlink/kernel/internal/discovery';
import type { LocalServer } from '../local-server.ts';

export interface DiscoveredServersOptions extends Pick<DiscoveredEndpointsOptions<'clientServer'>, 'dial'> {
  readonly channelName: string;
  /** Has an intent of its own, by its local address. */
  readonly local: LocalServer | undefined;
  /** Who is left out may have changed. */
  readonly onView: () => void;
}

export class DiscoveredServers {
  readonly #endpoints: DiscoveredEndpoints<'clientServer'>;
  readonly #local: LocalServer | undefined;
  readonly #unwatch: () => void;

  constructor(discovery: Discovery, { channelName, local, dial, onView }: DiscoveredServersOptions) {
    this.#local = local;
    this.#endpoints = new DiscoveredEndpoints<'clientServer'>({
      dials: ({ rid, lifecycleGeneration: generation }) => !this.#isLocal({ rid, generation }),
      dial,
      hasLink: () => false, // whoever else dialled a server was configured, and is left out by nothing
      onChanged: () => undefined, // a view is looked at as a whole, and what is forgotten besides has no link
    });
    this.#unwatch = discovery.watch({ kind: 'clientServer', name: channelName }, (view) => {
      this.#endpoints.apply(view);
      onView();
    });
  }

  /** Why the store cannot be asked, for people. */
  get problem(): string | undefined {
    return this.#endpoints.problem;
  }

  /** Without the server of this process. */
  all(): readonly DiscoveredEndpoint[] {
    return this.#endpoints.all().filter((endpoint) => !this.#isLocal(endpoint));
  }

  /** Those of `all` with this RID. */
  of(rid: string): readonly DiscoveredEndpoint[] {
    return this.#endpoints.of(rid).filter((endpoint) => !this.#isLocal(endpoint));
  }

  /** No target of selection: its owner has no lease, or its descriptor is gone (LOC-063). */
  isLeftOut(server: NodeIdentity): boolean {
    return this.#endpoints.whyLeftOut(server.rid, server.generation) !== undefined;
  }

  /** Why one of `all` is not chosen, or not dialled, as far as the store says so. */
  reason(server: DiscoveredEndpoint): string | undefined {
    const reason = this.#endpoints.whyNotUsed(server);
    if (reason === 'draining' && server.intent !== undefined) return undefined; // 1
    return reason === undefined ? undefined : TEXTS[reason];
  }

  close(lingerMs: number): Promise<void> {
    this.#unwatch();
    return this.#endpoints.close(lingerMs);
  }

  #isLocal({ rid, generation }: NodeIdentity): boolean {
    return rid === this.#local?.rid && generation === this.#local.generation;
  }
}

const TEXTS: Readonly<Record<NotUsed, string>> = {
  ownerAbsent: 'owner lease absent',
  superseded: 'another generation follows',
  gone: 'descriptor gone',
  draining: 'draining',
  undialled: 'not dialled while the location store is away', // servers dial no clients
};
