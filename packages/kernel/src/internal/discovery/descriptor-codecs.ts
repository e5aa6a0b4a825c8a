/** Which codec reads and writes the descriptors of each kind of topology. */
import { meshDescriptor, publisherDescriptor, type RecordCodec, serverDescriptor } from '../../location/index.ts';
import type { DescriptorOf, TopologyKind } from './discovery.ts';

export const descriptorCodecs: { readonly [K in TopologyKind]: RecordCodec<DescriptorOf[K]> } = {
  mesh: meshDescriptor,
  clientServer: serverDescriptor,
  fanout: publisherDescriptor,
};
