import { loopTurns } from '@zlink/testing';
import { EventQueue } from '../../../src/observe/status/event-queue.ts';
import { SnapshotSlot } from '../../../src/observe/status/snapshot-slot.ts';
import type { MonitoringEvent } from '../../../src/observe/index.ts';
import { arrange } from './arrange.ts';

const MOST = 2n ** 63n - 1n;

test('[MON-012] counts of losses stop at 2^63 - 1', () => {
  const { board } = arrange();
  const slot = new SnapshotSlot(() => board.snapshot(), MOST - 1n);
  for (let count = 0; count < 5; count++) slot.add();
  expect(slot.take()?.loss.coalesced).toBe(MOST);
  const queue = new EventQueue(MOST - 1n);
  const event: MonitoringEvent = {
    type: 'zlink.runtime.host.state_changed',
    state: 'serving',
    sourceKind: 'host',
    lifecycleGeneration: 1n,
    at: new Date(0),
    sequence: 1n,
  };
  for (let count = 0; count < 1_030; count++) queue.add(event);
  expect(queue.take()?.loss.discarded).toBe(MOST);
});

test('[METRIC-001] [MON-012] the board counts what all observers together did not get', async () => {
  const { board } = arrange();
  const snapshots = board.observe()[Symbol.asyncIterator]();
  const events = [1, 2].map(() => board.events()[Symbol.asyncIterator]()); // which nobody reads
  await snapshots.next();
  for (let count = 0; count < 1_025; count++)
    board.tell({ type: 'zlink.runtime.host.state_changed', state: 'serving' });
  expect(board.lost).toEqual({ status: 0, event: 2 });
  for (let turn = 0; turn < 3; turn++) {
    board.changed();
    await loopTurns(2);
  }
  expect(board.lost).toEqual({ status: 2, event: 2 }); // of three snapshots it would get the last
  await events[0]!.return?.();
  board.tell({ type: 'zlink.runtime.host.state_changed', state: 'serving' });
  expect(board.lost.event).toBe(3);
  await events[1]!.return?.();
  await snapshots.return?.();
});
