/**
 * How much memory messages under way may take, from options and from what the machine has (JOBQ-002).
 *
 * Owns the table of profiles and the ranges. Leaves what the machine has to machine-facts.ts, dividing the budget to the
 * transport, and what applications call these options to the composer.
 */
import type { Problems } from '@zlink/kernel/errors';
import { checkInteger } from '@zlink/kernel/internal/options';
import type { MemoryFacts } from './machine-facts.ts';

export interface MessagingMemoryOptions {
  /** Memory the budget is a share of, in bytes; default: the smallest known of container and V8 heap limit. */
  readonly limitBytes?: number | undefined;
  /** The budget itself in bytes; wins over the limit. */
  readonly budgetBytes?: number | undefined;
  /** Share of the limit and size of windows; default `balanced`. */
  readonly profile?: keyof typeof PROFILES | undefined;
}

export interface MessagingMemory {
  readonly budgetBytes: number;
  readonly maxWindowBytes: number;
}

const PROFILES = {
  compact: { share: 0.05, maxWindowBytes: 262_144 },
  lowLatency: { share: 0.1, maxWindowBytes: 1_048_576 },
  balanced: { share: 0.2, maxWindowBytes: 4_194_304 },
  throughput: { share: 0.4, maxWindowBytes: 16_777_216 },
} as const;

type Names = Readonly<Record<keyof MessagingMemoryOptions, string>>;

const OWN_NAMES: Names = { limitBytes: 'limitBytes', budgetBytes: 'budgetBytes', profile: 'profile' };

/** @param names - what the application calls these options, for mistakes */
export function resolveMessagingMemory(
  options: MessagingMemoryOptions,
  facts: MemoryFacts,
  problems: Problems,
  names = OWN_NAMES,
): MessagingMemory {
  const hardLimitBytes = facts.containerBytes ?? facts.physicalBytes;
  checkBytes(names.limitBytes, options.limitBytes, hardLimitBytes, problems);
  checkBytes(names.budgetBytes, options.budgetBytes, hardLimitBytes, problems);
  const name = options.profile ?? 'balanced';
  // Plain JavaScript may name anything, also what every object inherits.
  if (!Object.hasOwn(PROFILES, name)) {
    problems.add(names.profile, name, Object.keys(PROFILES).join(', '));
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
  checkInteger(option, value, 1, maxBytes, {
    add: (name, found, allowed) => problems.add(name, found, `${allowed} (limit of this process)`),
  });
}
