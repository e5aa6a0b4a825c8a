/** What the other side of a link can be used for now: from the phase of the link and from what that side says. */
import type { Link } from '../transport/index.ts';
import { DescriptorState } from '../wire/index.ts';

/** Connected and serving; with weight 0 it is ready too, but never chosen (CS-004, CHAN-002). */
export function isReady({ phase, descriptor }: Link): boolean {
  return phase === 'open' && descriptor.state === DescriptorState.serving;
}

/** Ends what it accepted; a node that moves its objects away counts as draining (CHAN-002). */
export function isDraining({ descriptor }: Link): boolean {
  return descriptor.state > DescriptorState.serving;
}
