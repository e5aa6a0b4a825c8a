/**
 * Which runs there are to be.
 *
 * Owns the choice among all scenarios and cells. Leaves their order to the schedule.
 */
import { type CellFilter, cellsOf } from '../matrix.ts';
import type { Chapter, Scenario, Topic } from '../scenario.ts';
import type { Run } from './outcome.ts';

export interface Choice {
  /** Ids, or beginnings of ids; empty: all. */
  readonly only: readonly string[];
  /** Empty: all. */
  readonly topics: readonly Topic[];
  readonly filter: CellFilter;
  readonly full: boolean;
  readonly against: string | undefined;
}

export function chooseRuns(chapters: readonly Chapter[], choice: Choice): readonly Run[] {
  const ofTopics = chapters.filter(({ topic }) => choice.topics.length === 0 || choice.topics.includes(topic));
  return ofTopics.flatMap(({ topic, scenarios }) =>
    scenarios
      .filter((scenario) => isWanted(scenario, choice))
      .flatMap((scenario) => {
        const over = choice.against === undefined ? (scenario.over ?? {}) : peerCells(scenario, choice);
        return cellsOf(over, choice.filter, choice.full).map((cell) => ({ topic, scenario, cell }));
      }),
  );
}

/** A peer at an address has no store and no keys in common with this run, and one codec: JSON, or the one that is named. */
function peerCells({ over }: Scenario, { filter }: Choice): NonNullable<Scenario['over']> {
  return over?.codec === undefined || filter.codec === undefined ? {} : { codec: over.codec };
}

function isWanted(scenario: Scenario, { only, against }: Choice): boolean {
  if (against !== undefined && scenario.needsPeerOnly !== true) return false;
  const isNamed = (prefix: string): boolean => scenario.ids.some((id) => id.startsWith(prefix));
  return only.length === 0 || only.some(isNamed);
}

/** Beginnings that no scenario has, which are mistakes of whoever gave them. */
export function unknownIds(chapters: readonly Chapter[], only: readonly string[]): readonly string[] {
  const ids = chapters.flatMap(({ scenarios }) => scenarios.flatMap((scenario) => scenario.ids));
  return only.filter((prefix) => !ids.some((id) => id.startsWith(prefix)));
}
