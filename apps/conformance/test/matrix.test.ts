import { cellsOf, codecs, nameOf, readFilter, securities, stores } from '../src/matrix.ts';

const all = { store: stores, codec: codecs, security: securities };
const names = (...args: Parameters<typeof cellsOf>): string[] => cellsOf(...args).map(nameOf);

test('[CODEC-001] what a scenario does not depend on has one value', () => {
  expect(names({}, {}, true)).toEqual(['manual']);
  expect(names({ codec: codecs }, {}, true)).toEqual(['manual', 'protobuf', 'msgpack']);
});

test('[CODEC-001] dimensions differ one at a time, unless all combinations are asked for', () => {
  expect(names(all, {}, false).sort()).toEqual(['curve', 'manual', 'memory', 'msgpack', 'protobuf', 'redis']);
  expect(names(all, {}, true)).toHaveLength(18);
});

test('[LOC-002] the first value that a scenario names is its default', () => {
  const over = { store: ['redis', 'memory'], codec: codecs } as const;
  expect(names(over, {}, false).sort()).toEqual(['memory', 'redis', 'redis+msgpack', 'redis+protobuf']);
});

test('[CODEC-001] a filter takes cells that have what it names, and what it names may differ together', () => {
  expect(names(all, readFilter('redis,json,plain'), false)).toEqual(['redis']);
  expect(names(all, readFilter('redis, curve'), false).sort()).toEqual([
    'redis+curve',
    'redis+msgpack+curve',
    'redis+protobuf+curve',
  ]);
  expect(names(all, readFilter('memory,redis,json'), true).sort()).toEqual([
    'memory',
    'memory+curve',
    'redis',
    'redis+curve',
  ]);
  expect(names({}, readFilter('redis'), false)).toEqual([]);
});
