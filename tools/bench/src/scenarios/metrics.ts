/** What measuring requests costs: the framework with a meter provider of the OpenTelemetry SDK over the framework without one. */
import { atLeast } from '../bar.ts';
import type { Pattern } from '../duo.ts';
import type { Scenario } from '../scenario.ts';
import { contest } from './contest.ts';

function metered(what: string, says: string, pattern: Pattern): Scenario {
  return contest({
    name: `metrics-${what}-64B`,
    says: `${says} with JSON { id, name, body of 64 B }, with metrics and without`,
    sides: ['framework', 'framework metered'],
    cargo: { kind: 'json', bodyBytes: [64] },
    pattern,
    comparisons: [{ subject: 'framework metered', reference: 'framework', bar: atLeast(0.75) }],
  });
}

export const metrics: readonly Scenario[] = [
  metered('requests', 'requestToChannel, 100 in flight', { kind: 'calls', callers: 100 }),
  metered('sends', 'sendToChannel, counted at the handler', { kind: 'stream' }),
];
