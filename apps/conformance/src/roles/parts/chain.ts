/** Builder calls in a row, with any arguments: how a mistake is described that TypeScript would have caught. */
import { type PacketLabel, packets } from '../../contracts.ts';
import type { ChainPlan } from '../plan.ts';
import type { Composition } from './composition.ts';

export function describeChain({ host }: Composition, { steps }: ChainPlan): void {
  let at: unknown = host;
  for (const [name, ...args] of steps) {
    if (name === '$host') {
      at = host;
      continue;
    }
    const methods = at as Record<string, (...given: unknown[]) => unknown>; // a name that is no method fails as in JavaScript
    at = methods[String(name)]!(...args.map(meant));
  }
}

function meant(argument: unknown): unknown {
  if (typeof argument !== 'object' || argument === null) return argument;
  if ('$packet' in argument) return packets[argument.$packet as PacketLabel]; // plans are written with labels
  if ('$handler' in argument) return sharedHandler;
  return argument;
}

function sharedHandler(): undefined {
  return undefined;
}
