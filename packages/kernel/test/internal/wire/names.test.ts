import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { NameIndex } from '../../../src/internal/wire/names.ts';
import { NAME_LIMIT } from '../../../src/internal/wire/limits.ts';

test('[WIRE-004] one name has one index, told apart by scope, content type and packet name', () => {
  const index = new NameIndex();
  const names = [
    index.get('', 'a/b', 'x'),
    index.get('s', 'a/b', 'x'),
    index.get('', 'a/c', 'x'),
    index.get('', 'a/b', 'y'),
  ];
  expect(names.map((name) => name.index)).toEqual([0, 1, 2, 3]);
  expect(index.get('s', 'a/b', 'x')).toBe(names[1]);
  expect(names[1]).toEqual({ scope: 's', contentType: 'a/b', packetName: 'x', index: 1 });
});

test('[WIRE-004] parts of names are not confused with each other', () => {
  const index = new NameIndex();
  const seen = new Set([index.get('ab', 'c', 'd'), index.get('a', 'bc', 'd'), index.get('a', 'b', 'cd')]);
  expect(seen.size).toBe(3);
  expect(index.get('__proto__', 'constructor', 'toString').index).toBe(3);
});

test('[WIRE-004] the table is bounded: further names have no index, and known ones keep theirs', () => {
  const index = new NameIndex();
  for (let at = 0; at < NAME_LIMIT; at++) expect(index.get(`scope ${at % 7}`, 'a/b', `packet ${at}`).index).toBe(at);
  expect(index.get('scope 0', 'a/b', 'one more')).toEqual({
    scope: 'scope 0',
    contentType: 'a/b',
    packetName: 'one more',
    index: -1,
  });
  expect(index.get('scope 1', 'a/b', 'packet 1').index).toBe(1);
});

test('[WIRE-004] names beyond the bound leave nothing behind', () => {
  const index = new NameIndex();
  for (let at = 0; at < NAME_LIMIT; at++) index.get('', 'a/b', `packet ${at}`);
  const heapBefore = heldBytes();
  for (let at = 0; at < 200_000; at++) index.get(`scope ${at}`, `type/${at}`, 'x');
  expect(heldBytes() - heapBefore).toBeLessThan(4 * 1_048_576); // a map for each of them takes twenty times as much
  expect(index.get('', 'a/b', 'packet 1').index).toBe(1); // it is held
});

/** Of the heap, once all that nobody holds is gone: when the engine collects by itself is no matter of the index. */
function heldBytes(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)(); // what the flag names
  return process.memoryUsage().heapUsed;
}
