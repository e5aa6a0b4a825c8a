import { createFaultProxy, type FaultProxy, seededRandom } from '@zlink/testing';
import type { CallKind, FaultNode } from '../fixtures/fault-node.ts';
import { endChildren, startChild } from './fault-child.ts';
import { expectHonest, HandledMarks } from './mesh-nodes.ts';

const isLong = process.env['ZLINK_LONG'] === '1';
const seed = Number(process.env['ZLINK_SEED'] ?? 11);
const forMs = isLong ? 600_000 : 20_000;
const pauseMs = 200;
const steps = forMs / pauseMs;
const liveness = { probeIntervalMs: 200, deadlineMs: 600 };
const rids = ['a', 'b', 'c'] as const;

const proxies: FaultProxy[] = [];

afterEach(async () => {
  await endChildren();
  await Promise.all(proxies.splice(0).map((proxy) => proxy.close()));
});

/** Cuts, half writes and silence on links that chance chooses; the same for the same seed. */
function step(random: () => number): void {
  const proxy = proxies[Math.floor(random() * proxies.length)]!; // below the length
  const upTo = (most: number): number => 1 + Math.floor(random() * most);
  const faults = [
    () => proxy.cut(),
    () => proxy.cut(),
    () => proxy.truncateAfter(upTo(50_000)),
    () => proxy.truncateAfter(upTo(1_000)),
    () => proxy.delay(upTo(100)),
    () => proxy.blackhole(),
    () => proxies.forEach((one) => one.cut()),
    () => proxies.forEach((one) => one.restore()),
    () => proxies.forEach((one) => one.restore()),
  ];
  faults[Math.floor(random() * faults.length)]!(); // below the length
}

test(
  `[CHAN-004] [C10] seed ${seed}: links of a mesh are cut at random under calls: one result each, none handled twice`,
  async () => {
    const random = seededRandom(seed);
    const nodes = await Promise.all(
      rids.map(async (rid) => {
        const node = await startChild<FaultNode>('node');
        const timeouts = { sendTimeoutMs: 1_000, requestTimeoutMs: 2_000 };
        const proxy = await createFaultProxy({
          target: await node.ask('serve', { rid, weight: 100, liveness, ...timeouts }),
        });
        proxies.push(proxy);
        return { rid, node, proxy };
      }),
    );
    const others = (rid: string) => nodes.filter((other) => other.rid !== rid);
    for (const { rid, node } of nodes) {
      for (const other of others(rid)) await node.ask('connect', other.rid, other.proxy.address);
    }
    await Promise.all(nodes.map(({ node }) => node.ask('whenReady', 2)));
    for (const { rid, node } of nodes) {
      const kinds: CallKind[] = others(rid).flatMap((other) => [
        { verb: 'request', to: other.rid },
        { verb: 'send', to: other.rid, bytes: 10_000 },
      ]);
      await node.ask('load', [...kinds, { verb: 'request' }, { verb: 'send' }], isLong ? 100 : 20);
    }
    const accepted = (): number => proxies.reduce((sum, proxy) => sum + proxy.accepted, 0);
    for (let at = 0; at < steps || accepted() <= forMs / 1_000; at++) {
      await Promise.all(nodes.map(({ node }) => node.ask('pause', pauseMs)));
      step(random);
    }
    for (const { proxy } of nodes) proxy.restore();
    const ends = (await Promise.all(nodes.map(({ node }) => node.ask('finish')))).flat();
    await Promise.all(nodes.map(({ node }) => node.ask('linksAre', 2)));

    const handled = new HandledMarks();
    for (const { node } of nodes) {
      await node.ask('idle');
      await handled.add(node);
    }
    expect(handled.repeated).toEqual([]);
    let [answered, failed] = [0, 0];
    for (const one of ends) {
      expectHonest(one, handled, ['ok', 'Unavailable', 'DeadlineExceeded', 'NotFound']);
      answered += one.answered.length;
      failed += one.started - one.answered.length;
    }
    expect(answered).toBeGreaterThan(100); // how many depends on the machine
    expect(failed).toBeGreaterThan(10); // there was chaos
    const nothing = { pendingRequests: 0, waitingRecords: 0, deadlines: 0, permits: 0 };
    // Handing over what was handled blocks a node for longer than its links live, so they may have to come back first.
    for (const { node } of nodes) expect(await node.ask('leftoversWith', 2)).toEqual({ links: 2, ...nothing });
    for (const { node } of nodes) await node.ask('close');
    for (const { node } of nodes) expect(await node.ended).toEqual({ code: 0, signal: null });
  },
  forMs + 180_000,
);
