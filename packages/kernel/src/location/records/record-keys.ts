/**
 * The keys under which hosts find each other's records.
 *
 * ```text
 * l/<ownerId>                                                              owner lease
 * d/m/<mesh>/<rid>  d/c/<channel>/<serverRid>  d/f/<channel>/<publisherRid>  descriptor
 * v/m/<mesh>        v/c/<channel>              v/f/<channel>                 stamp: its version marks a change
 * ```
 *
 * Owns the escaping of components, and these keys. Leaves what stands in the records to their codecs.
 *
 * 1. A component is escaped, `~` as `~0` and `/` as `~1`, so different components never make one key.
 * 2. A component is compared as it is: neither case nor composition is changed.
 */

/** What endpoints are published under: a mesh, a ClientServer channel or a fanout channel. */
export interface Topology {
  readonly kind: 'mesh' | 'clientServer' | 'fanout';
  /** MeshName or ChannelName. */
  readonly name: string;
}

const letters = { mesh: 'm', clientServer: 'c', fanout: 'f' } as const;
export function storeKey(...components: readonly string[]): string {
  return components.map((component) => component.replaceAll('~', '~0').replaceAll('/', '~1')).join('/');
}

export function leaseKey(ownerId: string): string {
  return storeKey('l', ownerId);
}

/** @param rid - of the MeshNode, the server or the publisher */
export function descriptorKey(topology: Topology, rid: string): string {
  return storeKey('d', letters[topology.kind], topology.name, rid);
}

/** What all descriptors of a topology begin with, and no other record. */
export function descriptorPrefix(topology: Topology): string {
  return `${storeKey('d', letters[topology.kind], topology.name)}/`;
}

export function stampKey(topology: Topology): string {
  return storeKey('v', letters[topology.kind], topology.name);
}
