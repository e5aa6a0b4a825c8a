import { ToldRows } from '../../../src/observe/index.ts';

interface Row {
  readonly endpoint: string;
  readonly rid?: string;
  readonly state: string;
}

function arrange() {
  const told: string[] = [];
  const rows = new ToldRows<Row>({
    isEqual: (a, b) => a.state === b.state && a.rid === b.rid,
    isSamePeer: (a, b) => a.rid !== undefined && a.rid === b.rid,
    asGone: (row) => ({ ...row, state: 'closed' }),
    subjectsOf: ({ endpoint, rid }) => (rid === undefined ? [endpoint] : [endpoint, rid]),
    tell: ({ endpoint, state }, key) => void told.push(`${key}: ${endpoint} ${state}`),
  });
  return { rows, told };
}

const rowsOf = (...rows: Row[]) => new Map(rows.map((row) => [row.endpoint, row]));

test('[MON-021] a row is told when it comes, when it changes and when it is gone, and not in between', () => {
  const { rows, told } = arrange();
  rows.update(rowsOf({ endpoint: 'a', state: 'connecting' }, { endpoint: 'b', state: 'connecting' }));
  rows.update(rowsOf({ endpoint: 'a', state: 'ready' }, { endpoint: 'b', state: 'connecting' }));
  rows.update(rowsOf({ endpoint: 'a', state: 'ready' }));
  expect(told).toEqual(['a: a connecting', 'b: b connecting', 'a: a ready', 'b: b closed']);
});

test('[MON-021] rows about one peer say nothing of the others', () => {
  const { rows, told } = arrange();
  rows.update(rowsOf({ endpoint: 'a', state: 'ready' }, { endpoint: 'b', state: 'ready' }));
  told.length = 0;
  rows.update(new Map(), ['b', 'c']);
  rows.update(new Map(), ['b']);
  expect(told).toEqual(['b: b closed']);
});

test('[MON-021] a row that another one replaces is not told as gone, nor one that was told as closed', () => {
  const { rows, told } = arrange();
  rows.update(rowsOf({ endpoint: 'a', rid: 'x', state: 'ready' }, { endpoint: 'b', state: 'closed' }));
  told.length = 0;
  rows.update(rowsOf({ endpoint: 'c', rid: 'x', state: 'ready' }));
  expect(told).toEqual(['c: c ready']);
  rows.update(new Map(), ['x']);
  expect(told).toEqual(['c: c ready', 'c: c closed']);
});
