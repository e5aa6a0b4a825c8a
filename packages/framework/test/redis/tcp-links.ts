/** Connections of this machine as its kernel lists them, of whatever process. */
import { existsSync, readFileSync } from 'node:fs';

/** A listener that could take IPv6 has its connections from IPv4 in the second one. */
const LISTS = ['/proc/net/tcp', '/proc/net/tcp6'];
const ESTABLISHED = '01';

/**
 * How many connections listeners of 127.0.0.1 hold, all together; undefined where the kernel, unlike Linux, lists none.
 *
 * @param endpoints - `tcp://127.0.0.1:port` of the listeners
 */
export function establishedTo(endpoints: readonly string[]): number | undefined {
  const lists = LISTS.filter((list) => existsSync(list));
  if (lists.length === 0) return undefined;
  const ports = new Set(endpoints.map((endpoint) => Number(new URL(endpoint).port)));
  const rows = lists.flatMap((list) => readFileSync(list, 'latin1').split('\n'));
  return rows.filter((row) => {
    const [, local = '', , state] = row.trim().split(/\s+/);
    return state === ESTABLISHED && ports.has(Number.parseInt(local.slice(local.indexOf(':') + 1), 16));
  }).length;
}
