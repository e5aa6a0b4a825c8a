import { RECORD_COST_BYTES } from '@zlink/kernel/internal/wire';
import { patient } from '../fixtures/fault-patience.ts';
import type { Sender } from '../fixtures/fault-sender.ts';
import type { FaultServer } from '../fixtures/fault-server.ts';
import { endChildren, type FaultChild, startChild } from './fault-child.ts';

const count = 2_000;
const payloadBytes = 65_536;
const windowBytes = 4_194_304;
const lookMs = 1_000;
/** What of a look the sender may be at work while its sends wait, most of it to look. */
const calmMs = 100;
const messageBytes = payloadBytes + RECORD_COST_BYTES + 64; // the rest of the JSON object

let server: FaultChild<FaultServer>;
let sender: FaultChild<Sender>;

beforeEach(async () => {
  server = await startChild<FaultServer>('server');
  sender = await startChild<Sender>('sender', { flags: ['--expose-gc'] });
});
afterEach(endChildren);

/** Sends to a stopped process; resolves once it has been watched that nothing grows, and that the sender is not kept busy. */
async function floodStopped(sendTimeoutMs: number, watchMs: number): Promise<void> {
  const endpoint = await server.ask('serve', { liveness: patient }); // it has stood still itself
  await sender.ask('connect', endpoint, 60_000);
  await sender.ask('flood', 200, payloadBytes); // buffers and code grow to their size before they are watched
  expect(await sender.ask('settled')).toEqual({ ok: 200 });
  await server.ask('forget');
  await sender.ask('connect', endpoint, sendTimeoutMs);
  server.signal('SIGSTOP');
  await sender.ask('flood', count, payloadBytes);
  const watched = await sender.ask('watch', watchMs);
  expect(watched.outstandingBytes).toBeGreaterThan(windowBytes / 2);
  expect(watched.outstandingBytes).toBeLessThanOrEqual(windowBytes + messageBytes);
  expect(watched.grownBytes).toBeLessThan(64 * 1_048_576);
  expect(watched.textReads).toBeLessThan(count / 4); // what finds no credit is not encoded, not even when its time is over
  // Sends that keep the sender busy do so all the time; if one waited for the stopped server, no look would end.
  let calmestMs = Infinity;
  for (let looks = 0; looks < 10 && calmestMs >= calmMs; looks++) {
    calmestMs = Math.min(calmestMs, (await sender.ask('watch', lookMs)).busyMs);
  }
  expect(calmestMs).toBeLessThan(calmMs);
}

test('[CORE-004] [C05] 2,000 sends of 64 KiB to a stopped process wait within one window and all arrive later', async () => {
  await floodStopped(60_000, 2_000);
  server.signal('SIGCONT');
  expect(await sender.ask('settled')).toEqual({ ok: count });
  expect(await server.ask('handled')).toEqual({ count: count + 1, repeated: [] }); // and the call behind them
}, 300_000);

test('[CALL-003] [C05] sends to a stopped process that find no credit end by their send timeout, the others arrive', async () => {
  await floodStopped(1_000, 2_000);
  server.signal('SIGCONT');
  const ends = await sender.ask('settled');
  const { ok = 0, DeadlineExceeded = 0 } = ends;
  expect(ends).toEqual({ ok, DeadlineExceeded });
  expect(ok + DeadlineExceeded).toBe(count);
  expect(await server.ask('handled')).toEqual({ count: ok + 1, repeated: [] });
}, 300_000);
