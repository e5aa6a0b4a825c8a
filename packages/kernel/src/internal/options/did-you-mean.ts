/**
 * Finds the name that a mistyped one was most likely meant to be.
 *
 * Owns the measure and the wording of the hint. Leaves which names there are to its users.
 *
 * 1. Only names that differ in case or by few edits, a third of the letters at most, are suggested: a wrong hint is worse
 *    than none.
 * 2. The cost is bounded: longer names than `maxLength` are neither looked at nor suggested.
 */
import { describeValue } from '../../errors/index.ts';

const maxLength = 64;

/** `, did you mean "billing"?`, or nothing when no name is near. */
export function didYouMean(name: unknown, known: Iterable<string>): string {
  const nearest = typeof name === 'string' ? nearestName(name, known) : undefined;
  return nearest === undefined ? '' : `, did you mean ${describeValue(nearest)}?`;
}

function nearestName(name: string, known: Iterable<string>): string | undefined {
  if (name.length > maxLength) return undefined; // 2
  let nearest: string | undefined;
  let fewest = Math.floor(name.length / 3) + 1; // 1
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) >= fewest || candidate.length > maxLength) continue;
    const edits = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (edits >= fewest) continue;
    nearest = candidate;
    fewest = edits;
  }
  return nearest;
}

/** Insertions, removals and replacements that lead from one text to the other; one row of the table at a time. */
function editDistance(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const replaced = previous[column - 1]! + (from[row - 1] === to[column - 1] ? 0 : 1); // both rows are this long
      current.push(Math.min(replaced, previous[column]! + 1, current[column - 1]! + 1));
    }
    previous = current;
  }
  return previous[to.length]!;
}
