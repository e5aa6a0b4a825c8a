/**
 * One complete reading of all descriptors of a topology.
 *
 * Owns the pages and what proves that they belong together. Leaves when to read to descriptor-watch.ts, and what becomes of
 * the result to watched-topology.ts.
 *
 * 1. The result is whole or there is none: every page succeeded, and the stamp at the end is the one at the beginning. Else
 *    it is read again, three times (LOC-061).
 * 2. A record is read once per version, however often it is tried.
 * 3. Within one lifecycle generation a lower revision never replaces a higher one; generations are compared for equality
 *    only (LOC-062).
 * 4. A record that cannot be read, or that belongs under another key, is left out and spoils nothing.
 */
import { ZLinkError } from '../../errors/index.ts';
import { descriptorKey, descriptorPrefix, stampKey, type StoreRecord, type Topology } from '../../location/index.ts';
import { descriptorCodecs } from './descriptor-codecs.ts';
import type { DescriptorOf, TopologyKind } from './discovery.ts';
import type { LeaseView } from './lease-view.ts';
import { readRecords } from './read-records.ts';
import type { ReadingCalls } from './store-calls.ts';

const tries = 3;
/** So few that a page takes little time also where a round trip takes long. */
const pageKeyCount = 250;

export interface DescriptorEntry<K extends TopologyKind> {
  readonly version: bigint;
  /** Undefined for a record that is left out (4). */
  readonly descriptor: DescriptorOf[K] | undefined;
}

/** By key. */
export type DescriptorEntries<K extends TopologyKind> = ReadonlyMap<string, DescriptorEntry<K>>;

export interface WholeReading<K extends TopologyKind> {
  readonly entries: DescriptorEntries<K>;
  /** Undefined for a topology in which nobody has published yet. */
  readonly stamp: bigint | undefined;
}

export interface TopologyScanParts {
  readonly calls: ReadingCalls;
  readonly leases: Pick<LeaseView, 'learn'>;
  /** A record was left out (4). */
  readonly onUnreadable: (topology: Topology, error: unknown) => void;
}

/**
 * @param known - what earlier readings found
 * @param stamp - the version of the topology's stamp, read before
 * @returns undefined if the topology changed all the time
 * @throws StoreError
 */
export async function scanTopology<K extends TopologyKind>(
  parts: TopologyScanParts,
  topology: Topology & { readonly kind: K },
  known: DescriptorEntries<K>,
  stamp: bigint | undefined,
): Promise<WholeReading<K> | undefined> {
  let entries = known;
  let before = stamp;
  for (let attempt = 0; attempt < tries; attempt++) {
    entries = await readChanged(parts, topology, entries);
    await parts.leases.learn(ownersOf(entries)); // before the view is taken: it shows who is present
    const { records } = await parts.calls.read({ records: [stampKey(topology)] });
    const after = records[0]?.version;
    if (after === before) return { entries, stamp: after }; // 1
    before = after;
  }
  return undefined;
}

export function ownersOf(entries: DescriptorEntries<TopologyKind>): Set<string> {
  const owners = new Set<string>();
  for (const { descriptor } of entries.values()) if (descriptor !== undefined) owners.add(descriptor.ownerId);
  return owners;
}

async function readChanged<K extends TopologyKind>(
  parts: TopologyScanParts,
  topology: Topology & { readonly kind: K },
  known: DescriptorEntries<K>,
): Promise<DescriptorEntries<K>> {
  const versions = await scanVersions(parts.calls, descriptorPrefix(topology));
  const changed = [...versions].filter(([key, version]) => known.get(key)?.version !== version).map(([key]) => key);
  const records = await readRecords(parts.calls, changed); // 2
  const entries = new Map<string, DescriptorEntry<K>>();
  for (const key of versions.keys()) {
    const record = records.get(key);
    const entry = record === undefined ? known.get(key) : readEntry(parts, topology, record);
    // Gone since its key was seen, and then the stamp has moved as well.
    if (entry !== undefined) entries.set(key, upwards(known.get(key), entry));
  }
  return entries;
}

async function scanVersions(calls: ReadingCalls, prefix: string): Promise<ReadonlyMap<string, bigint>> {
  const versions = new Map<string, bigint>();
  let after: string | undefined;
  do {
    const start = after === undefined ? {} : { after };
    const page = await calls.scan({ prefix, ...start, limit: pageKeyCount, keysOnly: true });
    for (const { key, version } of page.items) versions.set(key, version);
    after = page.next;
  } while (after !== undefined);
  return versions;
}

function readEntry<K extends TopologyKind>(
  { onUnreadable }: TopologyScanParts,
  topology: Topology & { readonly kind: K },
  { key, value, version }: StoreRecord,
): DescriptorEntry<K> {
  try {
    const descriptor = descriptorCodecs[topology.kind].decode(value ?? new Uint8Array(0));
    const { name, rid } = descriptor;
    if (name !== topology.name || key !== descriptorKey(topology, rid))
      throw new ZLinkError('InternalFailure', 'a descriptor does not belong under its key');
    return { version, descriptor };
  } catch (error) {
    onUnreadable(topology, error);
    return { version, descriptor: undefined };
  }
}

/** 3: the version is always the one that stands in the store. */
function upwards<K extends TopologyKind>(
  known: DescriptorEntry<K> | undefined,
  found: DescriptorEntry<K>,
): DescriptorEntry<K> {
  const older = known?.descriptor;
  const newer = found.descriptor;
  if (older === undefined || newer === undefined || older.lifecycleGeneration !== newer.lifecycleGeneration)
    return found;
  return newer.revision < older.revision ? { version: found.version, descriptor: older } : found;
}
