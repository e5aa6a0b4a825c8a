import { isForgotten, isFound, isLeftOut, isOut, type Sight, waysOf } from '../../src/discovery/sights.ts';

function sight(change: Partial<Sight> = {}): readonly Sight[] {
  return [{ name: 'ibis', node: 'ready', server: 'ready', weight: 100, draining: false, ...change }];
}

const questions = { isFound, isOut, isLeftOut, isForgotten };

function holding(sights: readonly Sight[]): string[] {
  return Object.entries(questions)
    .filter(([, holds]) => holds(sights, 'ibis'))
    .map(([name]) => name);
}

test.each<[string, Partial<Sight>, string[]]>([
  ['that is connected both ways', {}, ['isFound']],
  ['of which only the node is connected', { server: 'connecting' }, []],
  ['of which only the server is listed', { node: undefined }, []],
  ['that drains', { draining: true }, ['isOut']],
  ['that is gone', { node: 'connecting', server: 'reconnecting' }, ['isOut']],
  ['of which nobody dials the server', { node: 'connecting', server: 'closed' }, ['isOut']],
  ['that nobody dials', { node: 'closed', server: 'closed' }, ['isOut', 'isLeftOut']],
])('[LOC-063] a host %s is seen for what it is', (_what, change, expected) => {
  expect(holding(sight(change))).toEqual(expected);
});

test('[LOC-063] a host that is listed nowhere is out, left out and forgotten', () => {
  expect(holding([])).toEqual(['isOut', 'isLeftOut', 'isForgotten']);
});

test('[LOC-063] the ways to a host are said in one word where one is enough', () => {
  expect(waysOf(sight(), 'ibis')).toBe('ready');
  expect(waysOf(sight({ server: undefined }), 'ibis')).toBe('ready, unlisted');
  expect(waysOf(sight({ draining: true }), 'ibis')).toBe('draining');
});
