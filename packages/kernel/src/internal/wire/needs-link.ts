/** Whether two nodes of a mesh have anything to say to each other: one rule for admission and for discovery (MESH-003). */
import { type Descriptor, ObjectRole } from './hello.ts';

export type NodeRoles = Pick<Descriptor, 'objectRole' | 'channels'>;

/** What both sides are told of a link that is not needed. */
export const NEEDLESS_LINK = 'both sides are object clients without a channel to serve';

/** Two object clients without any channel membership need none; a weight of 0 is a membership. */
export function needsLink(a: NodeRoles, b: NodeRoles): boolean {
  const bothClients = a.objectRole === ObjectRole.client && b.objectRole === ObjectRole.client;
  return !bothClients || a.channels.length > 0 || b.channels.length > 0;
}
