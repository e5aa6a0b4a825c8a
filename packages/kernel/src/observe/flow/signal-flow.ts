/**
 * The flows behind the signals that the framework gave to handlers.
 *
 * Owns the memory from signal to flow: a call that a handler starts with its own signal, which ties it to the handler's
 * deadline, belongs to the handler's flow, too (TRACE-026).
 */
import type { CarriedFlow } from './flow.ts';

const flows = new WeakMap<AbortSignal, CarriedFlow>();

export function flowOf(signal: AbortSignal): CarriedFlow | undefined {
  return flows.get(signal);
}

export function setFlow(signal: AbortSignal, flow: CarriedFlow): void {
  flows.set(signal, flow);
}
