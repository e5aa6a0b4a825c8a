/** Facts of a publisher that nobody has to run. */
import type { NodeIdentity } from '@zlink/kernel/identity';
import type { OwnFacts } from '@zlink/kernel/internal/discovery';

type PublisherFacts = OwnFacts<'fanout'>;

export function factsOf(
  { rid, generation }: NodeIdentity,
  endpoint: string,
  rest: Partial<PublisherFacts> = {},
): PublisherFacts {
  const published = { name: 'news', rid, lifecycleGeneration: generation, endpoint };
  return { ...published, revision: 1n, state: 'serving', ...rest };
}
