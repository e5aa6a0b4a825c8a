/** Requests over a bare link, 100 in flight. */
import { atLeast, type Bar } from '../bar.ts';
import type { Scenario } from '../scenario.ts';
import { contest } from './contest.ts';

function requests(size: string, sizeBytes: number, bar: Bar): Scenario {
  return contest({
    name: `link-requests-${size}`,
    says: `requests of ${size} over a link, answered with the same bytes, 100 in flight`,
    sides: ['link', 'zeromq.js', 'node:net'],
    cargo: { kind: 'bytes', sizeBytes },
    pattern: { kind: 'calls', callers: 100 },
    comparisons: [
      { subject: 'link', reference: 'zeromq.js', bar },
      { subject: 'link', reference: 'node:net' },
    ],
  });
}

export const linkRequests: readonly Scenario[] = [
  requests('64B', 64, atLeast(10, 6.4)),
  requests('1KiB', 1_024, atLeast(6, 4.1)),
];
