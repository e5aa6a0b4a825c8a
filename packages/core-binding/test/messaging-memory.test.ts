import { Problems } from '@zlink/kernel/errors';
import {
  type MemoryFacts,
  type MessagingMemory,
  type MessagingMemoryOptions,
  readMemoryFacts,
  resolveMessagingMemory,
} from '../src/index.ts';

const names = { limitBytes: 'the limit', budgetBytes: 'the budget', profile: 'the profile' };
const GIB = 1_073_741_824;
const facts: MemoryFacts = { containerBytes: 2 * GIB, heapBytes: 4 * GIB, physicalBytes: 16 * GIB };

function problemsOf(options: MessagingMemoryOptions, known: MemoryFacts = facts): string[] {
  const found: string[] = [];
  const problems = new Problems();
  resolveMessagingMemory(options, known, problems, names);
  try {
    problems.throwIfAny();
  } catch (error) {
    found.push(...(error as { readonly problems: readonly string[] }).problems); // nothing else is thrown there
  }
  return found;
}

function resolve(options: MessagingMemoryOptions, known: MemoryFacts = facts): MessagingMemory {
  expect(problemsOf(options, known)).toEqual([]);
  return resolveMessagingMemory(options, known, new Problems(), names);
}

test.each([
  ['compact', 5, 262_144],
  ['lowLatency', 10, 1_048_576],
  ['balanced', 20, 4_194_304],
  ['throughput', 40, 16_777_216],
] as const)(
  '[JOBQ-002] profile %s takes %d %% of the limit and windows up to %d',
  (profile, percent, maxWindowBytes) => {
    const limitBytes = 1_000_000_000;
    expect(resolve({ profile, limitBytes })).toEqual({ budgetBytes: limitBytes * (percent / 100), maxWindowBytes });
  },
);

test('[JOBQ-002] balanced is the default', () => {
  expect(resolve({})).toEqual(resolve({ profile: 'balanced' }));
});

test.each<[string, MemoryFacts, number]>([
  ['the container is the smaller', facts, 2 * GIB],
  ['the heap is the smaller', { ...facts, heapBytes: GIB }, GIB],
  ['no container', { ...facts, containerBytes: undefined }, 4 * GIB],
  ['no heap limit', { ...facts, heapBytes: undefined }, 2 * GIB],
  ['a heap limit of 0 is none', { ...facts, heapBytes: 0 }, 2 * GIB],
  ['neither: all of the machine', { containerBytes: undefined, heapBytes: undefined, physicalBytes: 3 * GIB }, 3 * GIB],
])('[JOBQ-002] the limit where none is given: %s', (_, known, limitBytes) => {
  expect(resolve({}, known).budgetBytes).toBe(Math.floor(limitBytes * 0.2));
});

test('[JOBQ-001] a given budget wins over a given limit, and changes no window', () => {
  expect(resolve({ budgetBytes: 12_345, limitBytes: GIB, profile: 'compact' })).toEqual({
    budgetBytes: 12_345,
    maxWindowBytes: 262_144,
  });
});

test('[JOBQ-001] bytes go up to what the process may have: its container, else the machine', () => {
  const alone = { ...facts, containerBytes: undefined };
  for (const option of ['limitBytes', 'budgetBytes'] as const) {
    expect(problemsOf({ [option]: 2 * GIB })).toEqual([]);
    expect(problemsOf({ [option]: 2 * GIB + 1 })).toEqual([
      expect.stringMatching(/: 2147483649 is not allowed, allowed: integer 1\.\.2147483648 \(limit of this process\)$/),
    ]);
    expect(problemsOf({ [option]: 16 * GIB }, alone)).toEqual([]); // the heap's limit is a hint, no hard one
    expect(problemsOf({ [option]: 16 * GIB + 1 }, alone)).toHaveLength(1);
    for (const value of [0, -1, 0.5, NaN, Infinity]) expect(problemsOf({ [option]: value })).toHaveLength(1);
  }
});

test('[JOBQ-001] [ERR-002] every mistake is reported, one for each option, under the name it is given', () => {
  const profile = 'toString' as never; // a caller without types may name anything
  expect(problemsOf({ limitBytes: -1, budgetBytes: 0, profile })).toEqual([
    expect.stringMatching(/^the limit: -1 is not allowed/),
    expect.stringMatching(/^the budget: 0 is not allowed/),
    'the profile: "toString" is not allowed, allowed: compact, lowLatency, balanced, throughput',
  ]);
});

test('[JOBQ-001] without other names a mistake has the names of these options', () => {
  const problems = new Problems();
  resolveMessagingMemory({ limitBytes: 0, budgetBytes: 0, profile: 'huge' as never }, facts, problems); // as above
  expect(() => problems.throwIfAny()).toThrow(/limitBytes: 0 is[^]*budgetBytes: 0 is[^]*profile: "huge" is/);
});

test('[JOBQ-002] on this machine the facts are plausible and a budget comes of them', () => {
  const known = readMemoryFacts();
  expect(known.heapBytes).toBeGreaterThan(1_048_576);
  expect(known.physicalBytes).toBeGreaterThan(1_048_576);
  expect(known.containerBytes ?? 0).toBeLessThan(known.physicalBytes);
  const { budgetBytes } = resolve({}, known);
  expect(budgetBytes).toBeGreaterThan(0);
  expect(budgetBytes).toBeLessThanOrEqual(known.physicalBytes * 0.2);
});
