/** The stores that hosts of this process get. Redis is loaded where a plan names it. */
import {
  createMemoryLocationStore,
  createMemoryRelocationStore,
  createMemoryStoreBackend,
  type LocationStore,
  type RelocationStore,
} from '@zlink/framework';
import type { StorePlan } from './plan.ts';
import type { StoreSource } from './role-host.ts';

export function createStoreSource(): StoreSource {
  const backend = createMemoryStoreBackend();
  const redis = () => import('@zlink/location-redis');
  return {
    async location(plan: StorePlan): Promise<LocationStore> {
      if (plan.kind === 'memory') return createMemoryLocationStore(backend);
      const { keyPrefix, connection, replicaAcks = 0 } = plan;
      return (await redis()).createRedisLocationStore({ keyPrefix, connection, replicaAcks });
    },
    async relocation(plan: StorePlan): Promise<RelocationStore> {
      if (plan.kind === 'memory') return createMemoryRelocationStore(backend);
      const { keyPrefix, connection } = plan;
      return (await redis()).createRedisRelocationStore({ keyPrefix, connection });
    },
  };
}
