/** A node that is stopped and started in order, under messages of which none may vanish. */
import { quietPort } from '@zlink/testing/internal';
import type { FaultNode } from '../fixtures/fault-node.ts';
import { endChildren, startChild } from './fault-child.ts';
import { expectHonest, HandledMarks } from './mesh-nodes.ts';

const restarts = 20;
const messages = 10_000;
/** Calls after the start of a restart: some cross it, some find no node, some find the next one. */
const crossing = 8;
const perTurn = messages / 2 / restarts / (crossing + 2);

afterEach(endChildren);

test('[NODE-001] [C01] 10,000 messages to a node that is restarted in order 20 times: each is handled or counted', async () => {
  const [caller, target] = await Promise.all([startChild<FaultNode>('node'), startChild<FaultNode>('node')]);
  await caller.ask('serve', { rid: 'caller', sendTimeoutMs: 60_000, requestTimeoutMs: 60_000 });
  const identity = { rid: 'target', port: await quietPort() };
  await caller.ask('connect', identity.rid, await target.ask('serve', identity));
  await caller.ask('whenReady', 1);
  const [toSend, toRequest] = (['send', 'request'] as const).map((verb) => ({ verb, to: identity.rid }));
  const kinds = [toSend!, toRequest!];
  const start = (): Promise<unknown> => Promise.all(kinds.map((kind) => caller.ask('start', kind, perTurn)));
  for (let restart = 0; restart < restarts; restart++) {
    await start();
    await start();
    const restarted = target.ask('restart', identity);
    for (let turn = 0; turn < crossing; turn++) await start();
    await restarted;
    await Promise.all(kinds.map((kind) => caller.ask('ended', kind))); // it is reached again
  }

  const handled = new HandledMarks();
  await handled.add(target);
  const [sends, requests] = await Promise.all(kinds.map((kind) => caller.ask('ended', kind)));
  expect(sends!.started + requests!.started).toBe(messages);
  expect(handled.repeated).toEqual([]);
  expectHonest(requests!, handled, ['ok', 'Rejected', 'ShuttingDown', 'Unavailable']);
  expectHonest(sends!, handled, ['ok', 'Unavailable']);
  // What was accepted was handled, or the node that dropped it says so.
  const missing = sends!.answered.filter((mark) => !handled.has(mark)).length;
  const rows = (await target.ask('counters')).filter(({ verb }) => verb === 'send');
  const dropped = rows.flatMap(({ dropped }) => Object.values(dropped)).reduce((sum, count) => sum + count, 0);
  expect(missing).toBe(dropped);
  expect(rows.reduce((sum, row) => sum + row.handled, 0) + dropped).toBe(sends!.counts['ok']);
  expect(requests!.answered.filter((mark) => !handled.has(mark))).toEqual([]);
}, 240_000);
