/**
 * How much memory messages under way may take, from options and from what the machine has (JOBQ-002).
 *
 * Owns the table of profiles. Leaves what the machine has to machine-facts.ts and dividing the budget to the transport.
 */
import type { Problems } from '@zlink/kernel/errors';
import type { Profile } from '@zlink/kernel/internal/execution';
import type { MemoryFacts } from './machine-facts.ts';

export interface MessagingMemoryOptions {
  /** Memory the budget is a share of, in bytes; default: the smallest known of container and V8 heap limit. */
  readonly limitBytes?: number | undefined;
  /** The budget itself in bytes; wins over the limit. */
  readonly budgetBytes?: number | undefined;
  /** Share of the limit and size of windows; default `balanced`. */
  readonly profile?: Profile | undefined;
}

export interface MessagingMemory {
  readonly budgetBytes: number;
  readonly maxWindowBytes: number;
}

const PROFILES: Readonly<Record<Profile, { readonly share: number; readonly maxWindowBytes: number }>> = {
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

function smallestKnown(facts: MemoryFacts): number {
  const known = [facts.containerBytes, facts.heapBytes].filter((bytes) => bytes !== undefined && bytes > 0);
  return known.length === 0 ? facts.physicalBytes : Math.min(...(known as number[]));
}

function checkBytes(option: string, value: number | undefined, maxBytes: number, problems: Problems): void {
  if (value === undefined) return;
  const ok = Number.isInteger(value) && value > 0 && value <= maxBytes;
  if (!ok) problems.add(option, value, `integer 1..${maxBytes} (limit of this process)`);
}
