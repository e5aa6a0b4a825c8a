/** What every topology gives to the tests that run on all of them. */
import type { Redis } from 'ioredis';
import type { RedisConnectionOptions } from '../../src/options.ts';
import type { RedisProcess } from './redis-process.ts';

/** A proxy in front of one server. */
export interface Detour {
  /** `tcp://host:port` of the server. */
  readonly target: string;
  /** `tcp://host:port` to dial instead. */
  readonly address: string;
}

/** For the option of ioredis that replaces addresses which servers name. */
export function natMapOf(detours: readonly Detour[]): Record<string, { host: string; port: number }> {
  return Object.fromEntries(
    detours.map(({ target, address }) => {
      const { hostname: host, port } = new URL(address);
      return [new URL(target).host, { host, port: Number(port) }];
    }),
  );
}

export function addressOf({ port }: RedisProcess): string {
  return `tcp://127.0.0.1:${port}`;
}

export interface Deployment {
  /** The way in for a store. */
  connection(detours?: readonly Detour[]): RedisConnectionOptions;
  /** Servers that clients write to. */
  readonly primaries: readonly RedisProcess[];
  /** A direct line to the primary that holds the Location keys of `keyPrefix`. */
  admin(keyPrefix: string): Redis;
  close(): Promise<void>;
}
