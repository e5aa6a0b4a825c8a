/**
 * The client process of the shop: `client.js ENDPOINT...`.
 *
 * Owns one host with one client role. Leaves the calls to the load.
 */
import { createHost } from '@zlink/framework';
import { sum } from '../calls.ts';
import type { EndingWish } from '../ipc.ts';
import { leaveParent, onWish, report, runChild } from '../parent.ts';
import { SHOP } from './contracts.ts';
import { Load } from './load.ts';
import type { ClientReport } from './reports.ts';

const readyWithinMs = 10_000;
const reportEveryMs = 250;

await runChild(async () => {
  const endpoints = process.argv.slice(2);
  const host = createHost();
  const client = host.addClientServerChannel(SHOP).client();
  for (const endpoint of endpoints) client.connect(endpoint);
  await host.start();
  const shop = host.clientServerChannel(SHOP);
  await shop.whenReady(endpoints.length, AbortSignal.timeout(readyWithinMs));
  await report<ClientReport>({ kind: 'ready' });

  const load = new Load(host.routeClient);
  let last = { atMs: performance.now(), answered: 0 };
  const timer = setInterval(() => {
    const [calls, sends, latency] = [load.calls.counts(), load.sends.counts(), load.latency.takeWindow()];
    const now = { atMs: performance.now(), answered: sum(calls.answered) };
    const callsPerSecond = ((now.answered - last.answered) / (now.atMs - last.atMs)) * 1_000;
    last = now;
    const servers = shop.servers().map(({ endpoint, weight, draining, state }) => ({
      endpoint,
      weight,
      state: draining && state === 'ready' ? 'draining' : state,
    }));
    void report<ClientReport>({ kind: 'progress', calls, sends, servers, callsPerSecond, latency });
  }, reportEveryMs);

  onWish<EndingWish>('finish', async () => {
    await load.finish();
    clearInterval(timer);
    const [calls, sends, latency] = [load.calls.counts(), load.sends.counts(), load.latency.total];
    await host.shutdown();
    await report<ClientReport>({ kind: 'finished', calls, sends, latency });
    leaveParent();
  });
});
