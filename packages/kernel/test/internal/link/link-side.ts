/**
 * One end of a link with everything that its host would give it, and a topic that does as the test says.
 *
 * Owns the host's parts of this end. Two sides share a clock and are joined by a pipe pair.
 */
import { JobPermits, type JobPermitLimits } from '../../../src/internal/execution/index.ts';
import { Flusher } from '../../../src/internal/link/flusher.ts';
import { PhysicalLink } from '../../../src/internal/link/physical-link.ts';
import { WindowBudget } from '../../../src/internal/link/window-budget.ts';
import { DeadlineWheel } from '../../../src/internal/time/index.ts';
import type { InboundName, InboundRecord, Link, LinkSink } from '../../../src/internal/transport/index.ts';
import type { Descriptor } from '../../../src/internal/wire/index.ts';
import { DescriptorState, MIN_WINDOW_BYTES, ObjectRole } from '../../../src/internal/wire/index.ts';
import type { RecordKind } from '../../../src/internal/wire/record.ts';
import { type ManualClock, loopTurns } from '@zlink/testing';
import { TestPipe } from './pipe-pair.ts';
import { TestRecord } from './test-record.ts';

export interface SideOptions {
  readonly permits?: Partial<JobPermitLimits>;
  readonly budgetBytes?: number;
  readonly maxWindowBytes?: number;
  readonly maxMessageBytes?: number;
}

export interface Received {
  readonly kind: RecordKind;
  readonly correlation: number;
  readonly remainingMs: number;
  readonly name: InboundName | undefined;
  readonly payload: Uint8Array;
}

export const DESCRIPTOR: Descriptor = {
  revision: 1n,
  state: DescriptorState.serving,
  objectRole: ObjectRole.none,
  channels: [{ name: 'billing', weight: 100 }],
};

export class LinkSide implements LinkSink {
  readonly pipe: TestPipe;
  readonly permits: JobPermits;
  readonly wheel: DeadlineWheel;
  readonly flusher: Flusher;
  readonly budget: WindowBudget;
  /** What callbacks or the wheel's entries have thrown. */
  readonly faults: unknown[] = [];
  /** How the other side broke the protocol. */
  readonly violations: string[] = [];
  readonly received: Received[] = [];
  readonly unmatched: number[] = [];
  readonly canceled: number[] = [];
  readonly updates: Descriptor[] = [];
  readonly closed: string[] = [];
  finishing = 0;
  /** Permits of delivered records that were not returned yet. */
  held = 0;
  holding = false;
  onOpen: ((link: Link) => void) | undefined;
  onDelivered: ((record: Received, link: Link) => void) | undefined;
  /** Runs first in each callback; may throw. */
  beforeCallback: ((what: 'record' | 'unmatched' | 'cancel' | 'update' | 'finishing' | 'closed') => void) | undefined;
  link!: PhysicalLink; // made by `join`, before anything happens

  constructor(pipe: TestPipe, clock: ManualClock, options: SideOptions) {
    this.pipe = pipe;
    this.permits = new JobPermits({
      max: 1_024,
      pauseThresholdPercent: 100,
      resumeThresholdPercent: 60,
      ...options.permits,
    });
    this.wheel = new DeadlineWheel({ clock, onError: (error) => this.faults.push(error) });
    this.flusher = new Flusher(clock);
    this.budget = new WindowBudget(options.budgetBytes ?? 16_777_216, options.maxWindowBytes ?? MIN_WINDOW_BYTES);
    this.permits.onFlow((flow) => {
      if (flow === 'RUNNING') this.link.onFlowRunning();
    });
  }

  onRecord(record: InboundRecord, link: Link): void {
    this.beforeCallback?.('record');
    const { kind, correlation, remainingMs, name, payload, payloadStart, payloadEnd } = record;
    const kept = { kind, correlation, remainingMs, name, payload: payload.slice(payloadStart, payloadEnd) };
    this.received.push(kept);
    if (this.holding) this.held++;
    else this.permits.release();
    this.onDelivered?.(kept, link);
  }

  onUnmatched(record: InboundRecord): void {
    this.beforeCallback?.('unmatched');
    this.unmatched.push(record.correlation);
  }

  onCancel(correlation: number): void {
    this.beforeCallback?.('cancel');
    this.canceled.push(correlation);
  }

  onUpdate(link: Link): void {
    this.beforeCallback?.('update');
    this.updates.push(link.descriptor);
  }

  onFinishing(): void {
    this.beforeCallback?.('finishing');
    this.finishing++;
  }

  onClosed(_link: Link, reason: string): void {
    this.beforeCallback?.('closed');
    this.closed.push(reason);
  }

  letGoOne(): boolean {
    if (this.held === 0) return false;
    this.held--; // first: the release may bring the next record
    this.permits.release();
    return true;
  }

  /** Returns all held permits and holds none any more. */
  letGo(): void {
    this.holding = false;
    while (this.letGoOne());
  }

  reply(to: Received, payload = to.payload): TestRecord {
    return TestRecord.reply(to.correlation, { payload }).submit(this.link);
  }
}

export interface LinkPair {
  readonly clock: ManualClock;
  readonly near: LinkSide;
  readonly far: LinkSide;
}

export interface JoinOptions {
  /** RouteMesh: with a completion lane; otherwise ClientServer. */
  readonly completionLane: boolean;
  readonly near?: SideOptions;
  readonly far?: SideOptions;
  readonly liveness?: { readonly probeIntervalMs: number; readonly deadlineMs: number };
  /** Called before the links are made. */
  readonly prepare?: (pair: LinkPair) => void;
}

/** Two admitted ends of one link. */
export function joinLinks(clock: ManualClock, options: JoinOptions): LinkPair {
  const [nearPipe, farPipe] = TestPipe.pair();
  const near = new LinkSide(nearPipe, clock, options.near ?? {});
  const far = new LinkSide(farPipe, clock, options.far ?? {});
  const pair = { clock, near, far };
  options.prepare?.(pair);
  const nearWindow = near.budget.open(() => near.link.announceWindow());
  const farWindow = far.budget.open(() => far.link.announceWindow());
  const liveness = options.liveness ?? { probeIntervalMs: 5_000, deadlineMs: 15_000 };
  for (const [side, dialed, own, others, peer] of [
    [near, true, nearWindow, farWindow, options.far],
    [far, false, farWindow, nearWindow, options.near],
  ] as const) {
    side.link = new PhysicalLink(
      {
        id: dialed ? 1 : 2,
        pipe: side.pipe,
        dialed,
        correlationScope: { own: `${dialed}-`, peer: `${!dialed}-` },
        peer: {
          scope: 'billing',
          rid: dialed ? 'far' : 'near',
          generation: 1n,
          endpoint: '',
          securityIdentity: undefined,
          maxMessageBytes: peer?.maxMessageBytes ?? 0,
        },
        descriptor: DESCRIPTOR,
        sendWindowBytes: others.grantedBytes,
        receiveWindow: own,
        completionLane: options.completionLane,
        openSink: (link) => {
          side.onOpen?.(link);
          return side;
        },
        onFinishing: () => undefined,
        onClosed: () => undefined,
      },
      {
        clock,
        wheel: side.wheel,
        permits: side.permits,
        flusher: side.flusher,
        budget: side.budget,
        random: () => 0.5,
        liveness,
        onFault: (error) => side.faults.push(error),
        onViolation: (fault, address) => {
          expect(address).toBe(side.pipe.address);
          side.violations.push(fault);
        },
      },
    );
    side.pipe.sink = side.link;
  }
  return pair;
}

/** Lets turns end and messages arrive until nothing is under way. */
export async function settle({ near, far }: LinkPair): Promise<void> {
  for (let quiet = 0; quiet < 2;) {
    await loopTurns(1);
    const moved = deliverAll(near.pipe, far.pipe);
    quiet = moved ? 0 : quiet + 1;
  }
}

function deliverAll(...pipes: readonly TestPipe[]): boolean {
  let moved = false;
  for (const pipe of pipes) while (pipe.deliver()) moved = true;
  return moved;
}

/** Moves time on in small steps, letting everything under way arrive after each. */
export async function pass(pair: LinkPair, ms: number, stepMs = 10): Promise<void> {
  await settle(pair);
  for (let leftMs = ms; leftMs > 0; leftMs -= stepMs) {
    pair.clock.advance(Math.min(stepMs, leftMs));
    await settle(pair);
  }
}

/** What must be so once both links have ended: nothing is held, nothing ticks. */
export function leftovers({ clock, near, far }: LinkPair): string[] {
  const found: string[] = [];
  for (const [name, side] of [
    ['near', near],
    ['far', far],
  ] as const) {
    side.flusher.close();
    const note = (what: string, count: number): void => {
      if (count !== 0) found.push(`${name}: ${what} ${count}`);
    };
    note('permits in use', side.permits.inUse - side.held);
    note('granted bytes', side.budget.grantedBytes);
    note('entries in the wheel', side.wheel.size);
    note('waiting records', side.link.waitingRecords);
    note('pending requests', side.link.pendingRequests);
    note('ends more or less than one', side.closed.length - 1);
    if (side.link.phase !== 'closed') found.push(`${name}: the link is ${side.link.phase}`);
  }
  if (clock.pendingTimers !== 0) found.push(`${clock.pendingTimers} timers`);
  return found;
}
