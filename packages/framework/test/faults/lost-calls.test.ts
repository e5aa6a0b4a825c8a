import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FaultCaller, Outcome } from '../fixtures/fault-caller.ts';
import { PATIENCE_MS } from '../fixtures/fault-patience.ts';
import type { FaultServer } from '../fixtures/fault-server.ts';
import { endChildren, type FaultChild, startChild } from './fault-child.ts';

const calls = 1_000;
/** On a busy machine; silence takes 15 s by default, and the calls' own deadline is 30 s. */
const promptMs = 10_000;
const liveness = { probeIntervalMs: 200, deadlineMs: 600 };
const nothing = { pendingRequests: 0, waitingRecords: 0, deadlines: 0, permits: 0 };

let server: FaultChild<FaultServer>;
let caller: FaultChild<FaultCaller>;
let folder: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'zlink-lost-'));
  server = await startChild<FaultServer>('server');
  caller = await startChild<FaultCaller>('caller', { flags: ['--expose-gc'] });
  const patient = { ...liveness, deadlineMs: PATIENCE_MS };
  await caller.ask('connect', { address: await server.ask('serve', {}), liveness: patient });
});
afterEach(async () => {
  await endChildren();
  rmSync(folder, { recursive: true });
});

async function holdAll(): Promise<void> {
  await caller.ask('hold', calls);
  await server.ask('heldUpTo', calls);
}

/** Ends by liveness. */
async function expectGivenUp(): Promise<void> {
  await caller.ask('giveUpAfter', liveness.deadlineMs);
  expectLost(await caller.ask('holdsEnded'), liveness.deadlineMs + promptMs);
  await caller.ask('giveUpAfter', PATIENCE_MS);
}

function expectLost({ ends, afterMs }: Outcome, withinMs: number): void {
  const lost: unknown = expect.objectContaining({ kind: 'Unavailable', submitted: true });
  expect(ends).toEqual(new Array(calls).fill(lost));
  expect(afterMs).toBeLessThan(withinMs);
}

test('[CALL-004] [C09] 1,000 calls whose server is killed end at once, as ones that may have run; nothing is left', async () => {
  await holdAll(); // tables grow to their size before they are watched
  await server.ask('release');
  expect((await caller.ask('holdsEnded')).ends).toEqual(
    new Array(calls).fill({ kind: 'ok', submitted: true, text: '' }),
  );
  await caller.ask('hold', 0);
  const heapBefore = await caller.ask('heapBytes');

  await holdAll();
  server.signal('SIGKILL');
  expectLost(await caller.ask('holdsEnded'), promptMs);
  expect(await caller.ask('leftovers')).toEqual({ links: 0, ...nothing });
  await caller.ask('hold', 0);
  expect(await caller.ask('heapBytes')).toBeLessThan(heapBefore + 2 * 1_048_576);
}, 300_000);

test('[C16] [LIVE-001] calls to a process that is busy beyond the limit end as ones that may have run; it is back 2 s later', async () => {
  const backMs: number[] = [];
  for (let round = 0; round < 3 || (round < 12 && Math.min(...backMs) >= 2_000); round++) {
    await holdAll();
    const lost = join(folder, `lost ${round}`);
    const stall = server.ask('block', liveness.deadlineMs * 5, lost);
    await expectGivenUp();
    writeFileSync(lost, '');
    await stall;
    const endedAtMs = performance.now();
    await caller.ask('whenReady');
    expect(await caller.ask('echo', 10)).toEqual({ ok: 10 });
    backMs.push(performance.now() - endedAtMs);
    await server.ask('abortedUpTo', calls * (round + 1));
    await server.ask('release');
  }
  expect(Math.max(...backMs)).toBeLessThan(promptMs);
  expect(Math.min(...backMs)).toBeLessThan(2_000); // without a busy machine all of them are
  expect(await caller.ask('leftovers')).toEqual({ links: 1, ...nothing });
  expect((await server.ask('handled')).repeated.length).toBe(0);
}, 300_000);

test('[WIRE-005] [C09] 1,000 calls to a stopped process end by liveness; its late replies reach nobody', async () => {
  await holdAll();
  server.signal('SIGSTOP');
  await expectGivenUp();
  expect(await caller.ask('leftovers')).toEqual({ links: 0, ...nothing });
  server.signal('SIGCONT');
  await server.ask('abortedUpTo', calls);
  expect(await server.ask('release')).toBe(calls); // they reply now, to nobody
  await caller.ask('whenReady');
  expect(await caller.ask('echo', calls)).toEqual({ ok: calls }); // each its own reply
  const requests = (await server.ask('counters')).find(({ verb }) => verb === 'request');
  expect(requests).toMatchObject({ handled: calls, dropped: { link_closed: calls }, running: 0, queued: 0 });
  expect(await server.ask('handled')).toEqual({ count: 2 * calls, repeated: [] });
}, 300_000);
