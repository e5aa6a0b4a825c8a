/**
 * The record of an owner lease: present as long as its run is taken for alive.
 *
 * Owns what stands in it. Leaves acquiring, renewing and resuming to the owner of the run.
 *
 * 1. The generation of a lease is the version of the commit that acquired it; nobody knows that before the commit, so the
 *    record says its generation only when a later put took its place.
 */
import type { StoreRecord } from '../location-store.ts';
import { maxVersion } from '../store-limits.ts';
import { bigInteger, optional, recordCodec } from './record-fields.ts';

const fields = {
  /** Left out while it is the record's own version. */
  leaseGeneration: optional(bigInteger(maxVersion)),
};

export const leaseRecord = recordCodec('owner lease', fields);

/**
 * The `leaseGeneration` that a present lease stands for.
 *
 * @throws ZLinkError `InternalFailure` if the record is no lease of this version
 */
export function leaseGenerationOf({ value, version }: Required<Pick<StoreRecord, 'value' | 'version'>>): bigint {
  return leaseRecord.decode(value).leaseGeneration ?? version;
}
