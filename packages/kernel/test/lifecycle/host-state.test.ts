import { type HostState, hostTransitions, mayBecome } from '../../src/lifecycle/host-state.ts';

const allowed: readonly (readonly [HostState, HostState])[] = [
  ['configuring', 'starting'],
  ['starting', 'serving'],
  ['starting', 'error'],
  ['starting', 'draining'],
  ['serving', 'relocating'],
  ['serving', 'draining'],
  ['serving', 'error'],
  ['relocating', 'serving'],
  ['relocating', 'relocated'],
  ['relocating', 'draining'],
  ['relocated', 'draining'],
  ['error', 'draining'],
  ['draining', 'stopped'],
];

test('[SVC-001] exactly the thirteen transitions of the diagram are allowed', () => {
  const states = Object.keys(hostTransitions) as HostState[];
  expect(states).toHaveLength(8);
  const found = states.flatMap((from) => states.filter((to) => mayBecome(from, to)).map((to) => `${from} ${to}`));
  expect(found.sort()).toEqual(allowed.map(([from, to]) => `${from} ${to}`).sort());
});

test('[SVC-001] the table cannot be changed', () => {
  expect(() => (hostTransitions.stopped as HostState[]).push('serving')).toThrow(TypeError);
});
