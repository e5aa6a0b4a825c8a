/** What a link is made of: the facts of its admission, and what all links of one host share. */
import type { JobPermits } from '../execution/index.ts';
import type { Clock, DeadlineWheel, RandomSource } from '../time/index.ts';
import type { Pipe } from '../transport/engine.ts';
import type { LinkSink } from '../transport/records.ts';
import type { CorrelationScope, PeerFacts } from '../transport/transport.ts';
import type { Descriptor } from '../wire/hello.ts';
import type { Flusher } from './flusher.ts';
import type { LivenessTimes } from './liveness.ts';
import type { PhysicalLink } from './physical-link.ts';
import type { WindowBudget, WindowShare } from './window-budget.ts';

export interface LinkServices {
  readonly clock: Clock;
  readonly wheel: DeadlineWheel;
  readonly permits: JobPermits;
  readonly flusher: Flusher;
  readonly liveness: LivenessTimes;
  readonly random: RandomSource;
  readonly budget: WindowBudget;
  /** A callback of the topic, or the engine, has thrown (K3). */
  readonly onFault: (error: unknown) => void;
  /** A peer has broken the protocol after it was admitted (WIRE-003). */
  readonly onViolation: (fault: string, address: string) => void;
}

export interface LinkFacts {
  readonly id: number;
  readonly pipe: Pipe;
  readonly dialed: boolean;
  readonly peer: PeerFacts;
  readonly correlationScope: CorrelationScope;
  readonly descriptor: Descriptor;
  /** What the peer granted in its hello. */
  readonly sendWindowBytes: number;
  /** What this side grants. */
  readonly receiveWindow: WindowShare;
  readonly completionLane: boolean;
  readonly openSink: (link: PhysicalLink) => LinkSink;
  /** It takes no new work any more. */
  readonly onFinishing: (link: PhysicalLink) => void;
  /** `droppedCount`: received records that will never have their turn. */
  readonly onClosed: (link: PhysicalLink, reason: string, droppedCount: number) => void;
}
