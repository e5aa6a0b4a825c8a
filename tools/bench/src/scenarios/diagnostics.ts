/**
 * What following messages costs: each diagnostics level over `off`, both hosts at the same one, loggers that do nothing.
 *
 * Records that find no place in the queue are left out: under a flood the phases of `normal` cost no more than their share of
 * all time.
 */
import { atLeast, type Bar } from '../bar.ts';
import type { Pattern } from '../duo.ts';
import type { Scenario } from '../scenario.ts';
import { contest } from './contest.ts';

interface Bars {
  readonly errors: Bar;
  readonly normal: Bar;
}

function diagnosed(what: string, says: string, pattern: Pattern, { errors, normal }: Bars): Scenario {
  return contest({
    name: `diagnostics-${what}-64B`,
    says: `${says} with JSON { id, name, body of 64 B }, by diagnostics level`,
    sides: ['framework off', 'framework errors', 'framework normal', 'framework detailed'],
    cargo: { kind: 'json', bodyBytes: [64] },
    pattern,
    comparisons: [
      { subject: 'framework errors', reference: 'framework off', bar: errors },
      { subject: 'framework normal', reference: 'framework off', bar: normal },
      { subject: 'framework detailed', reference: 'framework off' },
    ],
  });
}

export const diagnostics: readonly Scenario[] = [
  diagnosed(
    'requests',
    'requestToChannel, 100 in flight',
    { kind: 'calls', callers: 100 },
    { errors: atLeast(0.9), normal: atLeast(0.75) },
  ),
  diagnosed(
    'sends',
    'sendToChannel, counted at the handler',
    { kind: 'stream' },
    { errors: atLeast(0.9), normal: atLeast(0.75) },
  ),
];
