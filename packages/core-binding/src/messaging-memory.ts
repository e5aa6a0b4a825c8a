/**
 * How much memory messages under way may take, from options and from what the machine says (JOBQ-002).
 *
 * Owns the table of profiles and the detection of limits. Leaves dividing the budget to the transport.
 */
import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import type { Problems } from '@zlink/kernel/errors';

export type MemoryProfile = 'compact' | 'lowLatency' | 'balanced' | 'throughput';

export interface MessagingMemoryOptions {
  /** Memory the budget is a share of, in bytes; default: the smallest known of container and V8 heap limit. */
  readonly limitBytes?: number | undefined;
  /** The budget itself in bytes; wins over the limit. */
  readonly budgetBytes?: number | undefined;
  /** Share of the limit and size of windows; default `balanced`. */
  readonly profile?: MemoryProfile | undefined;
}

export interface MessagingMemory {
  readonly budgetBytes: number;
  readonly maxWindowBytes: number;
}

/** What is known about this process; undefined: unknown. */
export interface MemoryFacts {
  readonly containerBytes: number | undefined;
  readonly heapBytes: number | undefined;
  readonly physicalBytes: number;
}

const PROFILES: Readonly<Record<MemoryProfile, { readonly share: number; readonly maxWindowBytes: number }>> = {
  compact: { share: 0.05, maxWindowBytes: 262_144 },
  lowLatency: { share: 0.1, maxWindowBytes: 1_048_576 },
  balanced: { share: 0.2, maxWindowBytes: 4_194_304 },
  throughput: { share: 0.4, maxWindowBytes: 16_777_216 },
};

export function resolveMessagingMemory(
  options: MessagingMemoryOptions,
  facts: MemoryFacts,
  problems: Problems,
): MessagingMemory {
  const hardLimitBytes = facts.containerBytes ?? facts.physicalBytes;
  checkBytes('inboundDispatch.coreHwmMemoryLimitBytes', options.limitBytes, hardLimitBytes, problems);
  checkBytes('inboundDispatch.coreHwmBudgetBytes', options.budgetBytes, hardLimitBytes, problems);
  const name = options.profile ?? 'balanced';
  // Plain JavaScript may name anything, also what every object inherits.
  if (!Object.hasOwn(PROFILES, name)) {
    problems.add('inboundDispatch.coreHwmProfile', name, Object.keys(PROFILES).join(', '));
    return { budgetBytes: 0, maxWindowBytes: 0 };
  }
  const profile = PROFILES[name];
  const limitBytes = options.limitBytes ?? smallestKnown(facts);
  const budgetBytes = options.budgetBytes ?? Math.floor(limitBytes * profile.share);
  return { budgetBytes, maxWindowBytes: profile.maxWindowBytes };
}

/** Content of a file, trimmed; undefined: there is none. */
type ReadText = (path: string) => string | undefined;

export function readMemoryFacts(read: ReadText = readText, physicalBytes = totalmem()): MemoryFacts {
  return {
    containerBytes: readContainerLimit(read, physicalBytes),
    heapBytes: getHeapStatistics().heap_size_limit,
    physicalBytes,
  };
}

function smallestKnown(facts: MemoryFacts): number {
  const known = [facts.containerBytes, facts.heapBytes].filter((bytes) => bytes !== undefined && bytes > 0);
  return known.length === 0 ? facts.physicalBytes : Math.min(...(known as number[]));
}

function checkBytes(option: string, value: number | undefined, maxBytes: number, problems: Problems): void {
  if (value === undefined) return;
  const ok = Number.isInteger(value) && value > 0 && value <= maxBytes;
  if (!ok) problems.add(option, value, `integer 1..${maxBytes} (limit of this process)`);
}

/** cgroup version 2, then 1. A limit above the machine's memory is none. */
function readContainerLimit(read: ReadText, physicalBytes: number): number | undefined {
  for (const path of ['/sys/fs/cgroup/memory.max', '/sys/fs/cgroup/memory/memory.limit_in_bytes']) {
    const bytes = Number(read(path));
    if (Number.isFinite(bytes) && bytes > 0 && bytes < physicalBytes) return bytes;
  }
  return undefined;
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return undefined; // not this kind of system
  }
}
