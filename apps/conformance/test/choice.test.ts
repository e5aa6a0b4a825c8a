import { catalogue } from '../src/catalogue.ts';
import { nameOf, readFilter } from '../src/matrix.ts';
import { listLines } from '../src/report/list.ts';
import { type Choice, chooseRuns, unknownIds } from '../src/runner/choice.ts';
import { listedIds } from './ids.ts';
import { chapters } from './outcomes.ts';

const everything: Choice = { only: [], topics: [], filter: {}, full: false, against: undefined };
const chosen = (choice: Partial<Choice>): readonly string[] =>
  chooseRuns(chapters, { ...everything, ...choice }).map(({ scenario, cell }) => `${scenario.ids[0]} ${nameOf(cell)}`);

test('[CALL-004] every scenario runs in its cells, or in all combinations of them', () => {
  const one = [
    'MSG-001 manual',
    'MSG-001 msgpack',
    'WRR-001 manual',
    'WRR-001 curve',
    'WRR-001 redis',
    'CS-001 manual',
  ];
  expect(chosen({})).toEqual(one);
  expect(chosen({ full: true })).toEqual([...one.slice(0, -1), 'WRR-001 redis+curve', 'CS-001 manual']);
});

test('[CALL-004] any id of a scenario names it, whole or by its beginning', () => {
  expect(chosen({ only: ['WRR-002'] })).toHaveLength(3);
  expect(chosen({ only: ['MSG', 'WRR'] })).toHaveLength(5);
  expect(unknownIds(chapters, ['WRR', 'XYZ'])).toEqual(['XYZ']);
});

test('[CALL-004] topics narrow what ids name, and the other way round', () => {
  expect(chosen({ topics: ['foundation'] })).toEqual(['MSG-001 manual', 'MSG-001 msgpack']);
  expect(chosen({ topics: ['foundation', 'channels'] })).toEqual(chosen({}));
  expect(chosen({ topics: ['channels'], only: ['MSG', 'CS'] })).toEqual(['CS-001 manual']);
  expect(chosen({ topics: ['location'], only: ['CS'] })).toEqual([]);
});

test('[CALL-004] against a running peer there are scenarios that need no more, in the codec of the peer', () => {
  const against = 'tcp://127.0.0.1:7300';
  expect(chosen({ against })).toEqual(['MSG-001 manual']);
  expect(chosen({ against, filter: readFilter('msgpack') })).toEqual(['MSG-001 msgpack']);
  expect(chosen({ against, filter: readFilter('redis') })).toEqual([]);
});

test('[CALL-004] the list names scenarios, their columns and how many there are', () => {
  expect(listLines(chooseRuns(chapters, everything))).toEqual([
    'foundation',
    '  [MSG-001] about MSG-001 (manual, msgpack)',
    'channels',
    '  [WRR-001 WRR-002] about WRR-001 and WRR-002 (manual, curve, redis)',
    '  [CS-001] about CS-001 (manual)',
    '3 scenarios, 6 runs, 4 requirements',
  ]);
});

test('[CALL-004] every scenario has a title of its own and ids that are requirements', () => {
  const known = listedIds();
  const all = catalogue.flatMap(({ scenarios }) => scenarios);
  expect(all.flatMap(({ ids }) => ids).filter((id) => !known.has(id))).toEqual([]);
  expect(all.filter(({ ids }) => ids.length === 0 || new Set(ids).size !== ids.length)).toEqual([]);
  const titles = all.map(({ title }) => title);
  expect(titles.filter((title, at) => titles.indexOf(title) !== at)).toEqual([]);
});
