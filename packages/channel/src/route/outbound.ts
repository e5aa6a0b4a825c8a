/** What all routes of one node have in common. */
import type { CallTerms, OutboundPhase } from '@zlink/kernel/call';
import type { NameIndex } from '@zlink/kernel/internal/wire';

export interface Outbound {
  /** Names the mesh in messages: `mesh "game"`. */
  readonly where: string;
  readonly terms: CallTerms;
  readonly names: NameIndex;
  readonly phase: OutboundPhase;
}
