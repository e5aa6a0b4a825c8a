import { getEventListeners } from 'node:events';
import { RequestBuilder, SendBuilder } from '../../src/call/index.ts';
import type { Codec } from '../../src/codec/index.ts';
import { isZLinkError, ZLinkError } from '../../src/errors/index.ts';
import { setDeadline } from '../../src/internal/time/index.ts';
import { metadata, request, resolveOutbound, type StandardSchemaV1, validateInbound } from '../../src/message/index.ts';
import { thrownBy } from '../thrown.ts';
import { ERROR_KINDS, FakePath } from './fake-path.ts';
import { reactions, rejection, watch } from './settlement.ts';

const Charge = request<{ orderId: string }, { receipt: string }>('billing.charge');
const order = () => resolveOutbound(Charge({ orderId: '7' }));
const longestMs = 2_147_483_647;

function arrange(codecs: readonly Codec[] = []) {
  const path = new FakePath(codecs);
  return { path, link: path.link, call: () => new RequestBuilder<unknown>(path, order()) };
}

test('[MSG-006] a request completes once, with the decoded reply', async () => {
  const { path, link, call } = arrange();
  const settlement = watch(call().submit());
  expect(link.written).toEqual(['{"orderId":"7"}']);
  await reactions();
  expect(settlement.outcome).toBe('pending');
  link.reply('{"receipt":"r-7"}');
  await reactions();
  expect(settlement).toEqual({ outcome: 'resolved', value: { receipt: 'r-7' } });
  path.expectClean();
});

test('[CALL-001] a request is submitted once, and nothing of it can be set afterwards', async () => {
  const { link, call } = arrange();
  const once = call();
  const first = watch(once.submit());
  expect((await rejection(once.submit())).kind).toBe('InvalidOperation');
  expect(thrownBy(() => once.timeoutMs(5)).kind).toBe('InvalidOperation');
  expect(thrownBy(() => once.metadata('a', 'b')).kind).toBe('InvalidOperation');
  expect(thrownBy(() => once.metadata(metadata({ a: 'b' }))).kind).toBe('InvalidOperation');
  expect(link.written).toHaveLength(1);
  link.reply('1');
  await reactions();
  expect(first.value).toBe(1);
});

test('[CALL-001] a call that was refused is used up as well', async () => {
  const { path, call } = arrange();
  const used = call();
  await rejection(used.metadata('k', 'v'.repeat(2_000)).submit());
  expect((await rejection(used.submit())).message).toContain('already submitted');
  expect(path.routed).toEqual([]);
});

test('[CALL-002] an aborted signal rejects with its reason and nothing is sent', async () => {
  const { path, call } = arrange();
  const settlement = watch(call().submit(AbortSignal.abort('enough')));
  await reactions();
  expect(settlement).toEqual({ outcome: 'rejected', value: 'enough' });
  expect(path.routed).toEqual([]);
  path.expectClean();
});

test('[CALL-002] [C12] an abort after the submission ends the waiting, tells the other side and drops the late reply', async () => {
  const { path, link, call } = arrange();
  const controller = new AbortController();
  const settlement = watch(call().submit(controller.signal));
  const { correlation } = link.records[0] ?? { correlation: 0 };
  controller.abort('enough');
  await reactions();
  expect(settlement).toEqual({ outcome: 'rejected', value: 'enough' });
  expect(link.abandoned).toEqual([{ correlation, notify: true }]);
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  path.expectClean();
  link.reply('{"receipt":"late"}', 'application/json', correlation);
  expect(link.unmatched).toBe(1);
});

test.each(['target', 'credit'] as const)('[CALL-002] an abort ends a request that waits for %s', async (what) => {
  const { path, link, call } = arrange();
  if (what === 'target') path.hasTarget = false;
  else link.credit = 'none';
  const controller = new AbortController();
  const settlement = watch(call().submit(controller.signal));
  controller.abort('enough');
  await reactions();
  expect(settlement).toEqual({ outcome: 'rejected', value: 'enough' });
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  expect(link.abandoned).toEqual([]);
  path.expectClean();
  if (what === 'target') path.offerTarget();
  else link.admit();
  expect(link.written).toEqual([]);
});

test('[C12] an abort after the reply changes nothing and finds no listener', async () => {
  const { path, link, call } = arrange();
  const controller = new AbortController();
  const settlement = watch(call().submit(controller.signal));
  link.reply('1');
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  controller.abort('enough');
  await reactions();
  expect(settlement).toEqual({ outcome: 'resolved', value: 1 });
  expect(link.abandoned).toEqual([]);
  path.expectClean();
});

test.each(['written', 'waiting'] as const)(
  '[CALL-002] a signal that is aborted while the request is encoded ends it, %s or not',
  async (fate) => {
    const { path, link } = arrange();
    const controller = new AbortController();
    const value = { orderId: '7', toJSON: () => (controller.abort('enough'), 1) };
    const build = () => new RequestBuilder<unknown>(path, resolveOutbound(Charge(value)));
    if (fate === 'waiting') {
      link.credit = 'none';
      const submit = link.submit.bind(link);
      link.submit = (record) => {
        record.encode({ writeText: () => undefined, writeBytes: () => undefined }); // finds that credit is missing
        return submit(record);
      };
    }
    const settlement = watch(build().submit(controller.signal));
    await reactions();
    expect(settlement).toEqual({ outcome: 'rejected', value: 'enough' });
    expect(link.abandoned).toHaveLength(fate === 'written' ? 1 : 0);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
    path.expectClean();
  },
);

test.each([
  [0, NaN],
  [-1, 1.5],
  [longestMs + 1, Infinity],
  ['5', undefined],
])('[CALL-003] a timeout of %p or %p is refused at once', (...values) => {
  const { path, call } = arrange();
  for (const value of values) {
    const error = thrownBy(() => call().timeoutMs(value as number));
    expect(error.kind).toBe('InvalidOperation');
    expect(error.message).toContain('allowed: integer 1..2147483647');
  }
  expect(path.routed).toEqual([]);
});

test.each([1, 17, 30_000, longestMs])(
  '[CALL-003] a request of %d ms ends then, with the fact that it had left',
  async (ms) => {
    const { path, link, call } = arrange();
    const settlement = watch(call().timeoutMs(ms).submit());
    expect(link.records[0]?.deadlineAtMs).toBe(path.clock.nowMs() + ms);
    path.clock.advance(ms - 1);
    await reactions();
    expect(settlement.outcome).toBe('pending');
    path.clock.advance(1 + 16);
    await reactions();
    expect(settlement.value).toMatchObject({ kind: 'DeadlineExceeded', submitted: true });
    expect((settlement.value as Error).message).toBe(
      `[DeadlineExceeded] "billing.charge" to channel "billing" had no reply within ${ms} ms`,
    );
    expect(link.abandoned).toEqual([{ correlation: 1, notify: false }]); // the other side has the same deadline
    path.expectClean();
  },
);

test('[CALL-003] without an own timeout the request timeout of the path counts', async () => {
  const { path, call } = arrange();
  const settlement = watch(call().submit());
  path.clock.advance(29_999);
  await reactions();
  expect(settlement.outcome).toBe('pending');
  path.clock.advance(1 + 16);
  await reactions();
  expect(settlement.value).toMatchObject({ kind: 'DeadlineExceeded' });
});

test('[CALL-003] the request timeout runs from submit, whatever of it was spent on waiting', async () => {
  const { path, link, call } = arrange();
  path.hasTarget = false;
  link.credit = 'none';
  const settlement = watch(call().timeoutMs(6_000).submit());
  path.clock.advance(4_500);
  path.offerTarget();
  path.clock.advance(900);
  link.admit();
  path.clock.advance(599);
  await reactions();
  expect(settlement.outcome).toBe('pending');
  path.clock.advance(1 + 16);
  await reactions();
  expect(settlement.value).toMatchObject({ kind: 'DeadlineExceeded', submitted: true });
  expect((settlement.value as Error).message).toContain('within 6000 ms');
  path.expectClean();
});

test.each([
  { timeoutMs: 30_000, endsAfterMs: 1_000 },
  { timeoutMs: 400, endsAfterMs: 400 },
])('[CALL-003] credit that does not come ends a request of $timeoutMs ms after $endsAfterMs ms', async (times) => {
  const { path, link, call } = arrange();
  link.credit = 'none';
  const settlement = watch(call().timeoutMs(times.timeoutMs).submit());
  path.clock.advance(times.endsAfterMs - 1);
  await reactions();
  expect(settlement.outcome).toBe('pending');
  path.clock.advance(1 + 16);
  await reactions();
  expect(settlement.value).toMatchObject({ kind: 'DeadlineExceeded', submitted: false });
  expect((settlement.value as Error).message).toContain(`did not accept the request within ${times.endsAfterMs} ms`);
  path.expectClean();
  expect(link.written).toEqual([]);
});

test.each([
  { timeoutMs: 30_000, endsAfterMs: 5_000 },
  { timeoutMs: 200, endsAfterMs: 200 },
])(
  '[CALL-005] [CHAN-003] a request of $timeoutMs ms without target ends NotFound after $endsAfterMs ms',
  async (times) => {
    const { path, call } = arrange();
    path.hasTarget = false;
    const settlement = watch(call().timeoutMs(times.timeoutMs).submit());
    path.clock.advance(times.endsAfterMs - 1);
    await reactions();
    expect(settlement.outcome).toBe('pending');
    path.clock.advance(1 + 16);
    await reactions();
    expect(settlement.value).toMatchObject({ kind: 'NotFound', submitted: false });
    expect((settlement.value as Error).message).toBe(
      `[NotFound] channel "billing" had no ready server for ${times.endsAfterMs} ms`,
    );
    path.expectClean();
  },
);

test('[CALL-003] ten thousand requests keep one timer', async () => {
  const { path, link, call } = arrange();
  const settlements = Array.from({ length: 10_000 }, (_, i) =>
    watch(
      call()
        .timeoutMs(1_000 + (i % 997))
        .submit(),
    ),
  );
  expect(path.clock.pendingTimers).toBe(1);
  expect(path.wheel.size).toBe(10_000);
  for (let i = 0; i < 5_000; i++) link.reply(`${i}`);
  expect(path.clock.pendingTimers).toBe(1);
  path.clock.advance(2_100);
  await reactions();
  expect(settlements.filter(({ outcome }) => outcome === 'resolved')).toHaveLength(5_000);
  expect(settlements.filter(({ value }) => isZLinkError(value) && value.kind === 'DeadlineExceeded')).toHaveLength(
    5_000,
  );
  path.expectClean();
});

test.each(ERROR_KINDS)(
  '[CALL-005] an error reply of kind %s is the result, and tells that the request had left',
  async (kind) => {
    const { path, link, call } = arrange();
    const settlement = watch(call().submit());
    link.error(kind, 'order 7 is closed');
    await reactions();
    expect(isZLinkError(settlement.value)).toBe(true);
    expect(settlement.value).toMatchObject({ kind, submitted: true, message: `[${kind}] order 7 is closed` });
    expect((settlement.value as Error).cause).toBeUndefined();
    path.expectClean();
  },
);

test.each(ERROR_KINDS)('[CALL-005] a refusal of kind %s before the submission is passed on as it is', async (kind) => {
  const { path, link, call } = arrange();
  const error = new ZLinkError(kind, 'no');
  path.refusal = error;
  expect(await rejection(call().submit())).toBe(error);
  path.refusal = undefined;
  link.credit = error;
  expect(await rejection(call().submit())).toBe(error);
  link.credit = 'none';
  const waiting = call().submit();
  link.refuse(error);
  expect(await rejection(waiting)).toBe(error);
  path.hasTarget = false;
  link.credit = error;
  const afterWait = call().submit();
  path.offerTarget();
  expect(await rejection(afterWait)).toBe(error);
  path.expectClean();
});

test('[CALL-005] [C09] a link that ends under a request ends it Unavailable, as one that had left', async () => {
  const { path, link, call } = arrange();
  const settlement = watch(call().submit());
  link.break();
  await reactions();
  expect(settlement.value).toMatchObject({ kind: 'Unavailable', submitted: true });
  path.expectClean();
});

test('[CALL-005] [C01] without a path a request is rejected with the reason when it is submitted', async () => {
  const reason = new ZLinkError('NotFound', 'channel "ghost" is not registered in this process');
  expect(await rejection(new RequestBuilder(reason, order()).timeoutMs(5).submit())).toBe(reason);
});

test('[ERR-004] an error reply without text, with control characters or of an unknown kind stays one bounded line', async () => {
  const { link, call } = arrange();
  const ends = [undefined, 'NotFound', 'NotFound', 'NotFound'] as const;
  const texts = ['anything', '', 'two\nlines \u001b[31m', 'x'.repeat(70_000)];
  const errors: Error[] = [];
  for (const [i, kind] of ends.entries()) {
    const pending = call().submit();
    link.error(kind, texts[i] ?? '');
    errors.push(await rejection(pending));
  }
  expect(errors[0]?.message).toBe('[ProtocolError] error reply to "billing.charge" has an unknown kind');
  expect(errors[1]?.message).toBe('[NotFound] "billing.charge" failed');
  expect(errors[2]?.message).toBe('[NotFound] two lines  [31m');
  expect(errors[3]?.message).toHaveLength('[NotFound] '.length + 1_024);
});

test.each(['application/JSON', ' application/json', 'application/json; charset=utf-8', 'text/x-note', ''])(
  '[CODEC-003] a reply of content type %p is never read as JSON',
  async (contentType) => {
    const { path, link, call } = arrange();
    const pending = call().submit();
    link.reply('{"receipt":"r-7"}', contentType);
    const error = await rejection(pending);
    expect(error).toMatchObject({ kind: 'ProtocolError', submitted: true });
    expect(error.message).toContain('content type');
    path.expectClean();
  },
);

const brittle: Codec = {
  contentType: 'text/x-brittle',
  matches: (type) => type === Charge,
  encode: () => Uint8Array.of(1),
  decode: () => {
    throw new RangeError('out of range');
  },
};

test('[ERR-004] whatever a codec throws at a reply, the caller gets a ProtocolError with it as cause', async () => {
  const { path, link, call } = arrange([brittle]);
  const pending = call().submit();
  expect(link.records[0]?.name?.contentType).toBe('text/x-brittle');
  link.reply('x', 'text/x-brittle');
  const error = await rejection(pending);
  expect(error).toMatchObject({ kind: 'ProtocolError', submitted: true });
  expect(error.message).toBe('[ProtocolError] reply to "billing.charge" could not be decoded');
  expect(error.cause).toBeInstanceOf(RangeError);
  const json = call().submit();
  link.reply('{"receipt":');
  expect(await rejection(json)).toMatchObject({ kind: 'ProtocolError', submitted: true });
  path.expectClean();
});

test('[MSG-004] the schema of a reply checks it and may change it', async () => {
  const upper: StandardSchemaV1<unknown, string> = {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: (value) =>
        typeof value === 'string' ? { value: value.toUpperCase() } : { issues: [{ message: 'no text' }] },
    },
  };
  const Say = request<string, string>('say', { reply: { schema: upper } });
  const { path, link } = arrange();
  const good = new RequestBuilder<string>(path, resolveOutbound(Say('a'))).submit();
  link.reply('"yes"');
  await expect(good).resolves.toBe('YES');
  const bad = new RequestBuilder<string>(path, resolveOutbound(Say('a'))).submit();
  link.reply('5');
  const error = await rejection(bad);
  expect(error).toMatchObject({ kind: 'ProtocolError', submitted: true });
  expect((error.cause as Error).message).toBe(thrownBy(() => validateInbound(upper, 5, 'say')).message);
  path.expectClean();
});

test('[C12] a request never has more time than the handler that passed its signal on', async () => {
  const { path, link, call } = arrange();
  const controller = new AbortController();
  const endsAtMs = path.clock.nowMs() + 300;
  const { signal } = controller;
  setDeadline(signal, endsAtMs);
  const settlement = watch(call().submit(signal));
  const more = watch(call().timeoutMs(200).submit(signal));
  expect(path.routed.map((record) => record.belongsToHandler)).toEqual([true, true]);
  expect(link.records.map((record) => record.deadlineAtMs)).toEqual([endsAtMs, endsAtMs - 100]);
  path.clock.advance(300 + 16);
  await reactions();
  expect(settlement.value).toMatchObject({ kind: 'DeadlineExceeded' });
  expect((settlement.value as Error).message).toContain('within 300 ms');
  expect(more.value).toMatchObject({ kind: 'DeadlineExceeded' });
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  path.expectClean();
});

test('[C12] a request of a handler whose time is over is not sent, though its signal has not fired yet', async () => {
  const { path, link, call } = arrange();
  const { signal } = new AbortController();
  setDeadline(signal, path.clock.nowMs() + 300);
  path.clock.stall(300);
  expect(await rejection(call().submit(signal))).toMatchObject({ kind: 'DeadlineExceeded', submitted: false });
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  expect(path.routed).toEqual([]);
  expect(link.written).toEqual([]);
  path.expectClean();
});

test('[CALL-006] calls have the methods of their operation and no other, and no synchronous variant', () => {
  const { path, call } = arrange();
  const own = (object: object) =>
    Object.getOwnPropertyNames(Object.getPrototypeOf(object)).filter((name) => name !== 'constructor');
  expect(own(call()).sort()).toEqual(['flow', 'metadata', 'submit', 'timeoutMs', 'yield']);
  expect(own(new SendBuilder(path, order())).sort()).toEqual(['flow', 'metadata', 'submit']);
  expect(
    call()
      .submit(AbortSignal.abort('x'))
      .catch(() => undefined),
  ).toBeInstanceOf(Promise);
});

test('[CALL-001] yield outside of a Spot turn is an InvalidOperation', async () => {
  const { path, call } = arrange();
  expect((await rejection(call().yield())).kind).toBe('InvalidOperation');
  expect(path.routed).toEqual([]);
});
