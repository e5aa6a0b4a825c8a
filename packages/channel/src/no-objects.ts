/** What a node without objects publishes of them. */
import type { MeshDescriptor } from '@zlink/kernel/location';

type ObjectFacts = Pick<MeshDescriptor, 'objectRole' | 'placementWeight' | 'limits' | 'types' | 'applicationVersion'>;

export const NO_OBJECTS: ObjectFacts = Object.freeze({
  objectRole: 'none',
  placementWeight: 100,
  limits: Object.freeze({ actors: 0, spots: 0 }), // no limit
  types: Object.freeze([]),
  applicationVersion: 1n,
});
