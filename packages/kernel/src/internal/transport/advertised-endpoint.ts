/** Under which name others reach what was bound. */
import { formatEndpoint, parseEndpoint } from '../../identity/index.ts';

/**
 * @param bound - endpoint with its real port
 * @param host - undefined: the bound one
 */
export function advertisedEndpoint(bound: string, host: string | undefined): string {
  const port = parseEndpoint(bound)?.port;
  return host === undefined || port === undefined ? bound : formatEndpoint(host, port);
}
