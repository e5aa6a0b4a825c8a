/**
 * What the machine, or the container on it, lets this process use: memory and processors (JOBQ-002, JOBQ-003).
 *
 * Owns the detection. Leaves what follows from it to who sizes a budget or a queue.
 *
 * 1. Nothing here throws: what cannot be found out is unknown.
 * 2. A memory limit that the machine does not have is none.
 */
import { readFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';

/** What is known about this process; undefined: unknown. */
export interface MemoryFacts {
  readonly containerBytes: number | undefined;
  readonly heapBytes: number | undefined;
  readonly physicalBytes: number;
}

/** What is known about processors; undefined: unknown. */
export interface ProcessorFacts {
  readonly parallelism: number | undefined;
  readonly affinity: number | undefined;
  readonly quota: number | undefined;
}

/** Content of a file, trimmed; undefined: there is none. */
type ReadText = (path: string) => string | undefined;

/** @param constrainedBytes - what Node.js knows of the process's own control group, however deep it is nested; 0: nothing */
export function readMemoryFacts(
  read: ReadText = readText,
  physicalBytes = totalmem(),
  constrainedBytes = process.constrainedMemory(),
): MemoryFacts {
  const known = [constrainedBytes, readContainerLimit(read)].filter(
    (bytes) => bytes !== undefined && bytes > 0 && bytes < physicalBytes, // 2
  );
  return {
    containerBytes: known.length === 0 ? undefined : Math.min(...(known as number[])), // the filter left no undefined
    heapBytes: getHeapStatistics().heap_size_limit,
    physicalBytes,
  };
}

export function readProcessorFacts(read: ReadText = readText, parallelism = availableParallelism()): ProcessorFacts {
  return { parallelism, affinity: readCpusetCount(read), quota: readQuota(read) };
}

/** The outermost control group that shows: of version 2, then 1. */
function readContainerLimit(read: ReadText): number | undefined {
  for (const path of ['/sys/fs/cgroup/memory.max', '/sys/fs/cgroup/memory/memory.limit_in_bytes']) {
    const bytes = Number(read(path));
    if (Number.isFinite(bytes) && bytes > 0) return bytes;
  }
  return undefined;
}

/** `floor(quota / period)` of cgroup version 2, then 1; at least 1. */
function readQuota(read: ReadText): number | undefined {
  const version2 = read('/sys/fs/cgroup/cpu.max')?.split(' ');
  const [quota, period] = (
    version2 ?? ['cpu.cfs_quota_us', 'cpu.cfs_period_us'].map((name) => read(`/sys/fs/cgroup/cpu/${name}`))
  ).map(Number);
  if (quota === undefined || period === undefined || !(quota > 0) || !(period > 0)) return undefined;
  return Math.max(1, Math.floor(quota / period));
}

/** Counts a list like `0-3,8`, of cgroup version 2, then 1. */
function readCpusetCount(read: ReadText): number | undefined {
  const text =
    read('/sys/fs/cgroup/cpuset.cpus.effective') ?? read('/sys/fs/cgroup/cpuset/cpuset.effective_cpus') ?? '';
  if (!/^\d+(-\d+)?(,\d+(-\d+)?)*$/.test(text)) return undefined;
  let count = 0;
  for (const range of text.split(',')) {
    const [first, last] = range.split('-').map(Number);
    count += (last ?? first ?? 0) - (first ?? 0) + 1;
  }
  return count;
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return undefined; // not this kind of system
  }
}
