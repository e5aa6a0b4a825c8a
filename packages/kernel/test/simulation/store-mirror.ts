/**
 * What stands in the store, reckoned from the commits that were applied and from nothing else.
 *
 * Owns who has a lease until when, and whose descriptor stands where. Knows the rules that every commit must keep:
 *
 * R1 Whoever puts a descriptor has its lease at that moment (LOC-052).
 * R2 The descriptor of a mesh node is put in nobody's place (NET-003), unless the store has lost a later one of whoever puts
 *    it (FAIL-015). Nobody removes one whose owner has a lease, but the owner itself (LOC-054).
 */
import {
  type CommitResult,
  leaseKey,
  meshDescriptor,
  serverDescriptor,
  type StoreBatch,
  type StoreMutation,
} from '../../src/location/index.ts';

const meshes = 'd/m/';

interface Owner {
  readonly id: string;
  readonly version: bigint;
}

type Applied = Extract<CommitResult, { kind: 'applied' }>;

export class StoreMirror {
  /** What broke a rule. */
  readonly faults: string[] = [];
  /** Keys of leases that were absent at some time after they had been there. */
  readonly #everAbsent = new Set<string>();
  #leases = new Map<string, number>();
  #owners = new Map<string, Owner>();
  #saved = { leases: new Map(this.#leases), owners: new Map(this.#owners) };
  /** The last version that each owner has put under a key, lost or not. */
  readonly #put = new Map<string, bigint>();

  /** Until when the store shows the lease; -Infinity: it shows none. */
  leaseEndsAtMs(ownerId: string): number {
    return this.#leases.get(leaseKey(ownerId)) ?? -Infinity;
  }

  ownerOf(descriptorKey: string): string | undefined {
    return this.#owners.get(descriptorKey)?.id;
  }

  wasAbsent(leaseAt: string, nowMs: number): boolean {
    this.noteAbsences(nowMs);
    return this.#everAbsent.has(leaseAt);
  }

  applied(batch: StoreBatch, result: Applied): void {
    this.noteAbsences(result.nowMs);
    for (const mutation of batch.mutations) this.#apply(mutation, batch, result);
  }

  noteAbsences(nowMs: number): void {
    for (const [key, endsAtMs] of this.#leases) if (endsAtMs <= nowMs) this.#end(key);
  }

  lose(): void {
    for (const key of this.#leases.keys()) this.#end(key);
    this.#owners.clear();
    this.save();
  }

  save(): void {
    this.#saved = { leases: new Map(this.#leases), owners: new Map(this.#owners) };
  }

  rollBack(): void {
    for (const key of this.#leases.keys()) this.#end(key); // and those that are there still may have been away
    this.#leases = new Map(this.#saved.leases);
    this.#owners = new Map(this.#saved.owners);
  }

  #apply(mutation: StoreMutation, batch: StoreBatch, result: Applied): void {
    if (mutation.kind === 'add') return;
    const { key } = mutation;
    if (key.startsWith('l/')) {
      if (mutation.kind === 'delete') return this.#end(key);
      if (mutation.kind === 'put' || this.#leases.has(key)) this.#leases.set(key, result.nowMs + (mutation.ttlMs ?? 0));
    } else if (key.startsWith('d/')) {
      if (mutation.kind === 'put') this.#publish(key, mutation.value, result);
      if (mutation.kind === 'delete') this.#remove(key, batch);
    }
  }

  #publish(key: string, value: Uint8Array, { version, nowMs }: Applied): void {
    const isMesh = key.startsWith(meshes);
    const { ownerId: id } = (isMesh ? meshDescriptor : serverDescriptor).decode(value);
    if (this.leaseEndsAtMs(id) <= nowMs) this.faults.push(`${key} was put without a lease`); // R1
    const before = this.#owners.get(key);
    const isLater = (this.#put.get(`${key} ${id}`) ?? 0n) > (before?.version ?? 0n);
    if (isMesh && before !== undefined && before.id !== id && !isLater)
      this.faults.push(`${key} was put in another one's place`); // R2
    this.#owners.set(key, { id, version });
    this.#put.set(`${key} ${id}`, version);
  }

  #remove(key: string, { conditions }: StoreBatch): void {
    const before = this.#owners.get(key);
    if (before === undefined) return;
    const lease = leaseKey(before.id);
    const isOwn = conditions.some((each) => each.kind === 'present' && each.key === lease);
    if (!isOwn && this.#leases.has(lease)) this.faults.push(`${key} was removed while its owner had a lease`); // R2
    this.#owners.delete(key);
  }

  #end(leaseAt: string): void {
    this.#leases.delete(leaseAt);
    this.#everAbsent.add(leaseAt);
  }
}
