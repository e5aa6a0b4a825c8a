import { loopTurns } from '@zlink/testing';
import { deadlineOf } from '../../src/internal/time/index.ts';
import { message, request } from '../../src/message/index.ts';
import { FakeLink } from './fake-link.ts';
import { expectNothingHeld, gate, type Gate, Harness } from './harness.ts';

const Ask = request<{ n: number }, { ok: boolean }>('ask');
const Tell = message<{ n: number }>('tell');

/** Handlers that tell their signal and wait for the test. */
function arrange(options: ConstructorParameters<typeof Harness>[1] = {}) {
  const signals: AbortSignal[] = [];
  const gates: Gate<{ ok: boolean }>[] = [];
  const hold = (_: unknown, context: { readonly signal: AbortSignal }): Promise<{ ok: boolean }> => {
    signals.push(context.signal);
    const held = gate<{ ok: boolean }>();
    gates.push(held);
    return held.promise;
  };
  const harness = new Harness((handlers) => handlers.addRequest(Ask, hold).addSend(Tell, hold as never), options);
  const reasonOf = (index: number): unknown => signals[index]?.reason;
  return { harness, signals, gates, reasonOf };
}

test('[C12] a cancelled request aborts the signal of its handler, and no reply is sent', async () => {
  const { harness, signals, gates, reasonOf } = arrange();
  const [, second] = [harness.request(Ask, { n: 1 }), harness.request(Ask, { n: 2 })];
  harness.dispatcher.cancel(harness.link, second);
  expect(signals.map((signal) => signal.aborted)).toEqual([false, true]);
  expect(reasonOf(1)).toMatchObject({ kind: 'Unavailable' });
  for (const held of gates) held.open({ ok: true });
  await harness.dispatcher.idle();
  expect(harness.link.answers).toHaveLength(1);
  expect(harness.link.forgone).toBe(1);
  expect(harness.requests).toMatchObject({ handled: 1, dropped: { cancelled: 1 } });
  expectNothingHeld(harness);
});

test('[C12] a cancel that came before the signal was asked for is seen in it', async () => {
  const before = gate();
  let aborted: boolean | undefined;
  const harness = new Harness((handlers) =>
    handlers.addRequest(Ask, async (_, context) => {
      await before.promise;
      aborted = context.signal.aborted;
      return { ok: true };
    }),
  );
  harness.dispatcher.cancel(harness.link, harness.request(Ask, { n: 1 }));
  before.open();
  await harness.dispatcher.idle();
  expect(aborted).toBe(true);
});

test('[C12] a cancelled request that still waits never runs', async () => {
  const { harness, signals, gates } = arrange({ concurrency: 1 });
  harness.request(Ask, { n: 1 });
  const second = harness.request(Ask, { n: 2 });
  harness.dispatcher.cancel(harness.link, second);
  expect(harness.requests).toMatchObject({ running: 1, queued: 0, dropped: { cancelled: 1 } });
  expect(harness.permits.inUse).toBe(0);
  gates[0]?.open({ ok: true });
  await harness.dispatcher.idle();
  expect(signals).toHaveLength(1);
  expectNothingHeld(harness);
});

test('[C12] a cancel after the reply, of another link, of an unknown request or of a send changes nothing', async () => {
  const { harness, signals, gates } = arrange();
  const other = new FakeLink();
  const first = harness.request(Ask, { n: 1 });
  gates[0]?.open({ ok: true });
  await harness.dispatcher.idle();
  harness.dispatcher.cancel(harness.link, first);
  const second = harness.request(Ask, { n: 1 });
  harness.send(Tell, { n: 1 });
  harness.dispatcher.cancel(other, second);
  harness.dispatcher.cancel(harness.link, 0);
  harness.dispatcher.cancel(harness.link, 4_711);
  expect(signals.map((signal) => signal.aborted)).toEqual([false, false, false]);
  for (const held of gates) held.open({ ok: true });
  await harness.dispatcher.idle();
  expect(harness.requests.handled).toBe(2);
  expectNothingHeld(harness);
});

test('[C12] the deadline of a request aborts the signal in time, and calls started with it inherit the rest', async () => {
  const { harness, signals, gates, reasonOf } = arrange();
  const arrivedAtMs = harness.clock.nowMs();
  harness.request(Ask, { n: 1 }, { remainingMs: 300 });
  expect(deadlineOf(signals[0] as AbortSignal)).toBe(arrivedAtMs + 300);
  harness.clock.advance(299);
  expect(signals[0]?.aborted).toBe(false);
  harness.clock.advance(20);
  expect(reasonOf(0)).toMatchObject({ kind: 'DeadlineExceeded' });
  gates[0]?.open({ ok: true });
  await harness.dispatcher.idle();
  expect(harness.link.answers).toEqual([]); // nobody waits for it any more (CORE-015)
  expect(harness.requests.dropped).toEqual({ reply_expired: 1 });
  expectNothingHeld(harness);
});

test('[C12] a signal asked for after the deadline is aborted at once', async () => {
  let signal: AbortSignal | undefined;
  const harness: Harness = new Harness((handlers) =>
    handlers.addRequest(Ask, (_, context) => {
      harness.clock.advance(300);
      signal = context.signal;
      return { ok: true };
    }),
  );
  harness.request(Ask, { n: 1 }, { remainingMs: 300 });
  expect(signal?.reason).toMatchObject({ kind: 'DeadlineExceeded' });
  expectNothingHeld(harness);
});

test('[C12] the signal of accepted work without a limit is known as such', () => {
  const { harness, signals } = arrange();
  harness.request(Ask, { n: 1 });
  harness.send(Tell, { n: 1 });
  expect(signals.map((signal) => deadlineOf(signal))).toEqual([Infinity, Infinity]);
});

test('[CALL-003] a deadline costs no timer unless the signal was asked for', () => {
  const harness = new Harness((handlers) =>
    handlers.addRequest(Ask, () => new Promise<{ ok: boolean }>(() => undefined)),
  );
  for (let i = 0; i < 100; i++) harness.request(Ask, { n: i }, { remainingMs: 300 });
  expect(harness.clock.pendingTimers).toBe(0);
});

test('[C12] a signal asked for after the handler has ended is not aborted, and leaves no timer', async () => {
  let late: (() => AbortSignal) | undefined;
  const harness = new Harness((handlers) =>
    handlers.addRequest(Ask, (_, context) => {
      late = () => context.signal;
      return { ok: true };
    }),
  );
  harness.request(Ask, { n: 1 }, { remainingMs: 300 });
  expect(late?.().aborted).toBe(false);
  expectNothingHeld(harness);
  expect(harness.clock.pendingTimers).toBe(0);
});

test('[C12] a handler that ends with the reason of its signal is no failure', async () => {
  const { harness, gates, signals } = arrange();
  const correlation = harness.request(Ask, { n: 1 });
  harness.dispatcher.cancel(harness.link, correlation);
  gates[0]?.fail(signals[0]?.reason);
  harness.dispatcher.cancel(harness.link, harness.request(Ask, { n: 2 }));
  // As timers and streams of Node.js do it.
  gates[1]?.fail(new Error('The operation was aborted', { cause: signals[1]?.reason as unknown }));
  await harness.dispatcher.idle();
  expect([harness.unhandled, harness.logs]).toEqual([[], []]);
  expect(harness.requests).toMatchObject({ failed: 0, dropped: { cancelled: 2 } });
});

test('[C12] another error after a cancel is told, though nobody gets it as an answer', async () => {
  const { harness, gates } = arrange();
  harness.dispatcher.cancel(harness.link, harness.request(Ask, { n: 1 }));
  gates[0]?.fail(new Error('rollback failed'));
  await harness.dispatcher.idle();
  expect(harness.unhandled).toMatchObject([{ error: { message: 'rollback failed' } }]);
  expect(harness.link.answers).toEqual([]);
});

describe('a link that ends', () => {
  test('[C09] aborts the handlers of its requests and drops those that wait, but not its sends', async () => {
    const { harness, signals, gates, reasonOf } = arrange({ concurrency: 2 });
    const other = new FakeLink();
    harness.request(Ask, { n: 1 });
    harness.send(Tell, { n: 2 });
    harness.request(Ask, { n: 3 });
    harness.send(Tell, { n: 4 });
    harness.request(Ask, { n: 5 }, { link: other });
    harness.link.end();
    harness.dispatcher.linkClosed(harness.link);
    expect(signals.map((signal) => signal.aborted)).toEqual([true, false]);
    expect(reasonOf(0)).toMatchObject({ kind: 'Unavailable' });
    expect(harness.requests).toMatchObject({ queued: 1, dropped: { link_closed: 1 } });
    for (let i = 0; i < 4; i++) {
      for (const held of gates) held.open({ ok: true });
      await loopTurns(1);
    }
    expect(harness.sends.handled).toBe(2); // accepted is accepted
    expect(harness.requests).toMatchObject({ handled: 1, dropped: { link_closed: 2 } });
    expect(harness.link.answers).toEqual([]);
    expect(other.answers).toHaveLength(1);
    expectNothingHeld(harness, harness.link, other);
  });
});

describe('the end of the host', () => {
  test('[CS-008] while draining, new requests are answered Rejected, new sends dropped, and accepted work goes on', async () => {
    const { harness, gates } = arrange();
    harness.request(Ask, { n: 1 });
    harness.dispatcher.stopIntake('Rejected');
    harness.request(Ask, { n: 2 });
    harness.send(Tell, { n: 3 });
    expect(harness.link.answers).toMatchObject([
      { error: 'Rejected', text: 'channel "billing" takes nothing new (the server drains; the handler did not run)' },
    ]);
    const idle = harness.dispatcher.idle();
    gates[0]?.open({ ok: true });
    await idle;
    expect(harness.link.answers[1]).toMatchObject({ text: '{"ok":true}' });
    expect(harness.sends.dropped).toEqual({ shutdown: 1 });
    expectNothingHeld(harness);
  });

  test('[CS-004] before the host serves, requests are answered Unavailable, and afterwards they are handled', async () => {
    const { harness, gates } = arrange();
    harness.dispatcher.stopIntake('Unavailable');
    harness.request(Ask, { n: 1 });
    harness.send(Tell, { n: 1 });
    harness.dispatcher.resumeIntake();
    harness.request(Ask, { n: 2 });
    gates[0]?.open({ ok: true });
    await harness.dispatcher.idle();
    expect(harness.link.answers).toMatchObject([{ error: 'Unavailable' }, { error: undefined }]);
    expect(harness.sends.dropped).toEqual({ not_serving: 1 });
  });

  test('[CS-008] abortAll ends all waiting: signals abort, callers get ShuttingDown, what waits never runs', async () => {
    const { harness, signals, gates, reasonOf } = arrange({ concurrency: 2 });
    harness.request(Ask, { n: 1 });
    harness.send(Tell, { n: 2 });
    harness.request(Ask, { n: 3 });
    harness.send(Tell, { n: 4 });
    harness.dispatcher.stopIntake('ShuttingDown');
    harness.dispatcher.abortAll();
    expect(signals.map((signal) => signal.aborted)).toEqual([true, true]);
    expect(reasonOf(0)).toMatchObject({ kind: 'ShuttingDown' });
    expect(harness.link.answers.map(({ correlation, error }) => [correlation, error])).toEqual([
      [2, 'ShuttingDown'],
      [1, 'ShuttingDown'],
    ]);
    expect(harness.requests).toMatchObject({ running: 1, dropped: { shutdown: 1 } });
    gates[0]?.open({ ok: true }); // too late: answered once is answered
    gates[1]?.fail(signals[1]?.reason);
    await harness.dispatcher.idle();
    expect(harness.link.answers).toHaveLength(2);
    expect(harness.requests.dropped).toEqual({ shutdown: 2 });
    expect(harness.sends.dropped).toEqual({ shutdown: 2 });
    expect(harness.unhandled).toEqual([]);
    expectNothingHeld(harness);
  });

  test('[CS-008] abortAll has nothing for callers who had left', async () => {
    const { harness, gates } = arrange();
    harness.dispatcher.cancel(harness.link, harness.request(Ask, { n: 1 }));
    harness.request(Ask, { n: 2 });
    harness.dispatcher.abortAll();
    expect(harness.link.answers).toMatchObject([{ correlation: 2, error: 'ShuttingDown' }]);
    for (const held of gates) held.open({ ok: true });
    await harness.dispatcher.idle();
    expect(harness.requests.dropped).toEqual({ cancelled: 1, shutdown: 1 });
    expectNothingHeld(harness);
  });

  test('[CS-008] idle resolves at once when nothing is held', async () => {
    const { harness } = arrange();
    await harness.dispatcher.idle();
    expectNothingHeld(harness);
  });
});
