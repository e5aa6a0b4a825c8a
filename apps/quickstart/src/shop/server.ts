/**
 * A server process of the shop: `server.js NAME WEIGHT PORT`.
 *
 * Owns one host with one server role. Leaves being started, drained or killed to the demo.
 *
 * S1 SIGTERM ends it in order: nothing new, what was accepted to its end, the last counts, then the process.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { createHost, type Host } from '@zlink/framework';
import { verbCountsOf } from '../calls.ts';
import type { EndingWish } from '../ipc.ts';
import { leaveParent, onWish, report, runChild } from '../parent.ts';
import { Invoice, Quote, SHOP, Viewed } from './contracts.ts';
import { invoiceMs } from './durations.ts';
import type { ServerCounts, ServerReport } from './reports.ts';

const reportEveryMs = 100;

await runChild(async () => {
  const [name = '', weight, port] = process.argv.slice(2);
  const host = createHost();
  host
    .addClientServerChannel(SHOP)
    .server()
    .listen(Number(port))
    .setWeight(Number(weight))
    .addRequestHandler(Quote, ({ orderId, unitCents, count }) => ({
      orderId,
      servedBy: name,
      totalCents: unitCents * count,
    }))
    .addRequestHandler(Invoice, async ({ orderId }, context) => {
      await delay(invoiceMs, undefined, { signal: context.signal });
      return { orderId, servedBy: name };
    })
    .addSendHandler(Viewed, () => undefined); // the host counts it, which is all the demo wants
  await host.start();

  const timer = setInterval(() => void report<ServerReport>({ kind: 'counts', counts: countsOf(host) }), reportEveryMs);
  const leave = async (): Promise<void> => {
    const { outcome } = await host.shutdown(); // S1
    clearInterval(timer);
    await report<ServerReport>({ kind: 'stopped', outcome, counts: countsOf(host) });
    leaveParent();
  };
  process.once('SIGTERM', () => void leave());
  onWish<EndingWish>('drain', leave);
  await report<ServerReport>({ kind: 'ready', endpoint: host.clientServerChannel(SHOP).endpoint ?? '' });
});

function countsOf(host: Host): ServerCounts {
  return { requests: verbCountsOf(host, SHOP, 'request'), sends: verbCountsOf(host, SHOP, 'send') };
}
