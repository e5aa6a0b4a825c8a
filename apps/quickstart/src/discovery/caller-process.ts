/**
 * A process with the host that calls the fleet: `caller-process.js NAME REDIS_URL`.
 *
 * Owns the process. Leaves calls and sights to the caller.
 */
import { createRedisLocationStore } from '@zlink/location-redis';
import type { EndingWish } from '../ipc.ts';
import { leaveParent, onWish, report, runChild } from '../parent.ts';
import { FLEET } from './contracts.ts';
import { FleetCaller } from './fleet-caller.ts';
import type { CallerReport, CallerWish } from './reports.ts';

await runChild(async () => {
  const [name = '', url = ''] = process.argv.slice(2);
  const store = createRedisLocationStore({ keyPrefix: FLEET, connection: { url } });
  const caller = new FleetCaller({ name, store }, (news) => void report<CallerReport>(news));
  await caller.start();

  onWish<CallerWish>('begin', () => Promise.resolve(caller.begin()));
  onWish<CallerWish>('count', () => report<CallerReport>({ kind: 'counted', counts: caller.counts() }));
  onWish<EndingWish>('finish', async () => {
    await report<CallerReport>({ kind: 'finished', counts: await caller.finish() });
  });
  const leave = async (): Promise<void> => {
    await report<CallerReport>({ kind: 'left', outcome: await caller.leave() });
    leaveParent();
  };
  process.once('SIGTERM', () => void leave());
  onWish<EndingWish>('drain', leave);
  await report<CallerReport>({ kind: 'ready' });
});
