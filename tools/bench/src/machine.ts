/** Where and with what a run was made: figures say nothing without it. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { arch, availableParallelism, cpus, platform, release, totalmem } from 'node:os';
import { version as libzmqVersion } from 'zeromq';

export interface MachineFacts {
  readonly processor: string;
  readonly processorCount: number;
  readonly memoryBytes: number;
  readonly system: string;
  readonly versions: Readonly<Record<string, string>>;
}

export function readMachine(): MachineFacts {
  return {
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    processorCount: availableParallelism(),
    memoryBytes: totalmem(),
    system: `${platform()} ${release()} ${arch()}`,
    versions: {
      node: process.versions.node,
      v8: process.versions.v8,
      libuv: process.versions.uv,
      'zeromq.js': versionOf('zeromq'),
      libzmq: libzmqVersion,
      zlink: versionOf('@zlink/framework'),
    },
  };
}

/** Of the installed package. */
export function versionOf(packageName: string): string {
  const path = createRequire(import.meta.url).resolve(`${packageName}/package.json`);
  return (JSON.parse(readFileSync(path, 'utf8')) as { readonly version: string }).version;
}
