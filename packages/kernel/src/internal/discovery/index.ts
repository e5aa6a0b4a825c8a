/** How hosts find each other through a Location Store, and prove that they live. */
export {
  type DialTarget,
  type DiscoveredEndpoint,
  DiscoveredEndpoints,
  type DiscoveredEndpointsOptions,
  type NotUsed,
} from './discovered-endpoints.ts';
export type {
  Admission,
  DescriptorOf,
  DiscoveredDescriptor,
  Discovery,
  OwnFacts,
  Publication,
  PublicationSource,
  TopologyKind,
  View,
} from './discovery.ts';
export { disposeUnused, HostStores } from './host-stores.ts';
export { LocationRuntime } from './location-runtime.ts';
export { DEFAULT_LOCATION_TIMING } from './location-timing.ts';
