/** One-way messages over a bare link, counted at the receiver. */
import { atLeast, type Bar } from '../bar.ts';
import type { Scenario } from '../scenario.ts';
import { contest } from './contest.ts';

function oneWay(size: string, sizeBytes: number, bar: Bar): Scenario {
  return contest({
    name: `link-one-way-${size}`,
    says: `one-way messages of ${size} over a link, counted at the receiver`,
    sides: ['link', 'zeromq.js', 'node:net'],
    cargo: { kind: 'bytes', sizeBytes },
    pattern: { kind: 'stream' },
    comparisons: [
      { subject: 'link', reference: 'zeromq.js', bar },
      { subject: 'link', reference: 'node:net' },
    ],
  });
}

export const linkOneWay: readonly Scenario[] = [oneWay('64B', 64, atLeast(25)), oneWay('1KiB', 1_024, atLeast(8, 4.7))];
