/**
 * Batches like the one that gives a new object its place: the record is absent, the target's descriptor is the one that
 * was read, its run lives; then the authority, its index and what is unfinished are written, and two counters rise.
 *
 * Owns keys and values of these batches. Leaves applying them to a store.
 *
 * 1. Every batch is of a new object and has an operation id of its own: each is applied in full.
 */
import { randomUUID } from 'node:crypto';
import {
  descriptorKey,
  leaseKey,
  type LocationStore,
  type StoreBatch,
  type StoreMutation,
  storeKey,
} from '@zlink/kernel/location';

const mesh = 'bench';
const rid = 'node-7f3a9c51d2';
const lifecycle = '11463522870938211427';
const ownerId = '4c1d6f0e-8a57-4a53-9c1b-2f6e7d80a913';
/** More than any run reserves. */
const placeCount = 1_000_000_000;
const empty = new Uint8Array(0);

const descriptor = descriptorKey({ kind: 'mesh', name: mesh }, rid);
const lease = leaseKey(ownerId);
const used = storeKey('n', mesh, rid, lifecycle, 'actors', 'used');
const reserved = storeKey('n', mesh, rid, lifecycle, 'actors', 'reserved');

/** Publishes the target of all reservations; each call of the result is the next batch. */
export async function prepareReservations(store: LocationStore): Promise<() => StoreBatch> {
  const targetVersion = await put(store, [
    { kind: 'put', key: descriptor, value: authorityOf('target', newOperationId()) }, // as large as a descriptor
    { kind: 'put', key: lease, value: Buffer.from('{"v":1,"leaseGeneration":"1790001234567890"}') },
  ]);
  let count = 0;
  return () => {
    const id = `player-${count++}`;
    const operationId = newOperationId(); // 1
    const authority = storeKey('a', id);
    return {
      operationId,
      conditions: [
        { kind: 'absent', key: authority },
        { kind: 'version', key: descriptor, version: targetVersion },
        { kind: 'present', key: lease },
      ],
      mutations: [
        { kind: 'put', key: authority, value: authorityOf(id, operationId) },
        { kind: 'put', key: storeKey('x', 'actor', 'Player', id), value: empty },
        { kind: 'put', key: storeKey('p', ownerId, 'a', id), value: empty },
        { kind: 'add', counter: used, delta: 1, max: placeCount },
        { kind: 'add', counter: reserved, delta: 1 },
      ],
    };
  };
}

/** Writes so many authorities and one lease; resolves with the keys. */
export async function prepareRecords(
  store: LocationStore,
  count: number,
): Promise<{ readonly authorities: readonly string[]; readonly lease: string }> {
  const ids = Array.from({ length: count }, (_, index) => `player-${index}`);
  const operationId = newOperationId();
  await put(store, [
    { kind: 'put', key: lease, value: Buffer.from('{"v":1,"leaseGeneration":"1790001234567890"}') },
    ...ids.map((id) => ({ kind: 'put', key: storeKey('a', id), value: authorityOf(id, operationId) }) as const),
  ]);
  return { authorities: ids.map((id) => storeKey('a', id)), lease };
}

/** About 400 bytes. */
export function authorityOf(id: string, operationId: string): Uint8Array {
  const owner = { ownerId, leaseGeneration: '1790001234567890', mesh, rid, lifecycle };
  const source = { rid: 'node-52bb81c0fe', lifecycle: '7203311850226419853', opId: '918273645' };
  const creating = { ...source, deadlineMs: 1_790_001_264_567 };
  const state = { kind: 'actor', id, type: 'Player', state: 'creating', ownerGeneration: '1' };
  return Buffer.from(JSON.stringify({ v: 1, ...state, owner, op: operationId, creating }));
}

async function put(store: LocationStore, mutations: readonly StoreMutation[]): Promise<bigint> {
  const result = await store.commit({ operationId: newOperationId(), conditions: [], mutations });
  if (result.kind !== 'applied') throw new Error(`the store is not empty: ${result.kind}`);
  return result.version;
}

function newOperationId(): string {
  return randomUUID().replaceAll('-', '');
}
