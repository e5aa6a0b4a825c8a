/**
 * Whether a registered store promises what the host will use.
 *
 * Owns the table of needs (LOC-020). Leaves whether a store is needed at all to the host, and the proof of the promises
 * to the suites of `@zlink/testing`: nothing is tried here.
 *
 * 1. Only flags are read; one that is missing is false.
 * 2. Every missing flag is reported, with its store.
 */
import type { Problems } from '../errors/index.ts';
import type { LocationStoreCapabilities } from './location-store.ts';
import { minBlobLimitBytes } from './store-limits.ts';

type Flag = keyof {
  [K in keyof LocationStoreCapabilities as LocationStoreCapabilities[K] extends boolean ? K : never]: 0;
};

const neededByAll: readonly Flag[] = ['storeClock', 'compareAndSet', 'operationReplay'];
const neededByObjects: readonly Flag[] = [...neededByAll, 'placementReservation', 'aggregateCommit'];

/** @param usesObjects - a mesh has the object role Client or Server */
export function checkLocationCapabilities(
  store: { readonly capabilities?: unknown },
  usesObjects: boolean,
  problems: Pick<Problems, 'add' | 'note'>,
): void {
  const capabilities = capabilitiesOf(store);
  checkSpiVersion('location store', capabilities, problems);
  for (const flag of usesObjects ? neededByObjects : neededByAll) {
    if (capabilities[flag] !== true) problems.note(`location store: it lacks the capability ${flag}`);
  }
}

export function checkRelocationCapabilities(
  store: { readonly capabilities?: unknown },
  problems: Pick<Problems, 'add' | 'note'>,
): void {
  const capabilities = capabilitiesOf(store);
  checkSpiVersion('relocation store', capabilities, problems);
  const { maxBlobBytes } = capabilities;
  if (typeof maxBlobBytes !== 'number' || !(maxBlobBytes >= minBlobLimitBytes))
    problems.add('relocation store, maxBlobBytes', maxBlobBytes, `${minBlobLimitBytes} at least`);
}

function checkSpiVersion(
  store: string,
  { spiVersion }: Readonly<Record<string, unknown>>,
  problems: Pick<Problems, 'add'>,
): void {
  if (spiVersion !== 1) problems.add(`${store}, spiVersion`, spiVersion, '1');
}

/** A store in plain JavaScript may have none, which is the same as promising nothing. */
function capabilitiesOf({ capabilities }: { readonly capabilities?: unknown }): Readonly<Record<string, unknown>> {
  return (capabilities ?? {}) as Readonly<Record<string, unknown>>; // whatever it is, it may be asked for a property
}
