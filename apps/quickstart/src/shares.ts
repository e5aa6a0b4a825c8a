/** Who got which part of what came in between two counts, 0..1 each; nothing, if nothing came. */
import { sum } from './calls.ts';

type Counts = Readonly<Record<string, number>>;

export function sharesSince(before: Counts = {}, now: Counts): Counts {
  const all = sum(now) - sum(before);
  if (all === 0) return {};
  return Object.fromEntries(Object.entries(now).map(([name, count]) => [name, (count - (before[name] ?? 0)) / all]));
}
