/**
 * Load on a client's end: streams, callers, floods and steady pace.
 *
 * Owns how messages are submitted, the same for every side. Leaves counting them to the receiver's meter.
 *
 * 1. A sender submits its next message as soon as the end has taken the last one, as a program that awaits each does.
 */
import { type Cargo, createCargo, type CargoSpec } from './cargo.ts';
import { median } from './figures.ts';
import type { ClientEnd } from './sides/side.ts';

export async function stream(end: ClientEnd, cargo: Cargo, count: number): Promise<void> {
  for (let id = 0; id < count; id++) {
    const taken = end.send(cargo.make(id)); // 1
    if (taken !== undefined) await taken;
  }
}

export interface CallFigures {
  readonly elapsedMs: number;
  /** Median round trip; with many callers it holds their queueing as well. */
  readonly medianUs: number;
}

export async function calls(end: ClientEnd, cargo: Cargo, count: number, callers: number): Promise<CallFigures> {
  const latencies = new Float64Array(callers === 1 ? count : 0);
  let issued = 0;
  const call = async (): Promise<void> => {
    while (issued < count) {
      const id = issued++;
      const startedAtMs = callers === 1 ? performance.now() : 0;
      const reply = await end.request(cargo.make(id));
      if (callers === 1) latencies[id] = performance.now() - startedAtMs;
      cargo.check(reply);
    }
  };
  const startedAtMs = performance.now();
  await Promise.all(Array.from({ length: callers }, call));
  return { elapsedMs: performance.now() - startedAtMs, medianUs: median([...latencies]) * 1_000 };
}

/** Load that runs until it is told to rest. */
export interface EndlessLoad {
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
    rest: async () => {
      isOn = false;
      await running;
      return { sentCount };
    },
  };
}

const paceMs = 10;
const maxInFlight = 2_000;

/** A steady number of operations per second, by turns requests and sends, over a mix of cargos. */
export function pace(end: ClientEnd, mix: readonly CargoSpec[], operationsPerSecond: number): EndlessLoad {
  const cargos = mix.map((spec) => createCargo(spec));
  const inFlight = new Set<Promise<void>>();
  let failure: unknown;
  let sentCount = 0;
  const startedAtMs = performance.now();

  const start = (operate: (cargo: Cargo) => Promise<void> | undefined): void => {
    const running = operate(cargos[sentCount % cargos.length]!)
      ?.catch((error: unknown) => {
        failure ??= error;
      })
      .finally(() => inFlight.delete(running!));
    if (running !== undefined) inFlight.add(running);
    sentCount++;
  };
  const ask = async (cargo: Cargo): Promise<void> => cargo.check(await end.request(cargo.make(sentCount)));
  const send = (cargo: Cargo): Promise<void> | undefined => end.send(cargo.make(sentCount));
  const timer = setInterval(() => {
    const dueCount = ((performance.now() - startedAtMs) / 1_000) * operationsPerSecond;
    while (sentCount < dueCount && inFlight.size < maxInFlight) start(sentCount % 2 === 0 ? ask : send);
  }, paceMs);

  return {
    rest: async () => {
      clearInterval(timer);
      await Promise.all(inFlight);
      if (failure !== undefined) throw failure as Error; // whatever an end rejects with
      return { sentCount };
    },
  };
}
