import { getEventListeners } from 'node:events';
import type { Host } from '../../src/index.ts';
import { CHANNEL, Run } from '../fixtures/fault-packets.ts';
import type { Aborted, RelayServer } from '../fixtures/fault-relay-server.ts';
import { makeHost } from '../hosts.ts';
import { endChildren, type FaultChild, startChild } from './fault-child.ts';

/** For a hop on a busy machine; far less than the 30 s that calls have by default. */
const hopMs = 10_000;

let b: FaultChild<RelayServer>;
let c: FaultChild<RelayServer>;
let endpoint: string;

beforeEach(async () => {
  [b, c] = await Promise.all([startChild<RelayServer>('relay-server'), startChild<RelayServer>('relay-server')]);
  endpoint = await b.ask('serve', await c.ask('serve'));
});
afterEach(endChildren);

async function startHost(): Promise<Host> {
  const host = makeHost();
  host.addClientServerChannel(CHANNEL).client().connect(endpoint);
  await host.start();
  return host;
}

async function startReadyHost(): Promise<Host> {
  const host = await startHost();
  await host.clientServerChannel(CHANNEL).whenReady(1);
  return host;
}

const run = (host: Host, id: number, waits: boolean) => host.routeClient.requestToChannel(CHANNEL, Run({ id, waits }));

/** What both servers' handlers of the errand were told. */
async function abortions(): Promise<Aborted[]> {
  return Promise.all([b, c].map(async (server) => (await server.next('aborted')) as Aborted)); // told under that name
}

test('[CALL-002] [C12] A aborts: the handlers that run at B and C are told', async () => {
  const host = await startReadyHost();
  const abort = new AbortController();
  const { signal } = abort;
  const failure = run(host, 1, true)
    .submit(signal)
    .catch((thrown: unknown) => thrown);
  while ((await c.ask('started')) === 0); // C is the last to start
  abort.abort('changed my mind');
  expect(await failure).toBe('changed my mind');
  const abortedAtMs = performance.now();
  for (const { id, reason } of await abortions())
    expect([id, reason]).toEqual([1, expect.stringMatching(/no longer waits/)]);
  expect(performance.now() - abortedAtMs).toBeLessThan(hopMs);
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
}, 300_000);

test('[WIRE-006] [C12] the deadline of A ends the handlers at B and C, which have 30 s by default', async () => {
  const host = await startReadyHost();
  const limitMs = 8_000; // long enough for the errand to reach C, on a busy machine too
  const call = run(host, 1, true).timeoutMs(limitMs).submit();
  await expect(call).rejects.toMatchObject({ kind: 'DeadlineExceeded', submitted: true });
  const [atB, atC] = await abortions();
  expect(atB?.reason).toMatch(/DeadlineExceeded/);
  expect(atC?.reason).toMatch(/DeadlineExceeded|no longer waits/); // its own deadline, or B's word if that is faster
  for (const { afterMs } of [atB!, atC!]) expect(afterMs).toBeLessThan(limitMs + hopMs); // both have told
}, 300_000);

test('[WIRE-006] [C12] C never has more time than A has left: 1,000 of 1,000 runs with 300 ms', async () => {
  const host = await startReadyHost();
  let runs = 0;
  while ((await c.ask('started')) < 1_000 && runs < 100_000) {
    const calls = Array.from({ length: 50 }, () => run(host, ++runs, false).timeoutMs(300).submit());
    await Promise.allSettled(calls); // on a busy machine many may be too late to reach C
  }
  expect(await c.ask('started')).toBeGreaterThanOrEqual(1_000);
  expect(await c.ask('mostRemainingMs')).toBeLessThanOrEqual(300);
  // One that is held up just between the look at the clock and the handler: without the look it is all that come with it.
  expect(await c.ask('startedLate')).toBeLessThan(3);
}, 300_000);

test('[CALL-002] [C12] aborted before it was written: no handler runs, no listener stays', async () => {
  const host = await startHost();
  const waiting = new AbortController();
  const call = run(host, 1, false).submit(waiting.signal); // waits for its target
  waiting.abort('changed my mind');
  await expect(call).rejects.toBe('changed my mind');
  await host.clientServerChannel(CHANNEL).whenReady(1);
  const before = AbortSignal.abort('never mind');
  await expect(run(host, 2, false).submit(before)).rejects.toBe('never mind');
  await run(host, 3, false).submit(); // anything sent earlier would have been there before
  for (const server of [b, c]) expect(await server.ask('startedIds')).toEqual([3]);
  expect(getEventListeners(waiting.signal, 'abort')).toHaveLength(0);
}, 300_000);

test('[CALL-002] [C12] aborted after the reply: nothing happens, no listener stays', async () => {
  const host = await startReadyHost();
  const abort = new AbortController();
  const { remainingMs } = await run(host, 1, false).submit(abort.signal);
  expect(remainingMs).toBeGreaterThan(0);
  expect(getEventListeners(abort.signal, 'abort')).toHaveLength(0);
  abort.abort();
  await run(host, 2, false).submit();
  for (const server of [b, c]) expect(await server.ask('abortions')).toBe(0);
}, 300_000);
