/** The Location Store and the Relocation Store in Redis: one server, Sentinel or Cluster. */

export type { RedisConnectionOptions, RedisStoreOptions } from './options.ts';
export { createRedisLocationStore } from './redis-location-store.ts';
export { createRedisRelocationStore } from './redis-relocation-store.ts';
