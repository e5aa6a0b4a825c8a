/**
 * A process with one host of the fleet: `host-process.js NAME WEIGHT REDIS_URL`.
 *
 * Owns the process. Leaves being started and killed to the demo.
 *
 * H1 SIGTERM ends it in order: nothing new, what was accepted to its end, the last counts, then the process.
 */
import { createRedisLocationStore } from '@zlink/location-redis';
import type { EndingWish } from '../ipc.ts';
import { leaveParent, onWish, report, runChild } from '../parent.ts';
import { FLEET } from './contracts.ts';
import { FleetHost } from './fleet-host.ts';
import type { HostReport, HostWishOf } from './reports.ts';

const reportEveryMs = 100;

await runChild(async () => {
  const [name = '', weight, url = ''] = process.argv.slice(2);
  const store = createRedisLocationStore({ keyPrefix: FLEET, connection: { url } });
  const host = new FleetHost({ name, store }, Number(weight));
  await host.start();

  onWish<HostWishOf<'meet'>>('meet', async ({ count }) => {
    await host.meet(count);
    await report<HostReport>({ kind: 'met' });
  });
  onWish<HostWishOf<'weigh'>>('weigh', async ({ weight: wished }) => {
    host.weigh(wished);
    await report<HostReport>({ kind: 'weighed' });
  });
  const timer = setInterval(() => void report<HostReport>({ kind: 'counts', counts: host.counts() }), reportEveryMs);
  const leave = async (): Promise<void> => {
    const departure = await host.leave(); // H1
    clearInterval(timer);
    await report<HostReport>({ kind: 'left', ...departure });
    leaveParent();
  };
  process.once('SIGTERM', () => void leave());
  onWish<EndingWish>('drain', leave);
  await report<HostReport>({ kind: 'ready' });
});
