/** One host per process (HOSTREG-001), also across several copies of this package. */
import { ConfigurationError } from '@zlink/kernel/errors';

export interface ProcessClaim {
  release(): void;
}

const KEY = Symbol.for('@zlink/framework/running-host');

interface Claimed {
  [KEY]?: object | undefined;
}

/** @throws ConfigurationError if another host runs in this process and that is not allowed */
export function claimProcess(allowSeveralHosts: boolean): ProcessClaim {
  if (allowSeveralHosts) return { release: () => undefined };
  const process = globalThis as Claimed;
  if (process[KEY] !== undefined) throw new ConfigurationError(['host: another host already runs in this process']);
  const owner = {};
  process[KEY] = owner;
  return {
    release: () => {
      if (process[KEY] === owner) process[KEY] = undefined;
    },
  };
}
