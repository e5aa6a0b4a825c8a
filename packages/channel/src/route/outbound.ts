/** What all routes of one node have in common. */
import type { CallTerms, OutboundPhase } from '@zlink/kernel/call';
import type { NameIndex } from '@zlink/kernel/internal/wire';
import type { HostMeter } from '@zlink/kernel/observe';

export interface Outbound {
  readonly meshName: string;
  /** Of this node. */
  readonly rid: string;
  /** Names the mesh in messages: `mesh "game"`. */
  readonly where: string;
  readonly terms: CallTerms;
  readonly names: NameIndex;
  readonly phase: OutboundPhase;
  readonly meter: HostMeter | undefined;
}
