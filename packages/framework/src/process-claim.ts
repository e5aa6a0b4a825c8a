/**
 * One host per process (HOSTREG-001), also across several copies of this package.
 *
 * A host that allows several starts beside whatever runs; one that does not wants the process for itself.
 */
import { ConfigurationError } from '@zlink/kernel/errors';

export interface ProcessClaim {
  release(): void;
}

const KEY = Symbol.for('@zlink/framework/running-hosts');

interface Claimed {
  [KEY]?: Set<object>;
}

/** @throws ConfigurationError if another host runs in this process and that is not allowed */
export function claimProcess(allowSeveralHosts: boolean): ProcessClaim {
  // The global scope has no such property in its type: it is ours by its symbol.
  const running = ((globalThis as Claimed)[KEY] ??= new Set());
  if (!allowSeveralHosts && running.size > 0) {
    throw new ConfigurationError([
      'host: another host already runs in this process; tests that need several set testing.allowSeveralHosts',
    ]);
  }
  const owner = {};
  running.add(owner);
  return { release: () => void running.delete(owner) };
}
