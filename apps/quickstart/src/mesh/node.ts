/**
 * A node process of the mesh: `node.js NAME RID PORT WEIGHT`; a node of weight 0 calls the channel instead of serving it.
 *
 * Owns one host with one node. Leaves being started, killed and started again to the demo.
 *
 * N1 SIGTERM ends it in order: nothing new, what was accepted to its end, the last counts, then the process.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { createHost, type Host, type PeerStatus } from '@zlink/framework';
import { sum, type VerbCounts, verbCountsOf } from '../calls.ts';
import type { EndingWish } from '../ipc.ts';
import { leaveParent, onWish, report, runChild } from '../parent.ts';
import { Caller } from './caller.ts';
import { Join, Load, MATCH, MESH } from './contracts.ts';
import { loadMs } from './durations.ts';
import type { NodeCounts, NodeReport, NodeView, WishOf } from './reports.ts';

const meetWithinMs = 10_000;
const reportEveryMs = 100;
const progressEveryMs = 250;

await runChild(async () => {
  const [name = '', rid = '', port, weightText] = process.argv.slice(2);
  const weight = Number(weightText);
  const host = createHost();
  const node = host.addRouteMesh(MESH).listen(Number(port)).routingId(rid);
  node.addRouteRequestHandler(Load, async (_asked, { signal }) => {
    await delay(loadMs, undefined, { signal });
    return { name, rid };
  });
  const match = node.channel(MATCH);
  if (weight === 0) match.client();
  else
    match
      .server()
      .setWeight(weight)
      .addRequestHandler(Join, ({ player }) => ({ player, name, rid }));
  await host.start();

  const mesh = host.routeMesh(MESH);
  let others: readonly string[] = [];
  onWish<WishOf<'meet'>>('meet', async ({ peers }) => {
    for (const peer of peers) mesh.peers.connect(peer.rid, peer.endpoint);
    others = peers.map((peer) => peer.rid);
    await mesh.whenReady(peers.length, AbortSignal.timeout(meetWithinMs));
    await report<NodeReport>({ kind: 'met' });
  });
  onWish<WishOf<'greet'>>('greet', async () => {
    const greetings = others.map((other) => host.routeClient.requestToNode(MESH, other, Load({})).submit());
    await report<NodeReport>({ kind: 'greeted', answers: await Promise.all(greetings) });
  });
  onWish<WishOf<'begin'>>('begin', () => call(host, others));

  const counts = (): NodeCounts => ({
    channel: weight === 0 ? none : verbCountsOf(host, MATCH, 'request'),
    direct: verbCountsOf(host, MESH, 'request'),
  });
  const timer = setInterval(() => void report<NodeReport>({ kind: 'counts', counts: counts() }), reportEveryMs);
  const leave = async (): Promise<void> => {
    const { outcome } = await host.shutdown(); // N1
    clearInterval(timer);
    await report<NodeReport>({ kind: 'stopped', outcome, counts: counts() });
    leaveParent();
  };
  process.once('SIGTERM', () => void leave());
  onWish<EndingWish>('drain', leave);
  await report<NodeReport>({ kind: 'ready', endpoint: mesh.endpoint });
});

const none: VerbCounts = { accepted: 0, handled: 0, failed: 0, dropped: {}, unfinished: 0 };

/** Calls the others until the parent wants it to finish. */
async function call(host: Host, others: readonly string[]): Promise<void> {
  const caller = new Caller(host);
  const order = await caller.begin(others);
  await report<NodeReport>({ kind: 'begun', order });
  let last = { atMs: performance.now(), answered: 0 };
  const timer = setInterval(() => {
    const counts = caller.counts();
    const now = { atMs: performance.now(), answered: sum(counts.channel.answered) + sum(counts.direct.answered) };
    const callsPerSecond = ((now.answered - last.answered) / (now.atMs - last.atMs)) * 1_000;
    last = now;
    const nodes = nodesOf(host.routeMesh(MESH).peers.list());
    void report<NodeReport>({ kind: 'progress', counts, nodes, callsPerSecond });
  }, progressEveryMs);
  onWish<EndingWish>('finish', async () => {
    await caller.finish();
    clearInterval(timer);
    await report<NodeReport>({ kind: 'finished', counts: caller.counts() });
  });
}

/** Each RID once: a node that has dialled this one is ready, also while this one still tries to dial it. */
function nodesOf(peers: readonly PeerStatus[]): readonly NodeView[] {
  const states = new Map<string, string>();
  for (const { routingId, state } of peers) {
    if (routingId !== undefined && states.get(routingId) !== 'ready') states.set(routingId, state);
  }
  return [...states].map(([rid, state]) => ({ rid, state }));
}
