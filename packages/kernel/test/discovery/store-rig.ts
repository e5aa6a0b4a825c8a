/** A memory store that fails on demand, the calls to it, a second handle to look into it, and a clock for all of them. */
import { createFaultyLocationStore, type FaultyLocationStore, ManualClock } from '@zlink/testing';
import { StoreCalls, type StoreCallsOptions } from '../../src/internal/discovery/store-calls.ts';
import {
  createMemoryLocationStore,
  createMemoryStoreBackend,
  leaseKey,
  type LocationStore,
  type StoreMutation,
  type StoreRecord,
} from '../../src/location/index.ts';
import type { Logger } from '../../src/observe/index.ts';

export interface LogRecord {
  readonly level: keyof Logger;
  readonly eventId: string;
  readonly [field: string]: unknown;
}

export interface StoreRig {
  readonly clock: ManualClock;
  readonly store: FaultyLocationStore;
  readonly calls: StoreCalls;
  readonly logger: Logger;
  readonly logs: readonly LogRecord[];
  readonly find: (key: string) => Promise<StoreRecord | undefined>;
  /** Past the faults. */
  readonly change: (...mutations: readonly StoreMutation[]) => Promise<void>;
  readonly eventIds: () => readonly string[];
}

const callTimeoutMs = 3_000;

export async function arrangeStore(
  options: Partial<StoreCallsOptions> & { readonly alter?: (store: LocationStore) => LocationStore } = {},
): Promise<StoreRig> {
  const clock = new ManualClock();
  const backend = createMemoryStoreBackend({ clock });
  const { alter = (inner) => inner } = options;
  const store = createFaultyLocationStore(alter(createMemoryLocationStore(backend)), clock);
  const aside = createMemoryLocationStore(backend);
  await aside.open();
  const logs: LogRecord[] = [];
  const log = (level: keyof Logger) => (record: object) => logs.push({ level, ...(record as { eventId: string }) });
  const logger: Logger = { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') };
  const calls = new StoreCalls({ store, clock, callTimeoutMs, logger, ...options });
  return {
    clock,
    store,
    calls,
    logger,
    logs,
    find: async (key) => (await aside.read({ records: [key] })).records[0],
    change: async (...mutations) => {
      const operationId = crypto.randomUUID().replaceAll('-', '');
      await aside.commit({ operationId, conditions: [], mutations });
    },
    eventIds: () => logs.map(({ eventId }) => eventId),
  };
}

/** The same, with the store open. */
export async function arrangeOpenStore(...options: Parameters<typeof arrangeStore>): Promise<StoreRig> {
  const rig = await arrangeStore(...options);
  await rig.calls.open(live());
  return rig;
}

/** A signal that nobody aborts. */
export const live = (): AbortSignal => new AbortController().signal;

export const putRecord = (key: string, ttlMs?: number): StoreMutation => ({
  kind: 'put',
  key,
  value: Uint8Array.of(1),
  ...(ttlMs === undefined ? {} : { ttlMs }),
});

export const putLease = (ownerId: string, ttlMs = 15_000): StoreMutation => putRecord(leaseKey(ownerId), ttlMs);
export const deleteLease = (ownerId: string): StoreMutation => ({ kind: 'delete', key: leaseKey(ownerId) });

export function pendingIn({ clock }: Pick<StoreRig, 'clock'>): number {
  return clock.pendingTimers + clock.pendingBackgroundTimers;
}
