import { loopTurns } from '@zlink/testing';
import {
  type ChannelContext,
  channelSurface,
  type Filter,
  type FilterContext,
  freezeFilters,
} from '../../src/dispatch/index.ts';
import { Problems, ZLinkError } from '../../src/errors/index.ts';
import { message, request } from '../../src/message/index.ts';
import { expectNothingHeld, gate, Harness } from './harness.ts';

const Ask = request<{ n: number }, { ok: boolean }>('ask');
const Tell = message<{ n: number }>('tell');

function arrange(filters: readonly Filter[], handler: (log: string[]) => unknown = () => ({ ok: true })) {
  const log: string[] = [];
  const handle = (): unknown => {
    log.push('handler');
    return handler(log);
  };
  const harness = new Harness((handlers) => handlers.addRequest(Ask, handle as never).addSend(Tell, handle as never), {
    filters,
  });
  return { log, harness };
}

test('[DISP-006] filters run in the order of registration and end in reverse', async () => {
  const trace: string[] = [];
  const around =
    (name: string): Filter =>
    async (_, next) => {
      trace.push(`${name} before`);
      await next();
      trace.push(`${name} after`);
    };
  class Third {
    async invoke(_: FilterContext, next: () => Promise<unknown>): Promise<void> {
      trace.push('c before');
      await next();
      trace.push('c after');
    }
  }
  const { harness } = arrange([around('a'), around('b'), Third], () => {
    trace.push('handler');
    return { ok: true };
  });
  harness.request(Ask, { n: 1 });
  await harness.dispatcher.idle();
  expect(trace).toEqual(['a before', 'b before', 'c before', 'handler', 'c after', 'b after', 'a after']);
  expect(harness.link.answers).toMatchObject([{ text: '{"ok":true}' }]);
  expectNothingHeld(harness);
});

test('[DISP-006] the first filter begins in the same turn as a plain handler would', () => {
  const { log, harness } = arrange([(_, next) => next()]);
  harness.request(Ask, { n: 1 });
  expect(log).toEqual(['handler']);
});

test('[DISP-007] a filter is told the dispatch kind and the message, the mesh only where there is one', async () => {
  const contexts: FilterContext[] = [];
  const seen: ChannelContext[] = [];
  const filter: Filter = (context, next) => {
    contexts.push(context);
    return next();
  };
  const make = (meshName?: string): Harness =>
    new Harness((handlers) => handlers.addSend(Tell, (_, context) => void seen.push(context)), {
      filters: [filter],
      surface: channelSurface('billing', 'server-1', meshName),
    });
  const [plain, mesh] = [make(), make('game')];
  plain.send(Tell, { n: 1 });
  mesh.send(Tell, { n: 1 });
  await loopTurns(1);
  expect(contexts.map(({ dispatchKind, meshName }) => [dispatchKind, meshName])).toEqual([
    ['channelSend', undefined],
    ['channelSend', 'game'],
  ]);
  expect(Object.keys(contexts[0] as FilterContext).sort()).toEqual(['dispatchKind', 'message']);
  expect(contexts[0]?.message).toBe(seen[0]);
  expect(contexts[0]?.message).toMatchObject({ channelName: 'billing', packetName: 'tell' });
  expect(Object.isFrozen(contexts[0])).toBe(true);
});

test('[DISP-007] a request is told from a send', async () => {
  const kinds: string[] = [];
  const { harness } = arrange([
    ({ dispatchKind }, next) => {
      kinds.push(dispatchKind);
      return next();
    },
  ]);
  harness.request(Ask, { n: 1 });
  harness.send(Tell, { n: 1 });
  await harness.dispatcher.idle();
  expect(kinds).toEqual(['channelRequest', 'channelSend']);
});

describe('next', () => {
  test('[DISP-008] a second next is refused, and the handler is not run again', async () => {
    let refusal: unknown;
    const { log, harness } = arrange([
      async (_, next) => {
        await next();
        refusal = await next().catch((error: unknown) => error);
      },
    ]);
    harness.request(Ask, { n: 1 });
    await harness.dispatcher.idle();
    expect(refusal).toMatchObject({ kind: 'InvalidOperation' });
    expect(log).toEqual(['handler']);
    expect(harness.link.answers).toMatchObject([{ text: '{"ok":true}' }]);
  });

  test('[DISP-008] a second next that nobody awaits leaves no unhandled rejection', async () => {
    const { log, harness } = arrange([
      async (_, next) => {
        void next();
        void next();
      },
    ]);
    harness.request(Ask, { n: 1 });
    await loopTurns(2);
    expect(log).toEqual(['handler']);
    expect(harness.link.answers).toMatchObject([{ text: '{"ok":true}' }]);
    expectNothingHeld(harness);
  });

  test('[DISP-008] without next a request gets Rejected and a send ends silently', async () => {
    const { log, harness } = arrange([() => ({ ok: true })]);
    harness.request(Ask, { n: 1 });
    harness.send(Tell, { n: 1 });
    await harness.dispatcher.idle();
    expect(log).toEqual([]);
    expect(harness.link.answers).toMatchObject([{ error: 'Rejected' }]);
    expect([harness.requests.dropped, harness.sends.dropped]).toEqual([{ filtered: 1 }, { filtered: 1 }]);
    expect([harness.unhandled, harness.logs]).toEqual([[], []]); // no dispatch error (TRACE-006)
    expectNothingHeld(harness);
  });

  test('[DISP-008] next after the filter has ended is refused', async () => {
    const late = gate();
    let refusal: unknown;
    const { log, harness } = arrange([
      (_, next) => {
        void late.promise.then(() => next()).catch((error: unknown) => (refusal = error));
      },
    ]);
    harness.request(Ask, { n: 1 });
    await harness.dispatcher.idle();
    late.open();
    await loopTurns(1);
    expect(refusal).toMatchObject({ kind: 'InvalidOperation' });
    expect(log).toEqual([]);
    expect(harness.link.answers).toHaveLength(1);
  });

  test('[DISP-008] what a filter returns never replaces the reply, and next gives the handler result', async () => {
    const given: unknown[] = [];
    const { harness } = arrange([
      async (_, next) => {
        given.push(await next());
        return { ok: 'outer' };
      },
      async (_, next) => {
        given.push(await next());
        return { ok: 'inner' };
      },
    ]);
    harness.request(Ask, { n: 1 });
    await harness.dispatcher.idle();
    expect(given).toEqual([{ ok: true }, { ok: true }]);
    expect(harness.link.answers).toMatchObject([{ text: '{"ok":true}' }]);
  });

  test('[DISP-008] a dispatch is over when the handler is, also when its filter did not wait', async () => {
    const held = gate();
    const { harness } = arrange([(_, next) => void next()], async () => {
      await held.promise;
      return { ok: true };
    });
    harness.request(Ask, { n: 1 });
    await loopTurns(1);
    expect(harness.requests.running).toBe(1);
    expect(harness.link.answers).toEqual([]);
    held.open();
    await harness.dispatcher.idle();
    expect(harness.link.answers).toMatchObject([{ text: '{"ok":true}' }]);
  });
});

describe('failures', () => {
  const fail = (text: string): never => {
    throw new Error(text);
  };

  test('[DISP-004] a filter may turn the error of a handler into another one', async () => {
    const { harness } = arrange(
      [
        async (_, next) => {
          try {
            await next();
          } catch (cause) {
            throw new ZLinkError('NotFound', 'no such order', { cause });
          }
        },
      ],
      () => fail('row is missing'),
    );
    harness.request(Ask, { n: 1 });
    await harness.dispatcher.idle();
    expect(harness.link.answers).toMatchObject([{ error: 'NotFound', text: 'no such order' }]);
  });

  test('[DISP-004] a filter that swallows the error of a handler makes no reply of it', async () => {
    const { harness } = arrange([(_, next) => next().catch(() => ({ ok: true }))], () => fail('handler'));
    harness.request(Ask, { n: 1 });
    await harness.dispatcher.idle();
    expect(harness.link.answers).toMatchObject([{ error: 'InternalFailure' }]);
    expect(harness.unhandled).toMatchObject([{ error: { message: 'handler' } }]);
  });

  test('[DISP-004] a filter that swallows the failure of an inner one before the handler makes no rejection of it', async () => {
    const { log, harness } = arrange([(_, next) => next().catch(() => undefined), () => fail('inner')]);
    harness.request(Ask, { n: 1 });
    await harness.dispatcher.idle();
    expect(log).toEqual([]);
    expect(harness.link.answers).toMatchObject([{ error: 'InternalFailure' }]);
  });

  test('[DISP-004] a failure after the handler, caught further out, leaves the reply as it was', async () => {
    const { harness } = arrange([
      (_, next) => next().catch(() => undefined),
      async (_, next) => {
        await next();
        fail('after');
      },
    ]);
    harness.request(Ask, { n: 1 });
    await harness.dispatcher.idle();
    expect(harness.link.answers).toMatchObject([{ text: '{"ok":true}' }]);
  });
});

test('[ERR-002] what is no filter is reported at start, every one of them', () => {
  const problems = new Problems();
  class BadInject {
    static readonly inject = 'Database';
    invoke(): void {
      // Never called.
    }
  }
  class NeedsServices {
    static readonly inject = [Date];
    invoke(): void {
      // Never called.
    }
  }
  const entries = freezeFilters(['x' as never, BadInject, NeedsServices, (_, next) => next()], undefined, problems);
  expect(entries).toHaveLength(2);
  expect(() => problems.throwIfAny()).toThrow(/^3 problems/);
});
