/** A run of the mesh in which everything adds up, for tests to break. */
import type { CallCounts } from '../../src/calls.ts';
import type { Answer } from '../../src/mesh/contracts.ts';
import type { Evidence, NodeEvidence } from '../../src/mesh/evidence.ts';
import type { CallerCounts, NodeCounts } from '../../src/mesh/reports.ts';
import { verbCounts } from '../shop/figures.ts';

function calls(answered: Readonly<Record<string, number>>, failed: number, errors: CallCounts['errors']): CallCounts {
  const all = Object.values(answered).reduce((total, count) => total + count, failed);
  return { accepted: all, answered, errors, wrong: 0, untyped: 0 };
}

export function callerCounts(change: Partial<CallerCounts> = {}): CallerCounts {
  return {
    channel: calls({ 'play-1': 4_000, 'play-2': 4_510, 'play-2*': 4_500 }, 30, {
      Unavailable: { submitted: 30, notSubmitted: 0 },
    }),
    direct: calls({ 'play-1': 60, 'play-2': 20, 'play-2*': 20 }, 3, { Unavailable: { submitted: 1, notSubmitted: 2 } }),
    rounds: { even: 300, uneven: 0, answered: { 'play-1': 3_000, 'play-2': 4_500, 'play-2*': 4_500 } },
    ...change,
  };
}

export function nodeCounts(channel: number, direct: number): NodeCounts {
  return { channel: verbCounts(channel), direct: verbCounts(direct) };
}

const lobby: NodeEvidence = {
  name: 'lobby',
  rid: 'lobby',
  weight: 0,
  end: 'stopped',
  outcome: 'stopped',
  counts: nodeCounts(0, 3),
};

const play1: NodeEvidence = {
  name: 'play-1',
  rid: 'play-1',
  weight: 100,
  end: 'stopped',
  outcome: 'stopped',
  counts: nodeCounts(4_000, 64),
};

const killed: NodeEvidence = {
  name: 'play-2',
  rid: 'play-2',
  weight: 300,
  end: 'killed',
  outcome: undefined,
  counts: nodeCounts(4_400, 21),
};

const again: NodeEvidence = { ...play1, name: 'play-2*', rid: 'play-2', weight: 300, counts: nodeCounts(4_500, 21) };

export const soundNodes = { lobby, play1, killed, again };

function greetings(name: string, rid: string, times: number): Answer[] {
  return Array.from({ length: times }, () => ({ name, rid }));
}

export function evidence(change: Partial<Evidence> = {}): Evidence {
  return {
    calls: callerCounts(),
    order: ['play-2', 'play-1', 'play-2', 'play-2'],
    greetings: [
      ...greetings('lobby', 'lobby', 3),
      ...greetings('play-1', 'play-1', 4),
      ...greetings('play-2', 'play-2', 2),
      ...greetings('play-2*', 'play-2', 1),
    ],
    nodes: [lobby, play1, killed, again],
    ...change,
  };
}
