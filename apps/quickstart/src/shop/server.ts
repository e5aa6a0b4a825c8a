/**
 * A server process of the shop: `server.js NAME WEIGHT PORT`.
 *
 * Owns one host with one server role. Leaves being started, drained or killed to the demo.
 *
 * S1 SIGTERM ends it in order: nothing new, what was accepted to its end, the last counts, then the process.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { createHost, type Host } from '@zlink/framework';
import { Invoice, Quote, SHOP, Viewed } from './contracts.ts';
import { invoiceMs } from './durations.ts';
import { leaveParent, onWish, report, runChild } from '../parent.ts';
import type { ServerCounts, ServerReport, VerbCounts } from './reports.ts';

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
  onWish('drain', () => void leave());
  await report<ServerReport>({ kind: 'ready', endpoint: host.clientServerChannel(SHOP).endpoint ?? '' });
});

function countsOf(host: Host): ServerCounts {
  const counters = host.query.counters();
  const of = (verb: string): VerbCounts => {
    const found = counters.find((one) => one.verb === verb);
    if (found === undefined) throw new Error(`no counters of verb ${verb}`);
    const { accepted, handled, failed, dropped, running, queued } = found;
    return { accepted, handled, failed, dropped, unfinished: running + queued };
  };
  return { requests: of('request'), sends: of('send') };
}
