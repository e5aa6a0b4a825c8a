import { getEventListeners } from 'node:events';
import { SendBuilder } from '../../src/call/index.ts';
import { ConfigurationError, ZLinkError } from '../../src/errors/index.ts';
import { setDeadline } from '../../src/internal/time/index.ts';
import { message, metadata, resolveOutbound, type StandardSchemaV1 } from '../../src/message/index.ts';
import { thrownBy } from '../thrown.ts';
import { ERROR_KINDS, FakePath } from './fake-path.ts';
import { reactions, rejection, watch } from './settlement.ts';

const Notice = message<{ text: string }>('system.notice');
const hello = () => resolveOutbound(Notice({ text: 'hello' }));

function arrange() {
  const path = new FakePath();
  return { path, link: path.link, send: () => new SendBuilder(path, hello()) };
}

test('[MSG-006] a send completes with no value as soon as the queue of its route has accepted it', async () => {
  const { path, link, send } = arrange();
  await expect(send().submit()).resolves.toBeUndefined();
  expect(link.written).toEqual(['{"text":"hello"}']);
  expect(link.records[0]?.name).toMatchObject({ contentType: 'application/json', packetName: 'system.notice' });
  path.expectClean();
});

test('[CALL-001] a send that is accepted at once is an already resolved promise and leaves nothing behind', async () => {
  const { path, send } = arrange();
  const controller = new AbortController();
  const settlement = watch(send().submit(controller.signal));
  await Promise.resolve();
  expect(settlement).toEqual({ outcome: 'resolved', value: undefined });
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  path.expectClean();
});

test('[CALL-001] a send is submitted once, and nothing of it can be set afterwards', async () => {
  const { link, send } = arrange();
  const call = send();
  await call.submit();
  const again = await rejection(call.submit());
  expect(again).toMatchObject({ kind: 'InvalidOperation', submitted: false });
  expect(again.message).toBe('[InvalidOperation] call of "system.notice" was already submitted');
  expect(thrownBy(() => call.metadata('a', 'b')).kind).toBe('InvalidOperation');
  expect(thrownBy(() => call.metadata(metadata({ a: 'b' }))).kind).toBe('InvalidOperation');
  expect(link.written).toHaveLength(1);
});

test.each([undefined, null, 'enough', 7, new Error('enough'), Object.freeze({ why: 'enough' })])(
  '[CALL-002] a send with an aborted signal rejects with its reason %p and is not routed',
  async (reason) => {
    const { path, link, send } = arrange();
    const signal = AbortSignal.abort(reason);
    const settlement = watch(send().submit(signal));
    await reactions();
    expect(settlement.outcome).toBe('rejected');
    expect(settlement.value).toBe(signal.reason);
    expect(path.routed).toEqual([]);
    expect(link.written).toEqual([]);
  },
);

test('[CALL-002] an abort takes a send back that waits for credit, and leaves no listener', async () => {
  const { path, link, send } = arrange();
  link.credit = 'none';
  const controller = new AbortController();
  const settlement = watch(send().submit(controller.signal));
  await reactions();
  expect(settlement.outcome).toBe('pending');
  controller.abort('enough');
  await reactions();
  expect(settlement).toEqual({ outcome: 'rejected', value: 'enough' });
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  path.expectClean();
  link.admit();
  expect(link.written).toEqual([]);
});

test('[CALL-002] an abort takes a send back that waits for a target', async () => {
  const { path, link, send } = arrange();
  path.hasTarget = false;
  const controller = new AbortController();
  const settlement = watch(send().submit(controller.signal));
  controller.abort('enough');
  await reactions();
  expect(settlement).toEqual({ outcome: 'rejected', value: 'enough' });
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  path.expectClean();
  path.offerTarget();
  expect(link.written).toEqual([]);
});

test('[CALL-002] a signal that is aborted while the message is encoded ends a send that then has to wait', async () => {
  const { path, link } = arrange();
  const controller = new AbortController();
  const value = { text: 'late', toJSON: () => (controller.abort('enough'), 'late') };
  link.submit = (record) => {
    record.encode({ writeText: () => undefined, writeBytes: () => undefined }); // the first try finds no credit
    link.waiting.add(record);
    return false;
  };
  const settlement = watch(new SendBuilder(path, resolveOutbound(Notice(value))).submit(controller.signal));
  await reactions();
  expect(settlement).toEqual({ outcome: 'rejected', value: 'enough' });
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  path.expectClean();
});

test('[CALL-001] a send that had to wait resolves when credit comes', async () => {
  const { path, link, send } = arrange();
  link.credit = 'none';
  const controller = new AbortController();
  const settlement = watch(send().submit(controller.signal));
  link.admit();
  await reactions();
  expect(settlement).toEqual({ outcome: 'resolved', value: undefined });
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  path.expectClean();
});

test('[CALL-003] a send that is not accepted within the send timeout ends DeadlineExceeded, not before', async () => {
  const { path, link, send } = arrange();
  link.credit = 'none';
  const settlement = watch(send().submit());
  path.clock.advance(999);
  await reactions();
  expect(settlement.outcome).toBe('pending');
  path.clock.advance(1 + 16);
  await reactions();
  expect(settlement.value).toMatchObject({ kind: 'DeadlineExceeded', submitted: false });
  expect((settlement.value as Error).message).toBe(
    '[DeadlineExceeded] channel "billing" did not accept the message within 1000 ms',
  );
  path.expectClean();
});

test('[CALL-003] [CHAN-003] the send timeout starts only when a target is there', async () => {
  const { path, link, send } = arrange();
  path.hasTarget = false;
  link.credit = 'none';
  const settlement = watch(send().submit());
  path.clock.advance(4_000);
  path.offerTarget();
  path.clock.advance(999);
  await reactions();
  expect(settlement.outcome).toBe('pending');
  path.clock.advance(1 + 16);
  await reactions();
  expect(settlement.value).toMatchObject({ kind: 'DeadlineExceeded' });
  path.expectClean();
});

test('[CALL-005] a send that finds no target within the limit of its path ends NotFound', async () => {
  const { path, send } = arrange();
  path.hasTarget = false;
  const settlement = watch(send().submit());
  path.clock.advance(4_999);
  await reactions();
  expect(settlement.outcome).toBe('pending');
  path.clock.advance(1 + 16);
  await reactions();
  expect(settlement.value).toMatchObject({ kind: 'NotFound', submitted: false });
  expect((settlement.value as Error).message).toBe('[NotFound] channel "billing" had no ready server for 5000 ms');
  path.expectClean();
});

test('[CALL-005] the path says why there was no target, asked when the wait is over and not before', async () => {
  const { path, send } = arrange();
  path.hasTarget = false;
  const error = new ZLinkError('Unavailable', 'node "b" is not ready');
  const asked: [waitedMs: number, atMs: number][] = [];
  path.noTarget = (waitedMs) => (asked.push([waitedMs, path.clock.nowMs()]), error);
  const { signal } = new AbortController();
  setDeadline(signal, path.clock.nowMs() + 300);
  const beganAtMs = path.clock.nowMs();
  const settlements = [watch(send().submit()), watch(send().submit(signal))];
  path.clock.advance(4_999);
  await reactions();
  expect(asked.map(([waitedMs]) => waitedMs)).toEqual([300]); // the handler's own time was over first (C12)
  path.clock.advance(1 + 16);
  await reactions();
  expect(settlements.map(({ value }) => value)).toEqual([error, error]);
  expect(asked[1]?.[0]).toBe(5_000);
  expect(asked[1]?.[1]).toBeGreaterThanOrEqual(beganAtMs + 5_000);
  path.expectClean();
});

test.each(ERROR_KINDS)('[CALL-005] a send keeps the kind %s of whatever refused it', async (kind) => {
  const error = new ZLinkError(kind, 'no');
  const { path, link, send } = arrange();
  path.refusal = error;
  expect(await rejection(send().submit())).toBe(error);
  path.refusal = undefined;
  link.credit = error;
  expect(await rejection(send().submit())).toBe(error);
  link.credit = 'none';
  const waiting = send().submit();
  link.refuse(error);
  expect(await rejection(waiting)).toBe(error);
  path.hasTarget = false;
  link.credit = error;
  const afterWait = send().submit();
  path.offerTarget();
  expect(await rejection(afterWait)).toBe(error);
  path.expectClean();
});

test('[CALL-005] [C01] without a path a send is rejected with the reason, and only when it is submitted', async () => {
  const reason = new ZLinkError('NotFound', 'channel "ghost" is not registered in this process');
  const call = new SendBuilder(reason, hello()).metadata('a', 'b');
  expect(await rejection(call.submit())).toBe(reason);
  expect((await rejection(call.submit())).kind).toBe('InvalidOperation');
});

test('[CALL-005] [ERR-005] what cannot be encoded or does not fit its schema is rejected here and never sent', async () => {
  const { path, link } = arrange();
  const cyclic: { self?: unknown } = {};
  cyclic.self = cyclic;
  const Loose = message<unknown>('loose');
  for (const value of [cyclic, { n: Infinity }, new Proxy({}, { ownKeys: () => ['a', 'a'] })]) {
    const error = await rejection(new SendBuilder(path, resolveOutbound(Loose(value))).submit());
    expect(error).toMatchObject({ kind: 'InvalidOperation', submitted: false });
  }
  const never: StandardSchemaV1<unknown, string> = {
    '~standard': { version: 1, vendor: 'test', validate: () => ({ issues: [{ message: 'no text' }] }) },
  };
  const Strict = message<string>('strict', { schema: never });
  const misfit = await rejection(new SendBuilder(path, resolveOutbound(Strict('x'))).submit());
  expect(misfit).toMatchObject({ kind: 'InvalidOperation' });
  expect(misfit.message).toContain('no text');
  expect(path.routed).toHaveLength(3); // the misfit was not even routed
  expect(link.written).toEqual([]);
  path.expectClean();
});

test('[ERR-005] a ConfigurationError of a path is not dressed up as another error', async () => {
  const path = new FakePath();
  const mistake = new ConfigurationError(['weight: -1 is not allowed']);
  path.route = () => {
    throw mistake;
  };
  const settlement = watch(new SendBuilder(path, hello()).submit());
  await reactions();
  expect(settlement.value).toBe(mistake);
});

test('[CALL-005] an encoding that fails when credit has come refuses the waiting send only', async () => {
  const { path, link } = arrange();
  let broken = false;
  const value = {
    text: 'x',
    toJSON(): string {
      if (broken) throw new RangeError('too late');
      return 'x';
    },
  };
  link.credit = 'none';
  const first = watch(new SendBuilder(path, resolveOutbound(Notice(value))).submit());
  const second = watch(new SendBuilder(path, hello()).submit());
  broken = true;
  link.admit();
  await reactions();
  expect(first.value).toMatchObject({ kind: 'InvalidOperation', submitted: false });
  expect((first.value as Error).message).not.toContain('too late'); // the reason is the cause
  expect(second.outcome).toBe('resolved');
  expect(link.written).toEqual(['{"text":"hello"}']);
  path.expectClean();
});

test('[MSG-010] the last value of a key wins, set singly or as a whole, and 1,024 bytes are the limit', async () => {
  const { path, link, send } = arrange();
  await send()
    .metadata('a', '1')
    .metadata(metadata({ a: '2', b: '3' }))
    .metadata('b', '4')
    .submit();
  expect(text(link.records[0]?.metadata)).toBe('\u0001a\u00012\u0001b\u00014');
  const full = 'v'.repeat(1_024 - 1 - 1 - 2);
  await send().metadata('k', full).submit();
  expect(link.records[1]?.metadata).toHaveLength(1_024);
  const tooMuch = await rejection(send().metadata('k', `${full}v`).submit());
  expect(tooMuch.message).toBe('[InvalidOperation] metadata takes 1025 bytes, allowed: 1024');
  expect(thrownBy(() => send().metadata('a\0', 'b')).kind).toBe('InvalidOperation');
  expect(thrownBy(() => send().metadata('a', undefined as unknown as string)).kind).toBe('InvalidOperation');
  expect(thrownBy(() => send().metadata(null as unknown as string, 'b')).kind).toBe('InvalidOperation');
  expect(thrownBy(() => send().metadata({} as unknown as string, 'b')).kind).toBe('InvalidOperation');
  expect(path.routed).toHaveLength(2);
});

test('[C12] a send that waits never waits longer than the handler that passed its signal on', async () => {
  const { path, link, send } = arrange();
  link.credit = 'none';
  const { signal } = new AbortController();
  setDeadline(signal, path.clock.nowMs() + 300);
  const settlement = watch(send().submit(signal));
  expect(path.routed[0]?.belongsToHandler).toBe(true);
  path.clock.advance(300 + 16);
  await reactions();
  expect(settlement.value).toMatchObject({ kind: 'DeadlineExceeded' });
  expect((settlement.value as Error).message).toContain('did not accept the message within 300 ms');
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  path.expectClean();
});

function text(bytes: Uint8Array | undefined): string {
  return new TextDecoder().decode(bytes);
}
