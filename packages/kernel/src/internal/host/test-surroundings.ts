/**
 * What a test may put in the place of a host's time, calendar, chance and engine.
 *
 * Owns the contract between who composes a host and who makes such surroundings (`@zlink/testing`).
 *
 * 1. An application hands them on and sees nothing of them (HOSTREG-005).
 */
import type { Logger } from '../../observe/index.ts';
import type { JobPermits } from '../execution/index.ts';
import type { Clock, DeadlineWheel, RandomSource } from '../time/index.ts';
import type { EventTransport, Transport } from '../transport/index.ts';

export interface HostSurroundings {
  readonly clock: Clock;
  readonly random: RandomSource;
  /** The calendar time, for what people and other processes read; needs no `this`. */
  readonly dateMs: () => number;
  /** Called once, by the start of the host; the host closes both. */
  createTransports(needs: TransportNeeds): HostTransports;
}

/** What a host brings to its transports. */
export interface TransportNeeds {
  readonly permits: JobPermits;
  readonly memory: { readonly budgetBytes: number; readonly maxWindowBytes: number };
  readonly logger: Logger;
  readonly clock: Clock;
  readonly wheel: DeadlineWheel;
}

export interface HostTransports {
  readonly transport: Transport;
  readonly events: EventTransport;
}

/** Registered, so that two copies of this package agree on it. */
const inside: unique symbol = Symbol.for('@zlink/kernel/test-surroundings');

/** Opaque (1): `createTestCluster` of `@zlink/testing` makes them. */
export interface TestSurroundings {
  readonly [inside]: unknown;
}

export function concealSurroundings(surroundings: HostSurroundings): TestSurroundings {
  return Object.freeze({ [inside]: surroundings });
}

/** Undefined for anything else. */
export function surroundingsIn(value: unknown): HostSurroundings | undefined {
  // Whoever has the symbol has made the value with `concealSurroundings`.
  return (value as { readonly [inside]?: HostSurroundings } | undefined)?.[inside];
}
