/**
 * What a server says about itself in INFO, and what it must be.
 *
 * Owns reading and judging it. Leaves asking to the stores.
 */
import { StoreError } from '@zlink/kernel/location';

export interface ServerFacts {
  readonly version: string;
  readonly role: string;
  readonly runId: string;
  readonly replicationId: string;
  readonly evictionPolicy: string;
}

const OLDEST = [6, 2] as const;

export function parseInfo(info: string): ServerFacts {
  const lines = new Map<string, string>();
  for (const line of info.split(/\r?\n/)) {
    const colon = line.indexOf(':');
    if (colon > 0) lines.set(line.slice(0, colon), line.slice(colon + 1));
  }
  const field = (name: string): string => lines.get(name) ?? '';
  return {
    version: field('redis_version'),
    role: field('role'),
    runId: field('run_id'),
    replicationId: field('master_replid'),
    evictionPolicy: field('maxmemory_policy'),
  };
}

/**
 * @param warn - is told what works but should not be so
 * @throws StoreError `incompatible`, or `unavailable` for a replica (REDIS-005, REDIS-006)
 */
export function checkServer({ version, role, evictionPolicy }: ServerFacts, warn: (text: string) => void): void {
  if (!isNewEnough(version)) throw incompatible(`Redis ${version} is too old, ${OLDEST.join('.')} is the oldest`);
  if (evictionPolicy.startsWith('allkeys-'))
    throw incompatible(`maxmemory-policy ${evictionPolicy} of Redis would evict records; allowed: noeviction`);
  if (evictionPolicy.startsWith('volatile-'))
    warn(`maxmemory-policy ${evictionPolicy} of Redis evicts leases when memory is short; use noeviction`);
  if (role !== 'master') throw new StoreError('unavailable', 'notApplied', `this Redis is a ${role}, not the primary`);
}

function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}

function incompatible(text: string): StoreError {
  return new StoreError('incompatible', 'notApplied', text);
}
