import { loopTurns } from '@zlink/testing';
import { message, request, type StandardSchemaV1 } from '../../src/message/index.ts';
import { expectNothingHeld, gate, Harness } from './harness.ts';

const Ask = request<{ n: number }, unknown>('ask');
const Tell = message<{ n: number }>('tell');

function answering(reply: () => unknown, options: ConstructorParameters<typeof Harness>[1] = {}): Harness {
  return new Harness((handlers) => handlers.addRequest(Ask, reply).addSend(Tell, () => undefined), options);
}

test('[CS-007] each request is answered once, whatever its handler does, and a send never', async () => {
  const harness = new Harness((handlers) =>
    handlers
      .addRequest(Ask, async ({ n }) => {
        if (n % 3 === 0) throw new Error('third');
        if (n % 3 === 1) await loopTurns(1);
        return { n };
      })
      .addSend(Tell, ({ n }) => ({ ignored: n }) as never),
  );
  for (let n = 1; n <= 30; n++) harness.request(Ask, { n });
  for (let n = 1; n <= 30; n++) harness.send(Tell, { n });
  harness.request('nobody', {});
  harness.request(Ask, {}, { payload: '{' });
  await harness.dispatcher.idle();
  const correlations = harness.link.answers.map(({ correlation }) => correlation).sort((a, b) => a - b);
  expect(correlations).toEqual(Array.from({ length: 32 }, (_, index) => index + 1));
  expectNothingHeld(harness);
});

test.each([
  ['a value without JSON form', () => ({ f: NaN })],
  [
    'a cycle',
    () => {
      const value: Record<string, unknown> = {};
      value['self'] = value;
      return value;
    },
  ],
  [
    'a getter that throws',
    () => ({
      get broken(): never {
        throw new Error('getter');
      },
    }),
  ],
])('[DISP-004] a reply that cannot be encoded (%s) becomes InternalFailure and is told', (_, reply) => {
  const harness = answering(reply);
  harness.request(Ask, { n: 1 });
  expect(harness.link.answers).toMatchObject([
    {
      error: 'InternalFailure',
      text: 'reply of request handler of packet "ask" in channel "billing" could not be sent; its log has the cause',
    },
  ]);
  expect(harness.unhandled).toHaveLength(1);
  expect(harness.requests.failed).toBe(1);
  expectNothingHeld(harness);
});

test('[MSG-004] a reply that does not fit its schema becomes InternalFailure', () => {
  const schema: StandardSchemaV1<unknown, { ok: boolean }> = {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: (value) => ((value as { ok?: unknown }).ok === true ? { value } : { issues: [{ message: 'not ok' }] }),
    },
  };
  const Checked = request<object, { ok: boolean }>('checked', { reply: { schema } });
  let ok = false;
  const harness = new Harness((handlers) => handlers.addRequest(Checked, () => ({ ok })), {
    exposeErrorMessages: true,
  });
  harness.request(Checked, {});
  ok = true;
  harness.request(Checked, {});
  expect(harness.link.answers).toMatchObject([
    { error: 'InternalFailure', text: expect.stringContaining('does not fit: the whole of it') as string },
    { error: undefined, text: '{"ok":true}' },
  ]);
});

test('[CS-003] a reply that is too large for the caller becomes InternalFailure and is told', () => {
  const harness = answering(() => 'x'.repeat(500));
  harness.link.largestText = 300;
  harness.request(Ask, { n: 1 });
  expect(harness.link.answers).toMatchObject([{ error: 'InternalFailure' }]);
  expect(harness.unhandled).toMatchObject([{ error: { kind: 'InvalidOperation' } }]);
  expectNothingHeld(harness);
});

test.each(['reply', 'error reply'])(
  '[DISP-004] a link that takes no %s is recorded, and the account is closed',
  async (what) => {
    const harness = answering(() => {
      if (what === 'error reply') throw new Error('handler');
      return { ok: true };
    });
    harness.link.mode = 'refuse';
    harness.request(Ask, { n: 1 });
    await loopTurns(1);
    expect(harness.link.forgone).toBe(1);
    expect(harness.logs).toContainEqual(expect.objectContaining({ reason: 'reply_path_missing' }));
    expect(harness.requests).toMatchObject(
      what === 'reply' ? { dropped: { reply_path_missing: 1 } } : { failed: 1, dropped: {} },
    );
    expectNothingHeld(harness);
  },
);

describe('a reply that waits for credit', () => {
  test('[JOBQ-006] keeps its place in the mailbox until it was written, but no handler', async () => {
    const harness = answering(() => ({ ok: true }), {
      concurrency: 1,
      mailboxLimits: { messages: 2, bytes: 10_000 },
    });
    harness.link.mode = 'wait';
    harness.request(Ask, { n: 1 });
    harness.request(Ask, { n: 2 });
    expect(harness.link.waitingRecords).toBe(2); // both handlers have run
    expect(harness.requests).toMatchObject({ running: 2, handled: 0 });
    harness.send(Tell, { n: 3 });
    expect(harness.sends.dropped).toEqual({ backpressure: 1 });
    const idle = harness.dispatcher.idle();
    harness.link.grant();
    await idle;
    expect(harness.link.answers).toHaveLength(2);
    expect(harness.requests).toMatchObject({ running: 0, handled: 2 });
    expectNothingHeld(harness);
  });

  test('[CORE-015] is dropped and counted when the time of its request is over', () => {
    const harness = answering(() => ({ ok: true }));
    harness.link.mode = 'wait';
    harness.request(Ask, { n: 1 }, { remainingMs: 300 });
    harness.request(Ask, { n: 2 });
    harness.clock.advance(320);
    expect(harness.link.waitingRecords).toBe(1); // one without a limit
    expect(harness.requests.dropped).toEqual({ reply_expired: 1 });
    expect(harness.link.forgone).toBe(1);
    harness.link.grant();
    expect(harness.link.answers).toMatchObject([{ correlation: 2 }]);
    expectNothingHeld(harness);
  });

  test('[C12] is withdrawn when its caller cancels', () => {
    const harness = answering(() => ({ ok: true }));
    harness.link.mode = 'wait';
    const correlation = harness.request(Ask, { n: 1 }, { remainingMs: 300 });
    harness.dispatcher.cancel(harness.link, correlation);
    expect(harness.requests.dropped).toEqual({ cancelled: 1 });
    expect(harness.link.forgone).toBe(1);
    expectNothingHeld(harness);
  });

  test('[C09] is over when its link ends', () => {
    const harness = answering(() => ({ ok: true }));
    harness.link.mode = 'wait';
    harness.request(Ask, { n: 1 }, { remainingMs: 300 });
    harness.link.end();
    harness.dispatcher.linkClosed(harness.link);
    expect(harness.requests.dropped).toEqual({ reply_path_missing: 1 });
    expectNothingHeld(harness);
  });

  test('[DISP-004] becomes an error reply when it cannot be encoded any more at its turn', () => {
    const value: Record<string, unknown> = { ok: true };
    const harness = answering(() => value);
    harness.link.mode = 'wait';
    harness.request(Ask, { n: 1 });
    value['ok'] = NaN; // the application changed what it had returned
    harness.link.grant();
    expect(harness.link.answers).toMatchObject([{ error: 'InternalFailure' }]);
    expect(harness.requests.failed).toBe(1);
    expectNothingHeld(harness);
  });

  test('[JOBQ-006] an error reply may wait, too, and keeps its outcome', () => {
    const harness = answering(() => {
      throw new Error('handler');
    });
    harness.link.mode = 'wait';
    harness.request(Ask, { n: 1 }, { remainingMs: 300 });
    harness.request('nobody', {}, { remainingMs: 300 });
    expect(harness.requests.running).toBe(2);
    harness.clock.advance(320);
    expect(harness.requests).toMatchObject({ running: 0, failed: 1, dropped: { no_handler: 1 } });
    expectNothingHeld(harness);
  });
});

describe('time', () => {
  test('[WIRE-006] a request whose time is over before its handler starts is answered DeadlineExceeded and counted', async () => {
    const held = gate();
    let runs = 0;
    const harness = new Harness(
      (handlers) =>
        handlers.addRequest(Ask, async () => {
          runs++;
          await held.promise;
          return {};
        }),
      { concurrency: 1 },
    );
    harness.request(Ask, { n: 1 });
    harness.request(Ask, { n: 2 }, { remainingMs: 50 });
    harness.request(Ask, { n: 3 }, { remainingMs: 500 });
    harness.clock.advance(50);
    harness.turn();
    held.open();
    await harness.dispatcher.idle();
    expect(runs).toBe(2);
    expect(harness.link.answers.map(({ correlation, error }) => [correlation, error])).toEqual([
      [1, undefined],
      [2, 'DeadlineExceeded'],
      [3, undefined],
    ]);
    expect(harness.requests.dropped).toEqual({ deadline_exceeded: 1 });
    expectNothingHeld(harness);
  });

  test('[WIRE-006] the answer to such a request does not wait for credit', async () => {
    const held = gate();
    const harness = new Harness((handlers) => handlers.addSend(Tell, () => held.promise), { concurrency: 1 });
    harness.send(Tell, { n: 1 });
    harness.request(Ask, { n: 2 }, { remainingMs: 50 });
    harness.clock.advance(50);
    harness.turn();
    harness.link.mode = 'wait';
    held.open();
    await harness.dispatcher.idle();
    expect(harness.requests.dropped).toEqual({ deadline_exceeded: 1 });
    expectNothingHeld(harness);
  });

  test('[CORE-015] the reply of a handler that took too long is dropped and counted', async () => {
    const held = gate();
    const harness = answering(async () => held.promise);
    harness.request(Ask, { n: 1 }, { remainingMs: 100 });
    harness.clock.advance(100);
    held.open();
    await harness.dispatcher.idle();
    expect(harness.link.answers).toEqual([]);
    expect(harness.requests.dropped).toEqual({ reply_expired: 1 });
    expectNothingHeld(harness);
  });
});

test('[MSG-012] a reply carries no metadata', () => {
  const harness = answering(() => ({ ok: true }));
  harness.request(Ask, { n: 1 }, { metadataBytes: Uint8Array.of(1, 0x61, 1, 0x62) });
  expect(harness.link.answers).toHaveLength(1); // the fake link refuses metadata on what it encodes
});
