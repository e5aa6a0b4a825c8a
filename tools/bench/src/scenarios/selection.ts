/**
 * Cost of choosing a server, by the selector alone.
 *
 * In this process; nothing is sent. Weights differ, so that the order is no plain alternation. The clock of the search
 * stands still: what is measured is the order once it was found, not whether a busy machine finds it in time.
 */
import { WeightedSelector } from '@zlink/kernel/internal/selection';
import { choosing } from './choosing.ts';

export const selection = choosing({
  name: 'selection',
  says: 'time to choose one of 1,000 servers, against one of 2',
  candidates: 'servers',
  open: async (serverCount) => {
    const selector = createSelector(serverCount);
    return (choiceCount) => choose(selector, choiceCount);
  },
});

/** Weights 100, 200, 300: 2,000 choices make a cycle of a thousand servers, which the search finds. */
function createSelector(serverCount: number): WeightedSelector<number> {
  const selector = new WeightedSelector<number>(() => 0);
  for (let index = 0; index < serverCount; index++) {
    selector.put({ id: `server-${index}`, weight: 100 * (1 + (index % 3)), target: index });
  }
  return selector;
}

/** The sum uses each choice, so that none can be left out; touching a server is not timed. */
function choose(selector: WeightedSelector<number>, choiceCount: number): void {
  let sum = 0;
  for (let index = 0; index < choiceCount; index++) sum += selector.next()!; // there are candidates
  if (sum === 0) throw new Error('only the first server was chosen');
}
