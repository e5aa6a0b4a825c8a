import { getEventListeners } from 'node:events';
import { loopTurns } from '@zlink/testing';
import { ZLinkError } from '../../../src/errors/index.ts';
import type { MeshChannelSnapshot, MonitoringFact } from '../../../src/observe/index.ts';
import { arrange, beginEvents, beginSnapshots, changeInTurn, nextOf } from './arrange.ts';

const serving: MonitoringFact = { type: 'zlink.runtime.host.state_changed', state: 'serving' };

test('[MON-001] a snapshot is frozen through and through, and what changes later is not in it', () => {
  const rig = arrange();
  const snapshot = rig.board.snapshot();
  const kept = structuredClone(snapshot);
  rig.state = 'draining';
  expect(rig.board.snapshot().host.state).toBe('draining');
  expect(snapshot).toEqual(kept);
  for (const part of [snapshot, snapshot.host, snapshot.host.jobs, snapshot.routeMeshes, snapshot.location]) {
    expect(Object.isFrozen(part)).toBe(true);
  }
});

test('[MON-010] an iteration begins with the current snapshot and goes on with each that changed, sequences rising', async () => {
  const rig = arrange();
  const snapshots = beginSnapshots(rig);
  const first = await nextOf(snapshots);
  const waiting = nextOf(snapshots);
  rig.state = 'draining';
  rig.board.changed();
  const second = await waiting;
  expect([first.snapshot.host.state, second.snapshot.host.state]).toEqual(['serving', 'draining']);
  expect(second.snapshot.sequence).toBeGreaterThan(first.snapshot.sequence);
  expect(second.loss).toEqual({ coalesced: 0n });
});

test('[MON-010] all that changes within one turn is one snapshot', async () => {
  const rig = arrange();
  const snapshots = beginSnapshots(rig);
  await nextOf(snapshots);
  const askedBefore = rig.asked();
  const waiting = nextOf(snapshots);
  for (let count = 0; count < 100; count++) rig.board.changed();
  await waiting;
  await loopTurns(2);
  expect(rig.asked() - askedBefore).toBe(1);
});

test('[MON-010] of snapshots that nobody reads none is made; the newest arrives, with the count of the others', async () => {
  const rig = arrange();
  const snapshots = beginSnapshots(rig);
  await nextOf(snapshots);
  const askedBefore = rig.asked();
  for (let count = 0; count < 10; count++) await changeInTurn(rig);
  expect(rig.asked()).toBe(askedBefore);
  rig.state = 'draining';
  const { snapshot, loss } = await nextOf(snapshots);
  expect([snapshot.host.state, loss.coalesced]).toEqual(['draining', 9n]);
});

test('[MON-010] the snapshot of the stopped host is always delivered and ends the iteration', async () => {
  const rig = arrange();
  const [idle, waiting] = [beginSnapshots(rig), beginSnapshots(rig)];
  await nextOf(waiting);
  const next = nextOf(waiting);
  rig.state = 'stopped';
  rig.board.stop();
  expect((await next).snapshot.host.state).toBe('stopped');
  expect((await nextOf(idle)).snapshot.host.state).toBe('stopped');
  const late = beginSnapshots(rig);
  expect((await nextOf(late)).snapshot.host.state).toBe('stopped');
  for (const ended of [idle, waiting, late]) expect(await ended.next()).toEqual({ done: true, value: undefined });
});

test('[MON-011] [MON-012] of more than 1,024 events that nobody reads the oldest are dropped and counted', async () => {
  const rig = arrange();
  const [slow, quick] = [beginEvents(rig), beginEvents(rig)];
  for (let count = 0; count < 1_030; count++) rig.board.tell(serving);
  const { event, loss } = await nextOf(slow);
  expect([event.sequence, loss.discarded]).toEqual([7n, 6n]);
  for (let left = 1_023; left > 0; left--) await nextOf(slow);
  const next = nextOf(slow);
  rig.board.tell(serving);
  expect(await next).toMatchObject({ event: { sequence: 1_031n }, loss: { discarded: 6n } });
  await quick.return?.();
});

test('[MON-012] an iteration ends with its signal or with return, and with nothing else', async () => {
  const rig = arrange();
  const abort = new AbortController();
  const [events, snapshots] = [beginEvents(rig, abort.signal), beginSnapshots(rig)];
  const waiting = events.next();
  await nextOf(snapshots);
  const alsoWaiting = snapshots.next();
  abort.abort(new Error('enough'));
  await snapshots.return?.();
  for (const end of [await waiting, await alsoWaiting, await events.next(), await snapshots.next()]) {
    expect(end).toEqual({ done: true, value: undefined });
  }
  expect(await beginEvents(rig, abort.signal).next()).toEqual({ done: true, value: undefined });
});

test('[MON-012] two who ask at once get two items, in this order', async () => {
  const rig = arrange();
  const events = beginEvents(rig);
  const both = Promise.all([nextOf(events), nextOf(events)]);
  rig.board.tell(serving);
  rig.board.tell(serving);
  expect((await both).map(({ event }) => event.sequence)).toEqual([1n, 2n]);
});

test('[MON-013] without an observer nothing is made of a change, and nothing waits', async () => {
  const rig = arrange();
  let isListed = false;
  const channel: MeshChannelSnapshot = {
    channelName: 'orders',
    role: 'client',
    readyMembers: 0,
    get members() {
      isListed = true;
      return [];
    },
  };
  const fact: MonitoringFact = {
    type: 'zlink.runtime.mesh_node.channel_changed',
    meshName: 'game',
    channelName: 'orders',
    channel,
  };
  const gone = beginEvents(rig);
  await gone.return?.();
  rig.board.tell(fact);
  await changeInTurn(rig);
  expect([rig.asked(), isListed]).toEqual([0, false]);
  const events = beginEvents(rig);
  rig.board.tell(fact);
  expect(await nextOf(events)).toMatchObject({ event: { channel: { members: [] } } });
  expect(isListed).toBe(true);
});

test('[MON-013] [MON-023] a logger that throws stops neither who tells nor who observes', async () => {
  const broken = (): never => {
    throw new Error('disk full');
  };
  const rig = arrange({ logger: { debug: broken, info: broken, warn: broken, error: broken } });
  const events = beginEvents(rig);
  rig.board.tell(serving);
  expect(await nextOf(events)).toMatchObject({ event: { type: 'zlink.runtime.host.state_changed', state: 'serving' } });
});

test('[MON-020] an event says when, of what and why: kind, code and a bounded text without a stack', async () => {
  const rig = arrange();
  const events = beginEvents(rig);
  const ours = new ZLinkError('AlreadyExists', 'x'.repeat(1_000));
  rig.board.tell(
    { type: 'zlink.runtime.mesh_node.routing_id_conflict', meshName: 'game', nodeRid: 'a' },
    { error: ours },
  );
  rig.board.tell(serving, {
    error: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }),
    kind: 'Unavailable',
  });
  const [conflict, failure] = [await nextOf(events), await nextOf(events)];
  expect(conflict.event).toEqual({
    type: 'zlink.runtime.mesh_node.routing_id_conflict',
    meshName: 'game',
    nodeRid: 'a',
    sourceKind: 'mesh_node',
    lifecycleGeneration: 7n,
    at: new Date(1_000),
    sequence: 1n,
    error: { kind: 'AlreadyExists', code: 'ZLINK_ALREADY_EXISTS', message: ours.message.slice(0, 256) },
  });
  expect(failure.event.error).toEqual({ kind: 'Unavailable', code: 'ECONNREFUSED', message: 'refused' });
  expect(Object.isFrozen(conflict.event.error)).toBe(true);
});

test('[MON-020] an event reaches observers before the log: a logger may do what tells the next one', async () => {
  const tellNext = (record: object): void => {
    if ('state' in record && record.state === 'serving') rig.board.tell({ type: serving.type, state: 'draining' });
  };
  const rig = arrange({ logger: { debug: tellNext, info: tellNext, warn: tellNext, error: tellNext } });
  const events = beginEvents(rig);
  rig.board.tell(serving);
  expect([(await nextOf(events)).event, (await nextOf(events)).event]).toMatchObject([
    { sequence: 1n, state: 'serving' },
    { sequence: 2n, state: 'draining' },
  ]);
});

test('[MON-013] what one observer does to a date is seen by no other', async () => {
  const rig = arrange();
  const [events, others] = [beginEvents(rig), beginEvents(rig)];
  rig.board.tell(serving);
  const { event } = await nextOf(events);
  event.at.setTime(0);
  expect([event.at, (await nextOf(others)).event.at]).toEqual([new Date(1_000), new Date(1_000)]);
  expect(JSON.parse(JSON.stringify({ at: event.at }))).toEqual({ at: '1970-01-01T00:00:01.000Z' });
  const snapshot = rig.board.snapshot();
  snapshot.observedAt.setTime(0);
  expect(snapshot.observedAt).toEqual(new Date(1_000));
  expect({ ...snapshot }.observedAt).toEqual(new Date(1_000));
});

test('[MON-012] any number of iterations is one listener of their signal, and none once they have ended', async () => {
  const rig = arrange();
  const abort = new AbortController();
  const iterations = Array.from({ length: 20 }, () => beginSnapshots(rig, abort.signal));
  const events = beginEvents(rig, abort.signal);
  expect(getEventListeners(abort.signal, 'abort')).toHaveLength(1);
  for (const iteration of iterations) await iteration.return?.();
  expect(getEventListeners(abort.signal, 'abort')).toHaveLength(1);
  await events.return?.();
  expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
});

test('[MON-012] what is no signal is refused', () => {
  const { board } = arrange();
  for (const bad of ['x', 5, null, {}, { aborted: false }] as unknown as AbortSignal[]) {
    expect(() => board.observe(bad)).toThrow('allowed: an AbortSignal');
    expect(() => board.events(bad)).toThrow('allowed: an AbortSignal');
  }
});
