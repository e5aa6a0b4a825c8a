import { quietPort } from '@zlink/testing/internal';
import type { CallEnds } from '../fixtures/fault-calls.ts';
import type { FaultNode } from '../fixtures/fault-node.ts';
import { endChildren, startChild } from './fault-child.ts';
import { HandledMarks } from './mesh-nodes.ts';

const rounds = 200;
const each = 20;
/** A busy machine is late; without an end of its own a call would wait 30 s. */
const lateMs = 8_000;
/** The backoff of dials is 5 s at most. */
const reachedWithinMs = 30_000;

afterEach(endChildren);

test('[CORE-010] [C10] two nodes dial each other at once, 200 times: one link, and every message is handled once', async () => {
  const nodes = [
    { rid: 'a', node: await startChild<FaultNode>('node') },
    { rid: 'b', node: await startChild<FaultNode>('node') },
  ];
  // Calls wait for the link as long as a busy machine takes to make it.
  const serve = (rid: string) => ({ rid, sendTimeoutMs: 30_000 });
  const endpoints = await Promise.all(nodes.map(({ rid, node }) => node.ask('serve', serve(rid))));
  const pairs = nodes.map(({ rid, node }, at) => {
    const other = 1 - at;
    return { rid, node, to: nodes[other]?.rid ?? '', endpoint: endpoints[other] ?? '' };
  });
  for (let round = 0; round < rounds; round++) {
    await Promise.all(pairs.map(({ node, to, endpoint }) => node.ask('join', to, endpoint, each)));
    for (const verb of ['send', 'request'] as const) {
      await Promise.all(pairs.map(({ node, to }) => node.ask('ended', { verb, to })));
    }
    await Promise.all(pairs.map(({ node }) => node.ask('linksAre', 1)));
    // The one that the smaller RID has dialled is kept; the other intent may look once more before it rests.
    await Promise.all(pairs.map(({ node }, at) => node.ask('intentIs', at === 0 ? 'admitted' : 'resting')));
    await Promise.all(pairs.map(({ node, endpoint }) => node.ask('disconnect', endpoint)));
    await Promise.all(pairs.map(({ node }) => node.ask('linksAre', 0)));
  }

  const handled = new HandledMarks();
  const ends: CallEnds[] = [];
  for (const { node, to } of pairs) {
    await handled.add(node);
    for (const verb of ['send', 'request'] as const) ends.push(await node.ask('ended', { verb, to }));
  }
  expect(ends.map(({ counts, errors }) => [counts, errors])).toEqual(ends.map(() => [{ ok: rounds * each }, []]));
  expect([handled.size, handled.repeated]).toEqual([4 * rounds * each, []]);
}, 300_000);

test('[NET-003] [MESH-002] a node of one RID restarted 100 times under calls, by turns in order and killed: reached each time', async () => {
  const restarts = 100;
  const survivor = await startChild<FaultNode>('node', { flags: ['--expose-gc'] });
  const survivorEndpoint = await survivor.ask('serve', {
    rid: 'survivor',
    sendTimeoutMs: 500,
    requestTimeoutMs: 2_000,
  });
  const identity = { rid: 'restarted', port: await quietPort() };
  let current = await startChild<FaultNode>('node');
  const endpoint = await current.ask('serve', identity);
  await survivor.ask('connect', identity.rid, endpoint);
  const kinds = (['send', 'request'] as const).map((verb) => ({ verb, to: identity.rid }));
  await survivor.ask('load', kinds, 10);

  const ends: CallEnds[] = [];
  const measure = async (): Promise<{ heapBytes: number; descriptors: number }> => {
    for (const kind of kinds) ends.push(await survivor.ask('takeEnds', kind)); // the heap is to hold no record of calls
    return { heapBytes: await survivor.ask('heapBytes'), descriptors: await survivor.ask('descriptors') };
  };
  let standby = startChild<FaultNode>('node');
  let before = await measure();
  for (let restart = 1; restart <= restarts; restart++) {
    if (restart % 2 === 1) await current.ask('restart', identity);
    else {
      await current.kill();
      current = await standby;
      await current.ask('serve', identity);
      if (restart < restarts) standby = startChild<FaultNode>('node');
    }
    if (restart % 4 < 2) await current.ask('connect', 'survivor', survivorEndpoint); // now and then both dial
    await survivor.ask('reach', identity.rid, reachedWithinMs);
    await current.ask('forgetHandled');
    await current.ask('handledUpTo', 10); // calls go on
    if (restart === restarts / 5) before = await measure(); // what is kept once is kept by now
  }
  const after = await measure();
  expect(after.heapBytes).toBeLessThan(before.heapBytes + 3 * 1_048_576);
  ends.push(...(await survivor.ask('finish')));
  await survivor.ask('linksAre', 1);
  await survivor.ask('descriptorsDownTo', before.descriptors + 2);
  expect(await survivor.ask('leftovers')).toMatchObject({
    links: 1,
    pendingRequests: 0,
    waitingRecords: 0,
    permits: 0,
  });
  const known = ['ok', 'Unavailable', 'DeadlineExceeded', 'ShuttingDown', 'Rejected'];
  for (const { counts, errors, longestMs } of ends) {
    expect(errors.filter(({ kind }) => !known.includes(kind))).toEqual([]);
    expect(Object.keys(counts).filter((kind) => !known.includes(kind))).toEqual([]);
    expect(longestMs).toBeLessThan(2_000 + lateMs); // no call waits longer than its own time
  }
}, 600_000);
