import type { LivenessTimes } from '@zlink/kernel/internal/link';
import { RECORD_COST_BYTES } from '@zlink/kernel/internal/wire';
import type { FaultNode } from '../fixtures/fault-node.ts';
import { patient } from '../fixtures/fault-patience.ts';
import { endChildren, startChild } from './fault-child.ts';
import { expectHonest, HandledMarks, type Node } from './mesh-nodes.ts';

/** On a busy machine; less than silence (15 s), the stop of a process or a default deadline (30 s) would hold a call up. */
const promptMs = 10_000;
const reachedWithinMs = 30_000;

let caller: Node;
let peers: readonly [Node, Node];

/** A caller that is connected to `b` and `c`, which serve the channel. */
async function arrange(options: {
  readonly sendTimeoutMs?: number;
  readonly requestTimeoutMs?: number;
  /** Of all three. */
  readonly liveness?: LivenessTimes;
}): Promise<void> {
  const [a, b, c] = await Promise.all([
    startChild<FaultNode>('node', { flags: ['--expose-gc'] }),
    startChild<FaultNode>('node'),
    startChild<FaultNode>('node'),
  ]);
  caller = a;
  peers = [b, c];
  const served = options.liveness === undefined ? {} : { liveness: options.liveness };
  await caller.ask('serve', { rid: 'a', ...options });
  await caller.ask('connect', 'b', await b.ask('serve', { rid: 'b', weight: 100, ...served }));
  await caller.ask('connect', 'c', await c.ask('serve', { rid: 'c', weight: 100, ...served }));
  await caller.ask('whenReady', 2);
}

afterEach(endChildren);

test('[MESH-006] [C09] a peer in rotation is killed: its calls end once, as ones that may have run, the next ones go elsewhere', async () => {
  const waiting = 1_000;
  await arrange({ requestTimeoutMs: 60_000 });
  const [b, c] = peers;
  await caller.ask('start', { verb: 'hold' }, waiting);
  await Promise.all(peers.map((peer) => peer.ask('heldUpTo', waiting / 2))); // by turns
  const before = performance.now();
  b.signal('SIGKILL');
  await caller.ask('linksAre', 1);
  expect(performance.now() - before).toBeLessThan(promptMs);
  await caller.ask('start', { verb: 'request' }, 1_000);
  const after = await caller.ask('ended', { verb: 'request' });
  expect([after.counts, after.by]).toEqual([{ ok: 1_000 }, { c: 1_000 }]);
  expect(after.longestMs).toBeLessThan(promptMs);
  expect(await c.ask('heldCount')).toBe(waiting / 2); // nothing of b was sent again
  await c.ask('release');
  const held = await caller.ask('ended', { verb: 'hold' });
  expect([held.counts, held.by]).toEqual([{ ok: waiting / 2, Unavailable: waiting / 2 }, { c: waiting / 2 }]);
  expect([held.unsubmitted, held.errors.map(({ submitted }) => submitted)]).toEqual([[], held.errors.map(() => true)]);
  const handled = new HandledMarks();
  await handled.add(c);
  expect(handled.repeated).toEqual([]);
  expect(await caller.ask('leftovers')).toMatchObject({
    links: 1,
    pendingRequests: 0,
    waitingRecords: 0,
    deadlines: 0,
  });
}, 300_000);

test.each(['SIGKILL', 'SIGSTOP'] as const)(
  '[CALL-003] [MESH-006] calls go on while a peer in rotation gets %s: none waits longer than its own deadline',
  async (signal) => {
    const timeoutMs = 600;
    await arrange({ requestTimeoutMs: timeoutMs, sendTimeoutMs: timeoutMs });
    const [b, c] = peers;
    const kinds = [
      { verb: 'request' },
      { verb: 'send' },
      { verb: 'request', to: 'b' },
      { verb: 'send', to: 'b' },
    ] as const;
    await caller.ask('load', kinds, 2);
    await c.ask('handledUpTo', 200);
    b.signal(signal);
    const atKill = (await c.ask('handled')).length;
    await c.ask('handledUpTo', atKill + 200); // the other one goes on
    if (signal === 'SIGSTOP') {
      b.signal('SIGCONT');
      await caller.ask('reach', 'b', reachedWithinMs);
    }
    const ends = await caller.ask('finish');
    const handled = new HandledMarks();
    await handled.add(c);
    if (signal === 'SIGSTOP') await handled.add(b);
    expect(handled.repeated).toEqual([]);
    expect(ends).toHaveLength(kinds.length);
    for (const one of ends) {
      expectHonest(one, handled, ['ok', 'Unavailable', 'DeadlineExceeded']);
      expect(one.longestMs).toBeLessThan(timeoutMs + promptMs);
    }
  },
  300_000,
);

test('[CORE-008] [C05] a stopped node’s full window delays no other peer, and nothing is lost when it goes on', async () => {
  const count = 1_000;
  const bytes = 65_536;
  const windowBytes = 4_194_304;
  await arrange({ sendTimeoutMs: 100_000, liveness: patient });
  const [b] = peers;
  const toB = { verb: 'send', to: 'b', bytes } as const;
  const toC = { verb: 'request', to: 'c' } as const;
  b.signal('SIGSTOP');
  await caller.ask('start', toB, count);
  for (let turn = 0; turn < 20; turn++) {
    await caller.ask('start', toC, 50);
    expect((await caller.ask('ended', toC)).longestMs).toBeLessThan(promptMs);
  }
  expect(await caller.ask('ended', toC)).toMatchObject({ counts: { ok: 1_000 }, by: { c: 1_000 } });
  const { waitingRecords } = await caller.ask('leftovers');
  expect(waitingRecords).toBeGreaterThanOrEqual(count - windowBytes / bytes);
  expect(waitingRecords).toBeLessThan(count - windowBytes / 2 / (bytes + RECORD_COST_BYTES));
  b.signal('SIGCONT');
  const ends = await caller.ask('ended', toB);
  expect([ends.counts, ends.errors]).toEqual([{ ok: count }, []]);
  await b.ask('handledUpTo', count);
  const handled = new HandledMarks();
  await handled.add(b);
  expect([handled.size, handled.repeated]).toEqual([count, []]);
  expect(await caller.ask('leftoversWith', 2)).toMatchObject({ links: 2, waitingRecords: 0, pendingRequests: 0 });
}, 300_000);
