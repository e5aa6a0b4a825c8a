/** Scenarios and outcomes that nobody performed. */
import type { Cell } from '../src/matrix.ts';
import type { Outcome, Run } from '../src/runner/outcome.ts';
import type { Chapter, Scenario, Topic } from '../src/scenario.ts';

export const base: Cell = { store: 'manual', codec: 'json', security: 'plain' };

export function scenario(ids: readonly string[], more: Partial<Scenario> = {}): Scenario {
  return { ids, title: `about ${ids.join(' and ')}`, run: async () => undefined, ...more };
}

export function run(ids: readonly string[], cell: Partial<Cell> = {}, topic: Topic = 'channels'): Run {
  return { topic, scenario: scenario(ids), cell: { ...base, ...cell } };
}

export function passed(...args: Parameters<typeof run>): Outcome {
  return { run: run(...args), ms: 1_234 };
}

export function failed(text: string, ...args: Parameters<typeof run>): Outcome {
  return { run: run(...args), ms: 567, failure: { text, logs: ['host warn {"eventId":"a<b"}'] } };
}

export const chapters: readonly Chapter[] = [
  {
    topic: 'foundation',
    scenarios: [scenario(['MSG-001'], { over: { codec: ['json', 'msgpack'] }, needsPeerOnly: true })],
  },
  {
    topic: 'channels',
    scenarios: [
      scenario(['WRR-001', 'WRR-002'], { over: { store: ['manual', 'redis'], security: ['plain', 'curve'] } }),
      scenario(['CS-001']),
    ],
  },
];
