/**
 * What Redis holds: the names of all keys.
 *
 * Owns the names. Leaves what lies under them to record-codec.ts and the scripts.
 *
 * 1. All keys of a Location Store share one hash tag, hence one slot of a Cluster: any commit is atomic.
 * 2. Blobs have no tag: they spread over all slots.
 */

export interface LocationKeys {
  /** HASH schema, storeId, createdMs. */
  readonly meta: string;
  /** STRING, the version of the last commit. */
  readonly version: string;
  /** ZSET of record keys with score 0, that is in the order of their bytes. */
  readonly index: string;
  /** STRING `version|counter,counter`; lives 120 s. */
  readonly operation: (operationId: string) => string;
  /** HASH v value, n version, c createdVersion, x expiresAtMs. */
  readonly record: (key: string) => string;
  /** STRING decimal; absent for 0. */
  readonly counter: (counter: string) => string;
}

export function locationKeys(keyPrefix: string): LocationKeys {
  const k = `{${keyPrefix}}:L:`;
  return Object.freeze({
    meta: `${k}meta`,
    version: `${k}ver`,
    index: `${k}i`,
    operation: (operationId: string) => `${k}o:${operationId}`,
    record: (key: string) => `${k}r:${key}`,
    counter: (counter: string) => `${k}n:${counter}`,
  });
}

/** HASH p bytes, h SHA-256, l length, x expiresAtMs. */
export function blobKey(keyPrefix: string, ref: string): string {
  return `${keyPrefix}:B:${ref}`;
}
