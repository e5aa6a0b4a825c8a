/**
 * What may be registered as the stores of a host.
 *
 * Owns number, shape and match of the stores (LOC-001, LOC-006). Leaves which capabilities a store needs to the kernel,
 * and whether a topic needs a store to the topic.
 *
 * 1. Nothing of a store is called: a mistake leaves all of them untouched.
 */
import type { Problems } from '@zlink/kernel/errors';
import { hasMethods } from '@zlink/kernel/internal/options';
import {
  checkLocationCapabilities,
  checkRelocationCapabilities,
  type LocationStore,
  type RelocationStore,
} from '@zlink/kernel/location';

/** What was registered, in order. */
export interface RegisteredStores {
  readonly location: LocationStore[];
  readonly relocation: RelocationStore[];
}

/** What a host works with once all of it was found right. */
export interface Stores {
  readonly location: LocationStore | undefined;
  readonly relocation: RelocationStore | undefined;
}

const LOCATION_METHODS = ['open', 'read', 'commit', 'scan', 'dispose'];
const RELOCATION_METHODS = ['open', 'put', 'read', 'renew', 'delete', 'dispose'];

export function checkStores(registered: RegisteredStores, problems: Problems): Stores {
  const location = only('location store', registered.location, LOCATION_METHODS, problems);
  const relocation = only('relocation store', registered.relocation, RELOCATION_METHODS, problems);
  if (location !== undefined) checkLocationCapabilities(location, false, problems);
  if (relocation !== undefined) checkRelocationCapabilities(relocation, problems);
  if (location?.capabilities?.scope === 'shared' && relocation?.capabilities?.scope === 'process') {
    problems.note('relocation store: it is seen by this process only, the location store is shared'); // LOC-006
  }
  return { location, relocation };
}

/** The one store of its kind, if it looks like one. */
function only<S>(what: string, stores: readonly S[], methods: readonly string[], problems: Problems): S | undefined {
  if (stores.length > 1) problems.note(`${what}: ${stores.length} are registered, a host has one`);
  const [store] = stores;
  if (stores.length === 0) return undefined;
  if (hasMethods(store, methods)) return store;
  problems.add(what, store, `an object with ${methods.slice(0, -1).join(', ')} and ${methods.at(-1)}`);
  return undefined;
}
