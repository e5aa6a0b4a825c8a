/** C11: whatever a handler or filter throws, the process lives, callers get a typed error and the hook is told. */
import { loopTurns } from '@zlink/testing';
import type { ChannelContext, Filter, HandlerRegistry } from '../../src/dispatch/index.ts';
import { ConfigurationError, ErrorKind, type ErrorKindName, ZLinkError } from '../../src/errors/index.ts';
import { message, request } from '../../src/message/index.ts';
import { expectNothingHeld, Harness } from './harness.ts';

const Ask = request<{ n: number }, { ok: boolean }>('ask');
const Tell = message<{ n: number }>('tell');

function cyclicCause(): Error {
  const error = new Error('cyclic');
  error.cause = error;
  return error;
}

function withThrowingGetter(target: object, key: string): object {
  return Object.defineProperty(target, key, {
    get: () => {
      throw new Error('from the getter');
    },
  });
}

const revoked = Proxy.revocable({}, {});
revoked.revoke();

const thrownValues: readonly (readonly [string, unknown])[] = [
  ['an Error', new Error('secret text')],
  ['null', null],
  ['undefined', undefined],
  ['a string', 'str'],
  ['a symbol', Symbol('s')],
  ['a bigint', 10n ** 400n],
  ['a frozen object', Object.freeze({})],
  ['an object without prototype', Object.create(null)],
  ['an error with a getter that throws', withThrowingGetter(new Error('getter'), 'message')],
  ['an error with a cycle in cause', cyclicCause()],
  ['an error with a name that throws', withThrowingGetter(new Error('getter'), 'name')],
  ['a revoked proxy', revoked.proxy],
];

const manners = {
  'thrown at once': (value: unknown) => (): never => {
    throw value;
  },
  'thrown in an async function': (value: unknown) => async (): Promise<never> => {
    throw value;
  },
  'rejected after a turn of the event loop': (value: unknown) => (): Promise<never> =>
    new Promise((_, reject) => setImmediate(() => reject(value as Error))), // what is no Error is the point here
} as const;

/** Where the failing code stands; each gets the code to run and says which filters and handler that makes. */
const places: Readonly<Record<string, (fail: () => unknown) => { handler: unknown; filters: Filter[] }>> = {
  'a function': (fail) => ({ handler: fail, filters: [] }),
  'a class': (fail) => ({
    handler: class {
      handle(): unknown {
        return fail();
      }
    },
    filters: [],
  }),
  'a constructor': (fail) => ({
    handler: class {
      readonly failed = fail();
      async handle(): Promise<unknown> {
        return this.failed;
      }
    },
    filters: [],
  }),
  'a filter before the handler': (fail) => ({
    handler: () => ({ ok: true }),
    filters: [
      async (_, next) => {
        await fail();
        return next();
      },
    ],
  }),
  'a filter after the handler': (fail) => ({
    handler: () => ({ ok: true }),
    filters: [
      async (_, next) => {
        await next();
        await fail();
      },
    ],
  }),
  'a handler inside a filter that does not await it': (fail) => ({
    handler: fail,
    filters: [(_, next) => void next()],
  }),
};

function serving(handler: unknown) {
  return (handlers: HandlerRegistry<ChannelContext>): void => {
    handlers.addRequest(Ask, handler as never).addSend(Tell, handler as never);
  };
}

describe.each(Object.keys(places))('from %s', (place) => {
  describe.each(Object.keys(manners) as (keyof typeof manners)[])('%s', (manner) => {
    test.each(thrownValues)('[C11] %s ends as a typed error and reaches the hook', async (_, value) => {
      const { handler, filters } = (places[place] as (typeof places)[string])(manners[manner](value));
      const harness = new Harness(serving(handler), { filters });
      harness.request(Ask, { n: 1 });
      harness.send(Tell, { n: 1 });
      await loopTurns(3);
      expect(harness.link.answers).toMatchObject([
        {
          error: 'InternalFailure',
          text: 'request handler of packet "ask" in channel "billing" failed; its log has the cause',
        },
      ]);
      expect(harness.requests.failed).toBe(1);
      expect(harness.sends.failed).toBe(1);
      expect(harness.unhandled).toHaveLength(2);
      for (const { error } of harness.unhandled) expect(Object.is(error, value)).toBe(true);
      expect(harness.unhandled.map(({ where }) => where)).toEqual(
        expect.arrayContaining([
          'request handler of packet "ask" in channel "billing"',
          'send handler of packet "tell" in channel "billing"',
        ]),
      );
      expectNothingHeld(harness);
    });
  });
});

test('[C11] after a failure the next message is handled', async () => {
  let runs = 0;
  const harness = new Harness(
    (handlers) =>
      handlers.addRequest(Ask, async () => {
        if (++runs === 1) throw new Error('first');
        return { ok: true };
      }),
    { concurrency: 1 },
  );
  harness.request(Ask, { n: 1 });
  harness.request(Ask, { n: 2 });
  await harness.dispatcher.idle();
  expect(harness.link.answers).toMatchObject([{ error: 'InternalFailure' }, { text: '{"ok":true}' }]);
});

test('[C11] a hook or a logger that throws or rejects reaches nobody', async () => {
  const broken = (): never => {
    throw new Error('broken');
  };
  const rejecting = (async () => broken()) as () => void; // fits the listener's type in plain JavaScript
  for (const onUnhandled of [broken, rejecting]) {
    const harness = new Harness((handlers) => handlers.addSend(Tell, broken), {
      onUnhandled,
      logger: { debug: broken, info: broken, warn: broken, error: broken },
    });
    harness.send(Tell, { n: 1 });
    harness.send(Tell, { n: 2 });
    await loopTurns(2);
    expect(harness.sends.failed).toBe(2);
    expectNothingHeld(harness);
  }
});

test('[C11] a failing hook is logged', async () => {
  const harness = new Harness(
    (handlers) =>
      handlers.addSend(Tell, () => {
        throw new Error('handler');
      }),
    {
      onUnhandled: () => {
        throw new Error('hook');
      },
    },
  );
  harness.send(Tell, { n: 1 });
  await loopTurns(1);
  expect(harness.logs).toContainEqual({
    eventId: 'zlink.runtime.on_unhandled_failed',
    where: 'send handler of packet "tell" in channel "billing"',
    error: 'hook',
  });
});

test.each(Object.keys(ErrorKind) as ErrorKindName[])(
  '[DISP-004] a thrown ZLinkError keeps its kind: %s',
  async (kind) => {
    const harness = new Harness((handlers) =>
      handlers.addRequest(Ask, () => {
        throw new ZLinkError(kind, 'no such order', { cause: new Error('secret cause') });
      }),
    );
    harness.request(Ask, { n: 1 });
    expect(harness.link.answers).toMatchObject([{ error: kind, text: 'no such order' }]);
    expect(harness.requests.failed).toBe(1);
    expect(harness.unhandled).toEqual([]); // its caller has got it
    expect(harness.logs).toMatchObject([{ reason: 'handler_exception', action: 'reply_error' }]);
  },
);

test('[DISP-004] a ZLinkError thrown for a one-way message has no caller and is unhandled', () => {
  const error = new ZLinkError('Rejected', 'not today');
  const harness = new Harness((handlers) =>
    handlers.addSend(Tell, () => {
      throw error;
    }),
  );
  harness.send(Tell, { n: 1 });
  expect(harness.unhandled).toMatchObject([{ error }]);
  expect(harness.link.answers).toEqual([]);
  expect(harness.logs).toMatchObject([{ reason: 'handler_exception', action: 'drop', error: '[Rejected] not today' }]);
});

test('[DISP-004] the text of other errors crosses only if the host allows it, bounded and on one line', async () => {
  const harness = new Harness(
    (handlers) =>
      handlers.addRequest(Ask, ({ n }) => {
        if (n === 1) throw new TypeError(`first\nsecond ${'x'.repeat(5_000)}`);
        throw { secret: 'inside' }; // eslint-disable-line @typescript-eslint/only-throw-error -- handlers may
      }),
    { exposeErrorMessages: true },
  );
  harness.request(Ask, { n: 1 });
  harness.request(Ask, { n: 2 });
  const [first, second] = harness.link.answers;
  expect(first?.text).toMatch(
    /^request handler of packet "ask" in channel "billing" failed: TypeError: first second x+$/,
  );
  expect(first?.text.slice(first.text.indexOf('TypeError')).length).toBeLessThanOrEqual(256);
  expect(second?.text).toBe('request handler of packet "ask" in channel "billing" failed: thrown object');
});

test('[ERR-004] neither cause, stack nor codes of other libraries are in an error reply', () => {
  const harness = new Harness(
    (handlers) =>
      handlers.addRequest(Ask, () => {
        throw Object.assign(new Error('connect failed', { cause: new Error('ECONNREFUSED 10.0.0.1') }), {
          code: 'ECONNREFUSED',
          errno: -111,
        });
      }),
    { exposeErrorMessages: true },
  );
  harness.request(Ask, { n: 1 });
  expect(harness.link.answers).toMatchObject([
    { error: 'InternalFailure', text: 'request handler of packet "ask" in channel "billing" failed: connect failed' },
  ]);
});

test('[ERR-005] a ConfigurationError in a handler is a plain failure to the peer, its text stays here', () => {
  const error = new ConfigurationError(['option x: 5 is not allowed']);
  const harness = new Harness(
    (handlers) =>
      handlers.addRequest(Ask, () => {
        throw error;
      }),
    { exposeErrorMessages: true },
  );
  harness.request(Ask, { n: 1 });
  expect(harness.link.answers).toMatchObject([
    {
      error: 'InternalFailure',
      text: 'request handler of packet "ask" in channel "billing" failed; its log has the cause',
    },
  ]);
  expect(harness.unhandled).toMatchObject([{ error }]);
});

test('[DISP-004] a ZLinkError of another copy of the package is understood, one with an unknown kind is not', () => {
  const foreign = (kind: string): object => ({
    [Symbol.for('zlink.ZLinkError')]: true,
    kind,
    message: `[${kind}] text`,
  });
  const harness = new Harness((handlers) =>
    handlers.addRequest(Ask, ({ n }) => {
      // eslint-disable-next-line @typescript-eslint/only-throw-error -- an error of another copy is none of this one's
      throw foreign(n === 1 ? 'Rejected' : 'toString');
    }),
  );
  harness.request(Ask, { n: 1 });
  harness.request(Ask, { n: 2 });
  expect(harness.link.answers).toMatchObject([
    { error: 'Rejected', text: 'text' },
    {
      error: 'InternalFailure',
      text: 'request handler of packet "ask" in channel "billing" failed; its log has the cause',
    },
  ]);
});
