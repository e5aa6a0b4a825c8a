/**
 * What a start says about a description that is allowed, and most likely not meant.
 *
 * Owns when and what is said. Leaves what is a mistake to the other options.
 *
 * 1. Each warning is one record per start.
 */
import { isLoopbackHost, parseEndpoint } from '@zlink/kernel/identity';
import type { ListenerStatus } from '@zlink/kernel/internal/host';
import type { Logger } from '@zlink/kernel/observe';
import { ownAddresses } from './own-addresses.ts';
import type { HostOptions } from './host-options.ts';
import type { Stores } from './store-options.ts';

/** LOC-006 */
export function warnOfProcessLocalStore({ location, relocation }: Stores, logger: Logger): void {
  const stores = [location, relocation].filter((store) => store?.capabilities.scope === 'process');
  if (stores.length === 0) return;
  logger.warn({
    eventId: 'zlink.location.process_local_store',
    text: 'hosts of other processes cannot see what is stored; for tests inside one process',
  });
}

/**
 * Others are told of listeners that no other machine can reach, as nobody said where to bind (NET-001).
 *
 * A listener with the very default as its own bind host cannot be told from one without.
 */
export function warnOfLoopback(
  listeners: readonly ListenerStatus[],
  { network }: HostOptions,
  { location }: Stores,
  logger: Logger,
): void {
  if (location?.capabilities.scope !== 'shared' || network?.bindHost !== undefined) return;
  const endpoints = listeners.map(({ endpoint }) => endpoint).filter(isLoopbackEndpoint);
  if (endpoints.length === 0) return;
  const addresses = ownAddresses();
  if (addresses.length === 0) return;
  logger.warn({
    eventId: 'zlink.runtime.network.loopback_advertised',
    endpoints,
    addresses,
    text: 'other machines learn these endpoints and cannot reach them; network.bindHost says where to bind',
  });
}

function isLoopbackEndpoint(endpoint: string): boolean {
  return isLoopbackHost(parseEndpoint(endpoint)?.host ?? '');
}
