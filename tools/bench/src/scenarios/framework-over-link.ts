/**
 * The framework over its own link with opaque bytes: the cost of host, calls and dispatch alone, without any codec.
 *
 * The strictest reading of the bar: with JSON, which both sides then pay for, the same ratio comes out higher.
 */
import { atLeast } from '../bar.ts';
import type { Pattern } from '../duo.ts';
import type { Scenario } from '../scenario.ts';
import { contest } from './contest.ts';

function overLink(what: string, size: string, sizeBytes: number, pattern: Pattern, recorded: number): Scenario {
  return contest({
    name: `framework-over-link-${what}-${size}`,
    says: `${what} of ${size} opaque bytes, framework and bare link`,
    sides: ['framework', 'link'],
    cargo: { kind: 'bytes', sizeBytes },
    pattern,
    comparisons: [{ subject: 'framework', reference: 'link', bar: atLeast(0.8, recorded) }],
  });
}

const stream: Pattern = { kind: 'stream' };
const calls: Pattern = { kind: 'calls', callers: 100 };

export const frameworkOverLink: readonly Scenario[] = [
  overLink('requests', '64B', 64, calls, 0.6),
  overLink('requests', '1KiB', 1_024, calls, 0.8),
  overLink('sends', '64B', 64, stream, 0.18),
  overLink('sends', '1KiB', 1_024, stream, 0.8),
];
