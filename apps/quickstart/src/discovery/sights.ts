/**
 * What the caller sees of the other hosts, from nothing but its own host's lists.
 *
 * Owns what counts as found, lost, left out and forgotten. Leaves when it looks to the caller.
 *
 * S1 A host is one sight, though it is a node of the mesh and a server of the channel: what counts has to hold for both.
 */
import type { Host } from '@zlink/framework';
import { DEPOT, FLEET, RIDE } from './contracts.ts';

export interface Sight {
  readonly name: string;
  /** State of the way to its node; undefined: not listed. */
  readonly node: string | undefined;
  /** State of the way to its server; undefined: not listed. */
  readonly server: string | undefined;
  /** Of its node in the mesh's channel; 0 while not connected. */
  readonly weight: number;
  readonly draining: boolean;
}

export function sightsOf(host: Host): readonly Sight[] {
  const sights = new Map<string, Sight>();
  for (const { routingId = '', state, draining, channels } of host.routeMesh(FLEET).peers.list()) {
    const weight = channels.find(({ name }) => name === RIDE)?.weight ?? 0;
    const name = nameOf(routingId);
    sights.set(name, { name, node: state, server: undefined, weight, draining });
  }
  for (const { routingId = '', state, draining } of host.clientServerChannel(DEPOT).servers()) {
    const name = nameOf(routingId);
    const node = sights.get(name) ?? { name, node: undefined, weight: 0, draining: false };
    sights.set(name, { ...node, server: state, draining: node.draining || draining });
  }
  return [...sights.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** A node's RID is its host's name and a random rest, a server's is the name. */
function nameOf(rid: string): string {
  return rid.split('-', 1)[0]!; // a text has at least one part
}

export function find(sights: readonly Sight[], name: string): Sight | undefined {
  return sights.find((sight) => sight.name === name);
}

/** Takes calls of both kinds. */
export function isFound(sights: readonly Sight[], name: string): boolean {
  const sight = find(sights, name);
  return sight?.node === 'ready' && sight.server === 'ready' && !sight.draining; // S1
}

/** Takes no calls of either kind any more. */
export function isOut(sights: readonly Sight[], name: string): boolean {
  const sight = find(sights, name);
  return sight === undefined || sight.draining || (sight.node !== 'ready' && sight.server !== 'ready'); // S1
}

/** Nobody tries to connect with it any more, as it has no lease. */
export function isLeftOut(sights: readonly Sight[], name: string): boolean {
  const { node = 'closed', server = 'closed' } = find(sights, name) ?? {};
  return node === 'closed' && server === 'closed'; // S1
}

/** Nothing that it had published is left. */
export function isForgotten(sights: readonly Sight[], name: string): boolean {
  return find(sights, name) === undefined;
}

/** In one word, or in two where the ways to node and server differ. */
export function waysOf(sights: readonly Sight[], name: string): string {
  const { node = 'unlisted', server = 'unlisted', draining = false } = find(sights, name) ?? {};
  if (draining) return 'draining';
  return node === server ? node : `${node}, ${server}`;
}
