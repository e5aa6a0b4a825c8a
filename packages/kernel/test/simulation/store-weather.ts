/**
 * What goes wrong between a host and its store, by chance.
 *
 * Owns which faults there are. Leaves how they work to the faulty store.
 */
import type { FaultyLocationStore, StoreFault, StoreOperation } from '@zlink/testing';
import { StoreError } from '../../src/location/index.ts';
import type { Stage } from './simulation.ts';

const longestDelayMs = 9_000; // longer than any call waits

export function breakStore(stage: Stage, host: string, store: FaultyLocationStore): void {
  const fault = someFault(stage);
  const on = stage.pick<StoreOperation | undefined>([undefined, 'commit', 'commit', 'read', 'scan']);
  const times = stage.chance(0.25) ? Infinity : 1 + stage.below(5);
  const detail =
    fault.kind === 'delay' ? ` ${fault.ms} ms at ${fault.at}` : fault.kind === 'hold' ? ` at ${fault.at}` : '';
  stage.tellFault(`${host}: ${fault.kind}${detail}, ${on ?? 'all'}, ${times} times`);
  store.inject(fault, on, times);
}

function someFault(stage: Stage): StoreFault {
  const at = stage.pick(['request', 'reply'] as const);
  switch (stage.below(6)) {
    case 0:
      return { kind: 'fail' };
    case 1:
      return { kind: 'fail', error: new StoreError('timeout', 'unknown', 'no answer') };
    case 2:
      return { kind: 'throw', error: new Error('broken') };
    case 3:
      return { kind: 'loseReply' };
    case 4:
      return { kind: 'hold', at };
    default:
      return { kind: 'delay', at, ms: stage.someMs(longestDelayMs) };
  }
}
