/**
 * `requestToChannel` on a ClientServer channel with JSON, 100 in flight.
 *
 * All sides turn the same object into JSON and back on both ends. The link carries it without host, calls and dispatch:
 * what these cost shows in the ratio to it.
 */
import { atLeast, type Bar } from '../bar.ts';
import type { Scenario } from '../scenario.ts';
import { contest } from './contest.ts';

function requests(size: string, bodyBytes: number, bar: Bar): Scenario {
  return contest({
    name: `framework-requests-${size}`,
    says: `requestToChannel with JSON { id, name, body of ${size} }, answered with the same object, 100 in flight`,
    sides: ['framework', 'zeromq.js', 'link', 'node:net'],
    cargo: { kind: 'json', bodyBytes: [bodyBytes] },
    pattern: { kind: 'calls', callers: 100 },
    comparisons: [
      { subject: 'framework', reference: 'zeromq.js', bar },
      { subject: 'framework', reference: 'link', bar: atLeast(0.8) },
      { subject: 'framework', reference: 'node:net' },
    ],
  });
}

export const frameworkRequests: readonly Scenario[] = [
  requests('64B', 64, atLeast(4, 2.2)),
  requests('1KiB', 1_024, atLeast(2.8, 2.2)),
];
