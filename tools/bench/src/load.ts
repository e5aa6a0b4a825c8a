/**
 * Load on a client's end: streams, callers, floods and steady pace.
 *
 * Owns how messages are submitted, the same for every side. Leaves counting them to the receiver's meter.
 *
 * 1. A sender submits its next message as soon as the end has taken the last one, as a program that awaits each does.
 */
import type { Cargo } from './cargo.ts';
import { median } from './figures.ts';
import type { ClientEnd } from './sides/side.ts';

export async function stream(end: ClientEnd, cargo: Cargo, count: number): Promise<void> {
  for (let id = 0; id < count; id++) {
    const taken = end.send(cargo.make(id)); // 1
    if (taken !== undefined) await taken;
  }
}

export interface CallPlan {
  readonly count: number;
  /** Each waits for its answer before it asks again. */
  readonly callers: number;
  /** Every other operation is a one-way message. */
  readonly alternate: boolean;
}

export interface CallFigures {
  readonly elapsedMs: number;
  /** Median round trip of a single caller; NaN for several, whose round trips are mostly queueing. */
  readonly medianUs: number;
}

export async function calls(end: ClientEnd, cargo: Cargo, plan: CallPlan): Promise<CallFigures> {
  const { count, callers, alternate } = plan;
  const latencies: number[] = [];
  let issued = 0;
  const call = async (): Promise<void> => {
    while (issued < count) {
      const id = issued++;
      if (alternate && id % 2 === 1) {
        await end.send(cargo.make(id));
        continue;
      }
      const askedAtMs = callers === 1 ? performance.now() : 0;
      const reply = await end.request(cargo.make(id));
      if (callers === 1) latencies.push(performance.now() - askedAtMs);
      cargo.check(reply);
    }
  };
  const startedAtMs = performance.now();
  await Promise.all(Array.from({ length: callers }, call));
  return { elapsedMs: performance.now() - startedAtMs, medianUs: median(latencies) * 1_000 };
}

/** Load that runs until it is told to rest. */
export interface EndlessLoad {
  /** Messages that the end has taken so far. */
  readonly sentCount: number;
  rest(): Promise<{ readonly sentCount: number }>;
}

/** Sends as fast as the end takes messages, each of them a buffer of its own. */
export function flood(end: ClientEnd, cargo: Cargo): EndlessLoad {
  let isOn = true;
  let sentCount = 0;
  const run = async (): Promise<void> => {
    while (isOn) {
      // An end that keeps what was submitted must not get away with keeping one buffer many times.
      await end.send(Buffer.from(cargo.make(sentCount) as Uint8Array));
      sentCount++;
    }
  };
  const running = run();
  return {
    get sentCount() {
      return sentCount;
    },
    rest: async () => {
      isOn = false;
      await running;
      return { sentCount };
    },
  };
}

const paceMs = 10;
const maxInFlight = 2_000;

/** A steady number of operations per second, requests and sends by turns. */
export function pace(end: ClientEnd, cargo: Cargo, operationsPerSecond: number): EndlessLoad {
  const inFlight = new Set<Promise<void>>();
  const startedAtMs = performance.now();
  let failure: unknown;
  let sentCount = 0;

  const watch = (running: Promise<void>): void => {
    const settled = running
      .catch((error: unknown) => {
        failure ??= error;
      })
      .finally(() => inFlight.delete(settled));
    inFlight.add(settled);
  };
  const ask = async (id: number): Promise<void> => cargo.check(await end.request(cargo.make(id)));
  const timer = setInterval(() => {
    const dueCount = ((performance.now() - startedAtMs) / 1_000) * operationsPerSecond;
    while (sentCount < dueCount && inFlight.size < maxInFlight) {
      const id = sentCount++;
      const running = id % 2 === 0 ? ask(id >> 1) : end.send(cargo.make(id >> 1));
      if (running !== undefined) watch(running);
    }
  }, paceMs);

  return {
    get sentCount() {
      return sentCount;
    },
    rest: async () => {
      clearInterval(timer);
      await Promise.all(inFlight);
      if (failure !== undefined) throw failure as Error; // whatever an end rejects with
      return { sentCount };
    },
  };
}
