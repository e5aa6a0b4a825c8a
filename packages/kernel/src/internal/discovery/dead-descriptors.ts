/**
 * Descriptors of runs that are over: whoever sees that an owner was absent for a whole ttl removes what it left (LOC-063).
 *
 * Owns which are due, and their removal. Leaves who is absent, and since when, to lease-view.ts.
 *
 * 1. A removal is conditional on the descriptor as it was read, and on the absence of its owner's lease: it never removes
 *    what an owner put back. Of several hosts one succeeds; a conflict is an answer like any other (LOC-054).
 * 2. Each waits for a random part of 2 s, so that hosts do not all remove at once.
 * 3. Without admission nothing is removed (LOC-052); after a failure of the store the next sweep goes on.
 */
import { isStoreError, leaseKey, type StoreMutation } from '../../location/index.ts';
import { errorText, type RateLimitedLog } from '../../observe/index.ts';
import type { Clock, RandomSource } from '../time/index.ts';
import type { TopologyKind } from './discovery.ts';
import type { LeaseView } from './lease-view.ts';
import { CALL_TIMEOUT_MS, type LocationTiming } from './location-timing.ts';
import type { OwnerLease } from './owner-lease.ts';
import type { StoreCalls } from './store-calls.ts';
import type { WatchedTopology } from './watched-topology.ts';

const jitterMs = 2_000;
const atOnce = 100;

interface DeadDescriptorsOptions {
  readonly calls: Pick<StoreCalls, 'attempt'>;
  readonly leases: Pick<LeaseView, 'absentSinceMs'>;
  readonly lease: Pick<OwnerLease, 'ownerId' | 'isOpen'>;
  readonly timing: LocationTiming;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly log: RateLimitedLog;
}

interface DeadDescriptor {
  readonly key: string;
  readonly version: bigint;
  readonly ownerId: string;
  readonly stampKey: string;
}

export class DeadDescriptors {
  readonly #options: DeadDescriptorsOptions;
  /** When each is removed, by key. */
  #dueAtMs: ReadonlyMap<string, number> = new Map();
  #isRemoving = false;
  #isStopped = false;

  constructor(options: DeadDescriptorsOptions) {
    this.#options = options;
  }

  /** Removes in the background what is due among `watched`. */
  sweep(watched: Iterable<Pick<WatchedTopology<TopologyKind>, 'entries' | 'stampKey'>>): void {
    const { clock, random } = this.#options;
    const nowMs = clock.nowMs();
    const dead = [...watched].flatMap((topology) => this.#deadOf(topology, nowMs));
    const before = this.#dueAtMs;
    this.#dueAtMs = new Map(dead.map(({ key }) => [key, before.get(key) ?? nowMs + random() * jitterMs])); // 2
    const due = dead.filter(({ key }) => (this.#dueAtMs.get(key) ?? Infinity) <= nowMs).slice(0, atOnce);
    if (due.length > 0 && !this.#isRemoving) void this.#remove(due);
  }

  stop(): void {
    this.#isStopped = true;
  }

  #deadOf(
    { entries, stampKey }: Pick<WatchedTopology<TopologyKind>, 'entries' | 'stampKey'>,
    nowMs: number,
  ): DeadDescriptor[] {
    const { leases, lease, timing } = this.#options;
    const dead: DeadDescriptor[] = [];
    for (const [key, { version, descriptor }] of entries) {
      if (descriptor === undefined || descriptor.ownerId === lease.ownerId) continue;
      const absentSinceMs = leases.absentSinceMs(descriptor.ownerId);
      if (absentSinceMs === undefined || nowMs - absentSinceMs < timing.ownerLeaseTtlMs) continue;
      dead.push({ key, version, ownerId: descriptor.ownerId, stampKey });
    }
    return dead;
  }

  async #remove(due: readonly DeadDescriptor[]): Promise<void> {
    const { calls, lease, log } = this.#options;
    this.#isRemoving = true;
    try {
      for (const { key, version, ownerId, stampKey } of due) {
        if (this.#isStopped || !lease.isOpen) return; // 3
        const stamp: StoreMutation = { kind: 'put', key: stampKey, value: new Uint8Array(0) };
        const change = {
          conditions: [
            { kind: 'version', key, version },
            { kind: 'absent', key: leaseKey(ownerId) }, // 1
          ],
          mutations: [{ kind: 'delete', key }, stamp],
        } as const;
        await calls.attempt(change, CALL_TIMEOUT_MS);
      }
    } catch (error) {
      if (isStoreError(error)) return; // 3: the health of the store tells of it
      log.error('poll_failed', { eventId: 'zlink.location.poll_failed', error: errorText(error) });
    } finally {
      this.#isRemoving = false;
    }
  }
}
