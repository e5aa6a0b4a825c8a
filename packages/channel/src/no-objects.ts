/** What a node without objects publishes and shows of them. */
import type { MeshDescriptor } from '@zlink/kernel/location';
import type { Capacity, PlacementSnapshot } from '@zlink/kernel/observe';

type ObjectFacts = Pick<MeshDescriptor, 'objectRole' | 'placementWeight' | 'limits' | 'types' | 'applicationVersion'>;

export const NO_OBJECTS: ObjectFacts = Object.freeze({
  objectRole: 'none',
  placementWeight: 100,
  limits: Object.freeze({ actors: 0, spots: 0 }), // no limit
  types: Object.freeze([]),
  applicationVersion: 1n,
});

const NONE: Capacity = Object.freeze({ active: 0, pending: 0, limit: 0 });

export const NO_PLACEMENT: PlacementSnapshot = Object.freeze({
  isAvailable: false, // it takes no objects (MON-005)
  weight: 0,
  actors: NONE,
  spots: NONE,
  types: Object.freeze([]),
  activations: NONE,
});
