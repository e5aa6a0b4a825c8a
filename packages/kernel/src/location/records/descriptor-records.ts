/**
 * The records by which hosts find each other: what a MeshNode, a ClientServer server or a fanout publisher publishes.
 *
 * Owns their fields. Leaves publishing and watching to discovery, the limits of lists to the start of a host (LOC-033),
 * and their keys to record-keys.ts.
 *
 * 1. Revisions rise by 1 within one lifecycle generation; generations are compared for equality only (LOC-062).
 * 2. A server and a publisher tell nothing of meshes, members or objects.
 */
import { maxVersion } from '../store-limits.ts';
import {
  bigInteger,
  endpoint,
  flag,
  integer,
  listOf,
  name,
  oneOf,
  optional,
  part,
  recordCodec,
  type RecordOf,
  text,
} from './record-fields.ts';

const largestUint64 = 2n ** 64n - 1n;
const weight = integer(10_000);
/** 0 is no limit. */
const limit = integer(2 ** 31 - 1);

const ofEveryEndpoint = {
  /** MeshName or ChannelName. */
  name,
  rid: name,
  lifecycleGeneration: bigInteger(largestUint64),
  revision: bigInteger(largestUint64),
  /** With the port that is bound. */
  endpoint,
  /** The public key of the endpoint; left out without security. */
  securityIdentity: optional(text),
  /** Major versions of the link protocol. */
  protocol: part({ min: integer(255), max: integer(255) }),
  ownerId: name,
  leaseGeneration: bigInteger(maxVersion),
  state: oneOf('starting', 'serving', 'relocating', 'relocated', 'draining'),
};

const ofMeshNode = {
  ...ofEveryEndpoint,
  objectRole: oneOf('none', 'client', 'server'),
  /** Memberships with the role Server. */
  channels: listOf(part({ name, weight })),
  placementWeight: weight,
  limits: part({ actors: limit, spots: limit }),
  types: listOf(
    part({
      kind: oneOf('actor', 'user_spot', 'instance_spot'),
      name,
      policy: oneOf('disable', 'recreate', 'preserve'),
      hasAdapter: flag,
      limit,
    }),
  ),
  /** Left out unless the object role is Server. */
  entrySpotId: optional(text),
  applicationVersion: bigInteger(maxVersion),
  maintenanceWave: optional(name),
};

const ofServer = { ...ofEveryEndpoint, weight };

export type MeshDescriptor = RecordOf<typeof ofMeshNode>;
export type ServerDescriptor = RecordOf<typeof ofServer>;
export type PublisherDescriptor = RecordOf<typeof ofEveryEndpoint>;

export const meshDescriptor = recordCodec('mesh descriptor', ofMeshNode);
export const serverDescriptor = recordCodec('server descriptor', ofServer);
export const publisherDescriptor = recordCodec('publisher descriptor', ofEveryEndpoint);
