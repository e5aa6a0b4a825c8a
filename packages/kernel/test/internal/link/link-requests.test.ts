/** Requests and replies on one link, and its orderly end while they are open. */
import type { OutboundRequest } from '../../../src/internal/transport/index.ts';
import { type OutboundName, PENDING_LIMIT } from '../../../src/internal/wire/index.ts';
import { GoodbyePhase, RecordKind } from '../../../src/internal/wire/record.ts';
import { thrownBy } from '../../thrown.ts';
import { leftovers, pass, settle } from './link-side.ts';
import { creditMessage, finish, introduction, join, recordsIn, say, shapes } from './raw-peer.ts';
import { NAME, TestRecord } from './test-record.ts';

test.each(shapes)(
  '[CORE-010] a request that will have no reply does not keep a finished link open ($title)',
  async (shape) => {
    const pair = join(shape);
    const request = TestRecord.request().submit(pair.near.link);
    pair.far.onDelivered = () => pair.far.link.forgo();
    await settle(pair);
    pair.far.link.finish();
    await pass(pair, 100);
    expect([request.journal, request.error?.kind, request.error?.submitted]).toEqual([['failed'], 'Unavailable', true]);
    expect([pair.near.closed, pair.far.closed]).toEqual([['closed'], ['closed']]);
    expect(leftovers(pair)).toEqual([]);
  },
);

test.each(shapes)(
  '[CORE-011] each side says goodbye in both phases, and its last word leaves ($title)',
  async (shape) => {
    const pair = join(shape);
    pair.far.onDelivered = (record) => pair.far.reply(record);
    TestRecord.request().submit(pair.near.link);
    await settle(pair);
    pair.near.link.finish();
    await settle(pair);
    for (const side of [pair.near, pair.far]) {
      const goodbyes = recordsIn(side.pipe.sent).filter(({ kind }) => kind === RecordKind.goodbye);
      expect(goodbyes.map(({ aux }) => aux)).toEqual([GoodbyePhase.finishing, GoodbyePhase.finished]);
    }
    expect([pair.near.closed, pair.far.closed]).toEqual([['closed'], ['closed']]);
  },
);

test('[CORE-015] a reply behind a record that got the last permit waits until the flow is RUNNING again', async () => {
  const pair = join({ near: { permits: { max: 1, pauseThresholdPercent: 100, resumeThresholdPercent: 0 } } });
  pair.near.holding = true;
  const request = TestRecord.request().submit(pair.near.link);
  await settle(pair);
  const [asked] = pair.far.received;
  if (asked === undefined) throw new Error('the request has not arrived');
  for (let at = 0; at < 2; at++) TestRecord.send().submit(pair.far.link);
  pair.far.reply(asked);
  await settle(pair);
  pair.near.letGoOne(); // the second record gets the permit of the first: the flow was never RUNNING
  await settle(pair);
  expect([pair.near.received.length, pair.near.permits.flow, request.journal]).toEqual([2, 'PAUSED', []]);
  pair.near.letGoOne();
  expect([pair.near.permits.flow, request.journal]).toEqual(['RUNNING', ['replied']]);
  await finish(pair);
});

test('[WIRE-005] a reply that nobody waits for is reported once, whoever it is for, and the link stays', async () => {
  for (const shape of shapes) {
    const pair = join(shape);
    say(
      pair,
      introduction,
      { kind: RecordKind.reply, nameId: 1, correlation: 77 },
      { kind: RecordKind.error, correlation: 0 },
    );
    await settle(pair);
    expect([pair.far.unmatched, pair.far.link.phase]).toEqual([[77, 0], 'open']);
    await finish(pair);
  }
});

test('[WIRE-005] abandoning a request that never got an id takes no other one with it', async () => {
  const pair = join();
  const first = TestRecord.request().submit(pair.near.link);
  const foreign = TestRecord.request({ correlation: first.correlation });
  pair.near.link.abandon(foreign, true);
  expect(pair.near.link.pendingRequests).toBe(1);
  pair.far.onDelivered = (record) => pair.far.reply(record);
  await settle(pair);
  expect([first.journal, pair.far.canceled]).toEqual([['replied'], []]);
});

/** A request as small as can be: a million of them is what the next test needs. */
class SmallRequest implements OutboundRequest {
  correlation = 0;
  costBytes = 0;
  static failed = 0;

  get kind(): RecordKind {
    return RecordKind.request;
  }

  get name(): OutboundName {
    return NAME;
  }

  get errorNumber(): number {
    return 0;
  }

  get deadlineAtMs(): number {
    return 0;
  }

  get metadata(): undefined {
    return undefined;
  }

  get trace(): undefined {
    return undefined;
  }

  encode(): void {}
  onAdmitted(): void {}
  onRefused(): void {}
  onReply(): void {}

  onFailed(): void {
    SmallRequest.failed++;
  }
}

test('[WIRE-005] [C09] a full table of pending requests refuses the next one, and all of it fails with its link', async () => {
  const pair = join();
  pair.near.pipe.send = () => undefined;
  pair.near.link.onPipeMessage([creditMessage(0, 0xffff_ffff)], 0);
  for (let at = 0; at < PENDING_LIMIT; at++) pair.near.link.submit(new SmallRequest());
  expect(pair.near.link.pendingRequests).toBe(PENDING_LIMIT);
  const oneMore = TestRecord.request();
  expect(thrownBy(() => oneMore.submit(pair.near.link))).toMatchObject({ kind: 'CapacityExceeded', submitted: false });
  expect(TestRecord.send().submit(pair.near.link).isWritten).toBe(true);
  SmallRequest.failed = 0;
  pair.near.link.fail('the test says so');
  await settle(pair);
  expect([SmallRequest.failed, pair.near.link.pendingRequests, oneMore.journal]).toEqual([PENDING_LIMIT, 0, []]);
});

test('[WIRE-006] the time that is left travels rounded up, and is at least 1 ms', async () => {
  const pair = join();
  const now = pair.clock.nowMs();
  for (const deadlineAtMs of [0, now + 250.2, now, now - 5, now + 2 ** 40]) {
    TestRecord.request({ deadlineAtMs }).submit(pair.near.link);
  }
  await settle(pair);
  expect(pair.far.received.map(({ remainingMs }) => remainingMs)).toEqual([0, 251, 1, 1, 0xffff_ffff]);
});

test.each(shapes)(
  '[C12] a cancel never arrives before its request, which may wait for a permit ($title)',
  async (shape) => {
    const pair = join({ ...shape, far: { permits: { max: 1 } } });
    pair.far.holding = true;
    const requests = Array.from({ length: 3 }, () => TestRecord.request().submit(pair.near.link));
    for (const request of requests) request.abandon(pair.near.link, true); // in the turn of their submission
    const seen: string[] = [];
    pair.far.beforeCallback = (what) => seen.push(what);
    await settle(pair);
    expect(seen).toEqual(['record', 'cancel']);
    while (pair.far.letGoOne()) await settle(pair);
    expect(seen).toEqual(['record', 'cancel', 'record', 'cancel', 'record', 'cancel']);
    expect(pair.far.canceled).toEqual(requests.map((request) => request.correlation));
  },
);

test('[WIRE-006] the time that a request waits for a permit is taken off the time it has left', async () => {
  const pair = join({ far: { permits: { max: 1 } } });
  pair.far.holding = true;
  const now = pair.clock.nowMs();
  for (const leftMs of [1_000, 1_000, 300, 0]) {
    TestRecord.request({ deadlineAtMs: leftMs === 0 ? 0 : now + leftMs }).submit(pair.near.link);
  }
  await settle(pair);
  pair.clock.advance(400);
  pair.far.letGo();
  await settle(pair);
  const left = pair.far.received.map(({ remainingMs }) => remainingMs);
  expect([left[0], left[1], left[3]]).toEqual([1_000, 600, 0]); // 0: no limit
  expect(left[2]).toBeLessThan(0); // over already
});

test('[CODEC-007] what code of the application does while its message is encoded does not end up in the middle of it', async () => {
  const pair = join();
  const other = TestRecord.request().submit(pair.near.link);
  const outer = TestRecord.request({ payload: Buffer.from('outer') });
  const encode = outer.encode.bind(outer);
  outer.encode = (sink) => {
    sink.writeText('head ');
    const nested = thrownBy(() => TestRecord.send({ payload: Buffer.from('nested') }).submit(pair.near.link));
    expect(nested.kind).toBe('InvalidOperation');
    other.abandon(pair.near.link, true);
    encode(sink);
  };
  outer.submit(pair.near.link);
  TestRecord.send({ payload: Buffer.from('next') }).submit(pair.near.link);
  await settle(pair);
  expect(pair.far.received.map(({ payload }) => Buffer.from(payload).toString())).toEqual(['', 'head outer', 'next']);
  expect([pair.far.link.phase, pair.near.link.pendingRequests]).toEqual(['open', 1]);
});

test('[SEC-003] an error about a link shows neither payload nor key', async () => {
  const pair = join();
  const secret = Buffer.from('the secret');
  const request = TestRecord.request({ payload: secret }).submit(pair.near.link);
  pair.near.pipe.break();
  await settle(pair);
  expect(request.error?.message).toMatch(/^\[Unavailable\] link to "billing" at tcp:\/\/far:1 ended: connection lost$/);
});
