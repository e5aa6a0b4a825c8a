import { SightBoard } from '../../src/discovery/sight-board.ts';
import { isForgotten, isFound, type Sight } from '../../src/discovery/sights.ts';

const kite: Sight = { name: 'kite', node: 'ready', server: 'ready', weight: 100, draining: false };
const isKiteFound = (sights: readonly Sight[]): boolean => isFound(sights, 'kite');

test('[LOC-061] several wait at once, each for the first sights that fulfil it', async () => {
  const board = new SightBoard();
  const begunAtMs = performance.now();
  const ended: string[] = [];
  const found = board.seen('kite', isKiteFound, 10_000).then((atMs) => ended.push('found') && atMs);
  const empty = board.seen('nothing', (sights) => isForgotten(sights, 'kite'), 10_000);
  expect(await empty).toBeLessThanOrEqual(begunAtMs); // it was so before
  board.show([{ ...kite, node: 'connecting' }]);
  await Promise.resolve();
  expect(ended).toEqual([]);
  board.show([kite]);
  expect(await found).toBeGreaterThanOrEqual(begunAtMs);
  expect(board.sights).toEqual([kite]);
});

test('[LOC-061] what is seen already has been seen when it was reported', async () => {
  const board = new SightBoard();
  board.show([kite]);
  const shownAtMs = performance.now();
  expect(await board.seen('kite', isKiteFound, 10_000)).toBeLessThanOrEqual(shownAtMs);
});

test('[LOC-061] what is not seen in time is named', async () => {
  const board = new SightBoard();
  await expect(board.seen('kite', isKiteFound, 1)).rejects.toThrow('the caller has not seen kite within 1 ms');
  board.show([kite]); // nobody waits any more
});
