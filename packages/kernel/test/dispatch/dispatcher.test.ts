import { loopTurns, ManualClock } from '@zlink/testing';
import { CodecRegistry } from '../../src/codec/index.ts';
import type { DispatcherParts } from '../../src/dispatch/dispatcher-options.ts';
import {
  type ChannelContext,
  channelSurface,
  Dispatcher,
  HandlerRegistry,
  LastHandler,
  requireServices,
  type ServiceScope,
} from '../../src/dispatch/index.ts';
import { jobsPerTurn } from '../../src/dispatch/turn-budget.ts';
import { Problems } from '../../src/errors/index.ts';
import { JobPermits } from '../../src/internal/execution/index.ts';
import { DeadlineWheel } from '../../src/internal/time/index.ts';
import { MessageFlow, RateLimitedLog } from '../../src/observe/index.ts';
import { NameIndex } from '../../src/internal/wire/index.ts';
import { message, metadata, request, type StandardSchemaV1, ZLinkMessage } from '../../src/message/index.ts';
import { FakeLink, inboundRecord } from './fake-link.ts';
import { expectNothingHeld, gate, type Gate, Harness } from './harness.ts';

const Charge = request<{ amount: number }, { receipt: string }>('billing.charge');
const Notice = message<{ text: string }>('billing.notice');

const positive: StandardSchemaV1<unknown, { amount: number }> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value) =>
      (value as { amount: number }).amount > 0 ? { value } : { issues: [{ message: 'is not positive' }] },
  },
};

test('[DISP-001] a function answers with what it returns', () => {
  const harness = new Harness((handlers) => handlers.addRequest(Charge, ({ amount }) => ({ receipt: `r-${amount}` })));
  const correlation = harness.request(Charge, { amount: 3 });
  expect(harness.link.answers).toEqual([
    {
      correlation,
      error: undefined,
      text: '{"receipt":"r-3"}',
      contentType: 'application/json',
      packetName: 'billing.charge',
    },
  ]);
  expect(harness.requests).toEqual({
    owner: 'billing',
    surface: 'channel',
    verb: 'request',
    accepted: 1,
    handled: 1,
    failed: 0,
    dropped: {},
    running: 0,
    queued: 0,
  });
  expectNothingHeld(harness);
});

test('[DISP-001] a promise is awaited, and a request whose handler returns nothing is answered with null', async () => {
  const held = gate();
  const harness = new Harness((handlers) => handlers.addRequest(Charge, (async () => held.promise) as never));
  harness.request(Charge, { amount: 3 });
  expect(harness.link.answers).toEqual([]);
  expect(harness.requests).toMatchObject({ accepted: 1, running: 1 });
  held.open();
  await loopTurns(1);
  expect(harness.link.answers).toMatchObject([{ error: undefined, text: 'null' }]);
  expectNothingHeld(harness);
});

test('[DISP-001] a class gets an instance per dispatch, also when handle is a field', async () => {
  const seen: unknown[] = [];
  class Counting {
    count = 0;
    handle(notice: { text: string }): void {
      seen.push([notice.text, ++this.count]);
    }
  }
  class WithField {
    readonly handle = async ({ amount }: { amount: number }) => ({ receipt: `f-${amount}` });
  }
  const harness = new Harness((handlers) => handlers.addSend(Notice, Counting).addRequest(Charge, WithField));
  harness.send(Notice, { text: 'a' });
  harness.send(Notice, { text: 'b' });
  harness.request(Charge, { amount: 1 });
  await loopTurns(1);
  expect(seen).toEqual([
    ['a', 1],
    ['b', 1],
  ]);
  expect(harness.link.answers).toMatchObject([{ text: '{"receipt":"f-1"}' }]);
  expectNothingHeld(harness);
});

test('[DISP-001] a function is called without this', () => {
  const seen: unknown[] = [];
  const harness = new Harness((handlers) =>
    handlers.addSend(Notice, function (this: unknown) {
      seen.push(this);
    }),
  );
  harness.send(Notice, { text: 'a' });
  expect(seen).toEqual([undefined]);
});

test('[DISP-002] two owners behind one link keep their handlers apart, though its names are the same objects', () => {
  const link = new FakeLink();
  const name = { scope: '', contentType: 'application/json', packetName: Notice.packetName, slot: undefined };
  const seen: string[] = [];
  const parts = loopParts();
  const [a, b] = ['a', 'b'].map((owner) => loopDispatcher(owner, parts, () => void seen.push(owner)));
  for (const dispatcher of [a, b, a]) {
    if (!parts.permits.tryAcquire()) throw new Error('no permit left');
    dispatcher?.accept(inboundRecord({ kind: 'send', name, payload: Buffer.from('{}') }), link);
  }
  expect(seen).toEqual(['a', 'b', 'a']);
});

test('[DISP-003] a Channel context holds the logical facts of its message and nothing else', () => {
  const contexts: ChannelContext[] = [];
  const harness = new Harness((handlers) =>
    handlers
      .addSend(Notice, (_, context) => void contexts.push(context))
      .addRequest(Charge, (_, context) => {
        contexts.push(context);
        return { receipt: '' };
      }),
  );
  harness.send(Notice, { text: 'a' }, { metadata: metadata({ tenant: '42' }) });
  const correlation = harness.request(Charge, { amount: 1 });
  const [ofSend, ofRequest] = contexts as [ChannelContext, ChannelContext];
  expect([ofSend.channelName, ofSend.kind, ofSend.packetName]).toEqual(['billing', 'send', 'billing.notice']);
  expect([ofSend.contentType, ofSend.correlationId, [...ofSend.metadata]]).toEqual([
    'application/json',
    undefined,
    [['tenant', '42']],
  ]);
  expect([ofRequest.kind, ofRequest.correlationId, ofRequest.metadata.size]).toEqual([
    'request',
    `${harness.link.correlationScope.peer}${correlation}`,
    0,
  ]);
  for (const name of ['meshName', 'link', 'endpoint', 'payload', 'deadlineAtMs'])
    expect(ofRequest).not.toHaveProperty(name);
  expect(Object.keys(ofRequest)).toEqual([]);
  expect(() => Object.assign(ofRequest, { kind: 'send' })).toThrow(TypeError);
});

test('[DISP-004] without a handler a request is answered NotFound and a send is dropped and recorded', () => {
  const harness = new Harness((handlers) => handlers.addSend(Charge as never, () => undefined));
  harness.request(Charge, { amount: 1 }); // a send handler serves no request
  harness.send('unknown', {});
  expect(harness.link.answers).toMatchObject([
    {
      error: 'NotFound',
      text: 'no request handler of packet "billing.charge" in channel "billing": it has a send handler of that name',
    },
  ]);
  expect(harness.requests.dropped).toEqual({ no_handler: 1 });
  expect(harness.sends.dropped).toEqual({ no_handler: 1 });
  const error = { eventId: 'zlink.dispatch_error', reason: 'no_handler' };
  expect(harness.logs).toMatchObject([
    { ...error, action: 'reply_error', message_kind: 'request' },
    { ...error, action: 'drop', message_kind: 'send', packet_name: 'unknown' },
  ]);
  harness.send('other', {}); // one line per second, kind and reason
  harness.clock.advance(1_000);
  expect(harness.logs[2]).toMatchObject({ action: 'drop', packet_name: 'other', suppressed: 1 });
  expect(harness.unhandled).toEqual([]);
  expectNothingHeld(harness);
});

test('[DISP-004] a send that only has a request handler is dropped, and its record says so', () => {
  const harness = new Harness((handlers) => handlers.addRequest(Charge, () => ({ receipt: '' })));
  harness.send(Charge, { amount: 1 });
  const error =
    'no send handler of packet "billing.charge" in channel "billing": it has a request handler of that name';
  expect(harness.logs).toMatchObject([{ reason: 'no_handler', action: 'drop', error }]);
  expect(harness.link.answers).toEqual([]);
  expectNothingHeld(harness);
});

test.each([
  ['bytes that are no JSON', { payload: '{"amount":' }],
  ['bytes that are no UTF-8', { payload: Uint8Array.of(0x22, 0xff, 0x22) }],
  ['an unknown content type', { contentType: 'application/x-other' }],
  ['another spelling of the content type', { contentType: 'Application/JSON' }],
  ['malformed metadata', { metadataBytes: Uint8Array.of(9, 1) }],
])('[DISP-004] %s: the handler does not run, a request gets ProtocolError', (_, options) => {
  let runs = 0;
  const harness = new Harness((handlers) =>
    handlers
      .addSend(Notice, () => void runs++)
      .addRequest(Charge, () => {
        runs++;
        return { receipt: '' };
      }),
  );
  harness.request(Charge, { amount: 1 }, options);
  harness.send(Notice, { text: 'a' }, options);
  expect(runs).toBe(0);
  expect(harness.link.answers).toMatchObject([{ error: 'ProtocolError' }]);
  expect(harness.requests.dropped).toEqual({ decode_error: 1 });
  expect(harness.sends.dropped).toEqual({ decode_error: 1 });
  const error = { reason: 'decode_error', outcome: 'failed' };
  expect(harness.logs).toMatchObject([
    { ...error, action: 'reply_error', message_kind: 'request' },
    { ...error, action: 'drop', message_kind: 'send' },
  ]);
  expectNothingHeld(harness);
});

test('[MSG-004] a value that does not fit its schema is a ProtocolError, and the handler gets what the schema returns', () => {
  const Checked = request<{ amount: number }, { receipt: string }>('checked', { schema: positive });
  const harness = new Harness((handlers) => handlers.addRequest(Checked, ({ amount }) => ({ receipt: `${amount}` })));
  harness.request(Checked, { amount: -1 });
  harness.request(Checked, { amount: 1 });
  expect(harness.link.answers).toMatchObject([
    { error: 'ProtocolError', text: expect.stringContaining('is not positive') as string },
    { error: undefined, text: '{"receipt":"1"}' },
  ]);
});

test('[MSG-011] metadata stays readable after the handler has ended', async () => {
  let kept: ChannelContext | undefined;
  const harness = new Harness((handlers) => handlers.addSend(Notice, (_, context) => void (kept = context)));
  harness.send(Notice, { text: 'a' }, { metadata: metadata({ a: '1', b: '2' }) });
  await loopTurns(1);
  expect(Object.fromEntries(kept?.metadata ?? [])).toEqual({ a: '1', b: '2' });
  expect(kept?.metadata).toBe(kept?.metadata);
});

test('[CODEC-004] the declared type of the reply chooses its codec', () => {
  class Receipt {
    readonly total = 7;
  }
  class Base {
    readonly kind = 'base';
  }
  class Other {
    readonly kind = 'other';
  }
  const Declared = request<object, Receipt>('declared', { reply: { declaredType: Receipt } });
  const harness = new Harness(
    (handlers) =>
      handlers
        .addRequest(Declared, () => ({ total: 8 }) as unknown as Receipt)
        .addRequest(request('instance'), () => new Receipt())
        .addRequest(request('named'), () => ZLinkMessage.from(new Other(), Base as never))
        .addRequest(request('plain'), () => ({ total: 9 })),
    {
      extensions: [
        {
          register: (codecs) =>
            codecs.add({
              contentType: 'text/x-upper',
              matches: (type) => type === Receipt || type === Base,
              encode: (value) => Buffer.from(JSON.stringify(value).toUpperCase()),
              decode: () => undefined,
            }),
        },
      ],
    },
  );
  for (const name of ['declared', 'instance', 'named', 'plain']) harness.request(name, {});
  expect(harness.link.answers.map(({ contentType, text }) => [contentType, text])).toEqual([
    ['text/x-upper', '{"TOTAL":8}'],
    ['text/x-upper', '{"TOTAL":7}'],
    ['text/x-upper', '{"KIND":"OTHER"}'],
    ['application/json', '{"total":9}'],
  ]);
});

describe('order and concurrency', () => {
  function arrangeGates(concurrency: number) {
    const gates: Gate[] = [];
    const started: string[] = [];
    const harness = new Harness(
      (handlers) =>
        handlers.addSend(Notice, ({ text }) => {
          started.push(text);
          const held = gate();
          gates.push(held);
          return held.promise;
        }),
      { concurrency },
    );
    return { gates, started, harness };
  }

  test('[DISP-005] handlers start in order of arrival and overlap up to the limit', async () => {
    const { gates, started, harness } = arrangeGates(2);
    for (const text of ['a', 'b', 'c', 'd']) harness.send(Notice, { text });
    expect(started).toEqual(['a', 'b']);
    expect(harness.sends).toMatchObject({ accepted: 4, running: 2, queued: 2 });
    gates[1]?.open();
    await loopTurns(1);
    expect(started).toEqual(['a', 'b', 'c']);
    for (const held of gates) held.open();
    await loopTurns(1);
    for (const held of gates) held.open();
    await loopTurns(1);
    expect(started).toEqual(['a', 'b', 'c', 'd']);
    expectNothingHeld(harness);
  });

  test('[DISP-005] concurrency 1 never overlaps, also when a handler throws', async () => {
    let active = 0;
    let most = 0;
    const seen: string[] = [];
    const harness = new Harness(
      (handlers) =>
        handlers.addSend(Notice, async ({ text }) => {
          most = Math.max(most, ++active);
          seen.push(text);
          await loopTurns(1);
          active--;
          if (text === 'b') throw new Error('b');
        }),
      { concurrency: 1 },
    );
    for (const text of ['a', 'b', 'c']) harness.send(Notice, { text });
    await harness.dispatcher.idle();
    expect([most, seen.join('')]).toEqual([1, 'abc']);
    expect(harness.sends).toMatchObject({ handled: 2, failed: 1 });
    expectNothingHeld(harness);
  });

  test('[DISP-005] 256 handlers overlap by default', () => {
    const harness = new Harness((handlers) => handlers.addSend(Notice, () => new Promise<void>(() => undefined)));
    for (let i = 0; i < 300; i++) {
      harness.send(Notice, { text: '' });
      harness.turn();
    }
    expect(harness.sends).toMatchObject({ running: 256, queued: 44 });
  });

  test('[DISP-005] functions and classes start in one order', () => {
    const seen: string[] = [];
    class Handler {
      handle({ text }: { text: string }): void {
        seen.push(text);
      }
    }
    const Other = message<{ text: string }>('other');
    const harness = new Harness((handlers) =>
      handlers.addSend(Notice, Handler).addSend(Other, ({ text }) => void seen.push(text)),
    );
    harness.send(Notice, { text: 'a' });
    harness.send(Other, { text: 'b' });
    expect(seen).toEqual(['a', 'b']);
  });
});

describe('permits', () => {
  test('[JOBQ-004] the permit is back before the first instruction of the handler, and is held while the job waits', async () => {
    const inUse: number[] = [];
    const held = gate();
    const harness: Harness = new Harness(
      (handlers) =>
        handlers.addSend(Notice, () => {
          inUse.push(harness.permits.inUse);
          return held.promise;
        }),
      { concurrency: 1 },
    );
    harness.send(Notice, { text: 'a' });
    harness.send(Notice, { text: 'b' });
    harness.send(Notice, { text: 'c' });
    expect(inUse).toEqual([0]);
    expect(harness.permits.inUse).toBe(2);
    held.open();
    await harness.dispatcher.idle();
    expect(inUse).toEqual([0, 1, 0]);
    expectNothingHeld(harness);
  });

  test('[JOBQ-004] filters and constructors run without a permit, too', async () => {
    const inUse: number[] = [];
    class Handler {
      constructor() {
        inUse.push(harness.permits.inUse);
      }
      handle(): void {
        inUse.push(harness.permits.inUse);
      }
    }
    const harness: Harness = new Harness((handlers) => handlers.addSend(Notice, Handler), {
      filters: [
        (_, next) => {
          inUse.push(harness.permits.inUse);
          return next();
        },
      ],
    });
    harness.send(Notice, { text: 'a' });
    await harness.dispatcher.idle();
    expect(inUse).toEqual([0, 0, 0]);
  });

  test('[JOBQ-004] a permit that brings the next record back at once keeps order and depth', () => {
    const seen: number[] = [];
    const Numbered = message<{ n: number }>('numbered');
    const harness = new Harness((handlers) => handlers.addSend(Numbered, ({ n }) => void seen.push(n)), {
      maxPermits: 1,
      concurrency: 4,
    });
    // A source with many records, each delivered the moment a permit is free: as an Inbound with a full backlog does.
    const count = 20_000;
    let n = 1;
    const name = { scope: '', contentType: 'application/json', packetName: 'numbered', slot: undefined };
    const source = {
      onPermit: (): void => {
        if (n >= count) return harness.permits.release();
        const record = inboundRecord({ kind: 'send', name, payload: Buffer.from(`{"n":${n++}}`) });
        harness.permits.wait(source);
        harness.dispatcher.accept(record, harness.link);
      },
    };
    expect(harness.permits.tryAcquire()).toBe(true);
    source.onPermit();
    while (harness.waitsForTurn) harness.turn();
    expect(seen).toHaveLength(count - 1);
    expect(seen.every((value, index) => value === index + 1)).toBe(true);
    expectNothingHeld(harness);
  });

  test('[JOBQ-004] refused messages do not pile up on the stack, however many permits they hand on', () => {
    const harness = new Harness(() => undefined, { maxPermits: 1 });
    harness.dispatcher.stopIntake('Rejected');
    const name = { scope: '', contentType: 'application/json', packetName: 'any', slot: undefined };
    let left = 50_000;
    const source = {
      onPermit: (): void => {
        if (left-- === 0) return harness.permits.release();
        harness.permits.wait(source);
        harness.dispatcher.accept(inboundRecord({ kind: 'send', name, payload: Buffer.from('{}') }), harness.link);
      },
    };
    expect(harness.permits.tryAcquire()).toBe(true);
    source.onPermit();
    expect(harness.sends).toMatchObject({ accepted: 50_000, dropped: { shutdown: 50_000 } });
    expectNothingHeld(harness);
  });

  test('[JOBQ-004] every way a message can end returns its permit once', async () => {
    const harness = new Harness((handlers) => handlers.addRequest(Charge, () => ({ receipt: '' })), {
      maxMessageBytes: 100,
      mailboxLimits: { messages: 10, bytes: 400 },
    });
    harness.request('unknown', {});
    harness.request(Charge, {}, { payload: 'no json' });
    harness.request(Charge, { amount: 1, text: 'x'.repeat(100) });
    harness.send(Charge, {});
    harness.request(Charge, { amount: 1 });
    harness.dispatcher.stopIntake('Rejected');
    harness.request(Charge, { amount: 1 });
    harness.send(Notice, { text: '' });
    await loopTurns(1);
    expectNothingHeld(harness);
    expect(harness.requests.dropped).toEqual({ no_handler: 1, decode_error: 1, too_large: 1, shutdown: 1 });
  });
});

describe('mailbox', () => {
  test('[JOBQ-006] beyond its number of messages a request is answered Unavailable and a send is dropped', async () => {
    const held = gate();
    const harness = new Harness((handlers) => handlers.addSend(Notice, () => held.promise), {
      mailboxLimits: { messages: 2, bytes: 1_000_000 },
    });
    harness.send(Notice, { text: 'running' });
    harness.send(Notice, { text: 'running' });
    harness.send(Notice, { text: 'one too many' });
    harness.request(Charge, { amount: 1 });
    expect(harness.sends).toMatchObject({ running: 2, dropped: { backpressure: 1 } });
    expect(harness.link.answers).toMatchObject([
      { error: 'Unavailable', text: 'channel "billing" has a full mailbox (limits: 2 messages, 1000000 bytes)' },
    ]);
    expect(harness.permits.inUse).toBe(0);
    held.open();
    await loopTurns(1);
    harness.send(Notice, { text: 'fits again' });
    await loopTurns(1);
    expect(harness.sends).toMatchObject({ handled: 3 });
    expectNothingHeld(harness);
  });

  test('[JOBQ-006] beyond its bytes nothing is taken, an empty payload costs too, and a failure reserves nothing', async () => {
    const held = gate();
    const harness = new Harness((handlers) => handlers.addSend(Notice, () => held.promise), {
      mailboxLimits: { messages: 100, bytes: 64 + 4 + 64 + 4 },
    });
    harness.send(Notice, null); // 64 + 4 bytes
    harness.send(Notice, 'x'.repeat(4));
    expect(harness.dispatcher.heldBytes).toBe(68);
    harness.send(Notice, null);
    harness.send(Notice, null);
    expect(harness.sends).toMatchObject({ running: 2, dropped: { backpressure: 2 } });
    held.open();
    await loopTurns(1);
    expectNothingHeld(harness);
  });

  test('[JOBQ-006] [ERR-003] a message that even an empty mailbox cannot hold is refused for good, with both sizes', () => {
    const harness = new Harness((handlers) => handlers.addSend(Notice, () => undefined), {
      mailboxLimits: { messages: 100, bytes: 64 + 4 },
    });
    harness.send(Notice, null); // 64 + 4 bytes
    harness.send(Notice, 'xyz'); // 64 + 5 bytes
    harness.request(Charge, 'xyz');
    expect(harness.sends).toMatchObject({ handled: 1, dropped: { too_large: 1 } });
    expect(harness.link.answers).toMatchObject([
      {
        error: 'ProtocolError',
        text: 'channel "billing" got a message that takes 69 bytes of its mailbox, which has 68',
      },
    ]);
    expectNothingHeld(harness);
  });

  test('[CS-003] a message above the size limit is refused whole', () => {
    const harness = new Harness((handlers) => handlers.addSend(Notice, () => undefined), { maxMessageBytes: 10 });
    harness.send(Notice, '12345678'); // 10 bytes with its quotes
    harness.send(Notice, '123456789');
    harness.send(Notice, '1234567', { metadata: metadata({ a: '' }) }); // 9 + 3 bytes
    harness.request(Charge, '123456789');
    expect(harness.sends).toMatchObject({ handled: 1, dropped: { too_large: 2 } });
    expect(harness.link.answers).toMatchObject([{ error: 'ProtocolError' }]);
  });
});

describe('turns', () => {
  test('[JOBQ-007] after as many jobs as a turn may start the rest waits for the next turn of the event loop', () => {
    let runs = 0;
    const harness = new Harness((handlers) => handlers.addSend(Notice, () => void runs++));
    const all = 2 * jobsPerTurn + 88;
    for (let i = 0; i < all; i++) harness.send(Notice, { text: '' });
    expect(runs).toBe(jobsPerTurn);
    expect(harness.sends).toMatchObject({ handled: jobsPerTurn, queued: jobsPerTurn + 88 });
    harness.turn();
    expect(runs).toBe(2 * jobsPerTurn);
    harness.turn();
    expect(runs).toBe(all);
    harness.turn();
    expect(harness.waitsForTurn).toBe(false); // no polling without work
    expectNothingHeld(harness);
  });

  test('[JOBQ-007] after 4 ms the rest waits for the next turn, whatever their number', () => {
    const seen: string[] = [];
    const harness: Harness = new Harness((handlers) =>
      handlers.addSend(Notice, ({ text }) => {
        seen.push(text);
        harness.clock.advance(3);
      }),
    );
    for (const text of ['a', 'b', 'c', 'd', 'e']) harness.send(Notice, { text });
    expect(seen.join('')).toBe('ab');
    harness.turn();
    expect(seen.join('')).toBe('abcd');
    harness.turn();
    expect(seen.join('')).toBe('abcde');
  });

  test('[JOBQ-007] jobs that wait for a free handler take part in the budget of the turn in which they start', async () => {
    let runs = 0;
    const first = gate();
    const harness = new Harness(
      (handlers) =>
        handlers.addSend(Notice, () => {
          runs++;
          return runs === 1 ? first.promise : undefined;
        }),
      { concurrency: 1 },
    );
    for (let i = 0; i < jobsPerTurn + 44; i++) harness.send(Notice, { text: '' });
    first.open();
    await loopTurns(1);
    expect(runs).toBe(jobsPerTurn);
    harness.turn();
    expect(runs).toBe(jobsPerTurn + 44);
  });

  test('[JOBQ-007] two owners take turns on the real event loop', async () => {
    const order: string[] = [];
    const parts = loopParts();
    const dispatchers = ['a', 'b'].map((owner) => loopDispatcher(owner, parts, () => void order.push(owner)));
    const link = new FakeLink();
    for (let i = 0; i < jobsPerTurn + 88; i++)
      for (const dispatcher of dispatchers) acceptNotice(dispatcher, parts, link);
    expect(order).toHaveLength(2 * jobsPerTurn);
    await loopTurns(1);
    const turn = order.slice(2 * jobsPerTurn);
    expect(turn.filter((owner) => owner === 'a').length).toBeGreaterThan(0);
    expect(turn.filter((owner) => owner === 'b').length).toBeGreaterThan(0);
    await Promise.all(dispatchers.map((dispatcher) => dispatcher.idle()));
    expect(order).toHaveLength(2 * (jobsPerTurn + 88));
  });
});

test('[C16] the handler started last can be named', () => {
  const lastHandler = new LastHandler();
  const harness = new Harness((handlers) => handlers.addSend(Notice, () => undefined), { lastHandler });
  harness.send(Notice, { text: '' });
  expect(lastHandler.during(1_000, harness.clock.nowMs() + 1_000)).toEqual({
    owner: 'billing',
    packetName: 'billing.notice',
  });
});

test('[DISP-009] a class that wants services is found where the host has none', () => {
  class Handler {
    static readonly inject = [Date];
    handle(): void {
      // Never called.
    }
  }
  const handlers = new HandlerRegistry<ChannelContext>('billing').addSend(Notice, Handler).freeze(new Problems());
  const found: string[] = [];
  const problems = { note: (text: string) => void found.push(text) };
  requireServices(handlers.classes(), 'billing', { createScope: () => ({}) as ServiceScope }, problems);
  expect(found).toEqual([]);
  requireServices(handlers.classes(), 'billing', undefined, problems);
  expect(found).toEqual([
    'billing: send handler of packet "billing.notice": its class has static inject, but the host has no services',
  ]);
});

function loopParts(): DispatcherParts {
  const ignore = (): void => undefined;
  const clock = new ManualClock(); // only the event loop is real: how many jobs 4 ms are good for is not known here
  const logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };
  const log = new RateLimitedLog(logger, clock);
  return {
    clock,
    flow: new MessageFlow({ clock, logger, log }),
    wheel: new DeadlineWheel({ clock, onError: ignore }),
    permits: new JobPermits({ max: 10_000, pauseThresholdPercent: 80, resumeThresholdPercent: 60 }),
    codecs: new CodecRegistry().freeze(new Problems()),
    names: new NameIndex(),
    filters: [],
    lastHandler: new LastHandler(),
    services: undefined,
    log,
    exposeErrorMessages: false,
    onUnhandled: ignore,
  };
}

function loopDispatcher(owner: string, parts: DispatcherParts, handler: () => void): Dispatcher {
  const handlers = new HandlerRegistry<ChannelContext>(owner).addSend(Notice, handler).freeze(new Problems());
  return new Dispatcher({
    owner,
    where: owner,
    surface: channelSurface(owner, 'server-1'),
    handlers,
    concurrency: 256,
    parts,
  });
}

function acceptNotice(dispatcher: Dispatcher, parts: DispatcherParts, link: FakeLink): void {
  if (!parts.permits.tryAcquire()) throw new Error('no permit left');
  const name = { scope: '', contentType: 'application/json', packetName: Notice.packetName, slot: undefined };
  dispatcher.accept(inboundRecord({ kind: 'send', name, payload: Buffer.from('{}') }), link);
}
