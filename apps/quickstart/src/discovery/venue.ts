/**
 * Where the act is played: real processes over Redis where there is one, else one process over a store in memory.
 *
 * Owns the choice. Nothing is installed for it.
 *
 * V1 What a venue has started ends with the demo, however that ends.
 */
import { spawnSync } from 'node:child_process';
import type { Stage } from '../act.ts';
import type { CallerPlayer, HostPlayer, Role } from './players.ts';

export interface Venue {
  /** What is played here, and how to get the other one. */
  readonly lines: readonly string[];
  /** As the store is called. */
  readonly storeName: string;
  /** Why no host is killed here; `undefined`: one is. */
  readonly whyNoKill: string | undefined;
  /** What is done to the store, for people. */
  readonly outageText: string;
  startHost(role: Role): Promise<HostPlayer>;
  startCaller(name: string): Promise<CallerPlayer>;
  /** Until `resumeStore` the store is of no use to anybody. */
  pauseStore(): void;
  resumeStore(): void;
  /** When all hosts have left. */
  close(): Promise<void>;
}

/** What the stores need. */
const oldestVersion = [6, 2] as const;

export async function openVenue(stage: Stage): Promise<Venue> {
  const why = whyNoRedis(process.env['REDIS_SERVER_BIN'] ?? 'redis-server');
  // Each loads only what it plays with.
  if (why !== undefined) return (await import('./memory-venue.ts')).openMemoryVenue(stage, why);
  return (await import('./redis-venue.ts')).openRedisVenue(stage);
}

/** @returns `undefined` if that server can be started */
export function whyNoRedis(binary: string, platform: NodeJS.Platform = process.platform): string | undefined {
  if (platform === 'win32') return 'the demo starts no redis-server on Windows';
  const missing = `"${binary}" does not run here`;
  if (binary === '') return missing;
  const { status, stdout } = spawnSync(binary, ['--version'], { encoding: 'utf8' });
  if (status !== 0) return missing;
  const [, major, minor] = /v=(\d+)\.(\d+)/.exec(stdout) ?? [];
  if (major === undefined || minor === undefined) return `"${binary}" does not say which version it is`;
  const [oldestMajor, oldestMinor] = oldestVersion;
  const isOld = Number(major) < oldestMajor || (Number(major) === oldestMajor && Number(minor) < oldestMinor);
  return isOld
    ? `"${binary}" is version ${major}.${minor}, ${oldestVersion.join('.')} is the oldest that works`
    : undefined;
}
