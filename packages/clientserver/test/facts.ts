/** Facts of a server that nobody has to run. */
import type { NodeIdentity } from '@zlink/kernel/identity';
import type { OwnFacts } from '@zlink/kernel/internal/discovery';

export type ServerFacts = OwnFacts<'clientServer'>;

export function factsOf(
  { rid, generation }: NodeIdentity,
  endpoint: string,
  rest: Partial<ServerFacts> = {},
): ServerFacts {
  const published = { name: 'billing', rid, lifecycleGeneration: generation, endpoint };
  return { ...published, revision: 1n, weight: 100, state: 'serving', ...rest };
}
