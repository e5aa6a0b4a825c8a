/** What an implementation of a store gives to its suite. */
import type { LocationStore, RelocationStore } from '@zlink/kernel/location';

/** What both suites want to be able to do. A case that needs more than a harness has is not in its list. */
interface StoreHarness<Store> {
  /** A new store, not yet open. Stores of one namespace share their data; a namespace is new for each case. */
  create(namespace: string): Store | Promise<Store>;
  /** Lets `ms` pass by the clock of all stores. Without it the suite asks the store for its time until it has passed. */
  advance?(ms: number): void | Promise<void>;
  /** The next change that `store` submits is applied, but its reply gets lost. */
  loseNextReply?(store: Store): void | Promise<void>;
}

export interface LocationStoreHarness extends StoreHarness<LocationStore> {
  /** A new store whose last commit had the largest version, 2^63-1. */
  createExhausted?(namespace: string): LocationStore | Promise<LocationStore>;
  /** Takes back all acknowledged commits of the store's namespace, as a failover to a replica that lags does. */
  loseCommits?(store: LocationStore): void | Promise<void>;
}

export type RelocationStoreHarness = StoreHarness<RelocationStore>;
