import { loopTurns } from '@zlink/testing';
import type { Filter, FilterContext, ServiceProvider, ServiceScope } from '../../src/dispatch/index.ts';
import { message, request, type Type } from '../../src/message/index.ts';
import { expectNothingHeld, gate, Harness } from './harness.ts';

const Ask = request<{ n: number }, { ok: boolean }>('ask');
const Tell = message<{ n: number }>('tell');

class Database {
  readonly id = Math.random();
}

/** A container with one scoped service; everything that happens to it goes to the log. */
class Container implements ServiceProvider {
  readonly log: string[] = [];
  readonly #isAsync: boolean;
  #scopes = 0;

  constructor(isAsync = false) {
    this.#isAsync = isAsync;
  }

  createScope(): ServiceScope {
    const name = `scope ${++this.#scopes}`;
    this.log.push(`${name} opened`);
    const made = new Map<unknown, unknown>();
    const get = <T>(token: Type<T>): T => {
      if (token === (Failing as unknown)) throw new Error('cannot be made');
      if (!made.has(token)) made.set(token, new token());
      return made.get(token) as T; // the token made it
    };
    return {
      get: <T>(token: Type<T>) => (this.#isAsync ? Promise.resolve().then(() => get(token)) : get(token)),
      dispose: () => void this.log.push(`${name} disposed`),
    };
  }
}

class Failing {}

function classes(container: Container) {
  const { log } = container;
  const databases: Database[] = [];
  class Handler {
    static readonly inject = [Database];
    readonly #database: Database;
    constructor(database: Database) {
      log.push('handler made');
      databases.push(database);
      this.#database = database;
    }
    handle({ n }: { n: number }): { ok: boolean } {
      log.push('handle');
      if (n < 0) throw new Error('negative');
      return { ok: this.#database instanceof Database };
    }
    async [Symbol.asyncDispose](): Promise<void> {
      await loopTurns(1);
      log.push('handler disposed');
    }
  }
  class Around {
    static readonly inject = [Database];
    constructor(database: Database) {
      log.push('filter made');
      databases.push(database);
    }
    async invoke(context: FilterContext, next: () => Promise<unknown>): Promise<void> {
      if (context.message.packetName !== 'tell') await next();
    }
    [Symbol.dispose](): void {
      log.push('filter disposed');
    }
  }
  return { Handler, Around, databases };
}

describe.each([
  ['a synchronous container', false],
  ['a container that gives promises', true],
])('with %s', (_, isAsync) => {
  function arrange(withFilter: boolean) {
    const container = new Container(isAsync);
    const { Handler, Around, databases } = classes(container);
    const harness = new Harness((handlers) => handlers.addRequest(Ask, Handler).addSend(Tell, Handler as never), {
      services: container,
      filters: withFilter ? [Around] : [],
    });
    return { container, databases, harness, log: container.log };
  }

  test('[DISP-009] each dispatch has one scope, shared by filter and handler, and disposes everything once in reverse', async () => {
    const { databases, harness, log } = arrange(true);
    harness.request(Ask, { n: 1 });
    await harness.dispatcher.idle();
    expect(log).toEqual([
      'scope 1 opened',
      'filter made',
      'handler made',
      'handle',
      'handler disposed',
      'filter disposed',
      'scope 1 disposed',
    ]);
    expect(databases[0]).toBe(databases[1]);
    harness.request(Ask, { n: 1 });
    await harness.dispatcher.idle();
    expect(databases[2]).not.toBe(databases[0]);
    expect(log.filter((line) => line.endsWith('disposed'))).toHaveLength(6);
    expectNothingHeld(harness);
  });

  test('[DISP-009] everything is disposed when the handler throws', async () => {
    const { harness, log } = arrange(false);
    harness.request(Ask, { n: -1 });
    await harness.dispatcher.idle();
    expect(log).toEqual(['scope 1 opened', 'handler made', 'handle', 'handler disposed', 'scope 1 disposed']);
    expect(harness.link.answers).toMatchObject([{ error: 'InternalFailure' }]);
  });

  test('[DISP-009] everything is disposed when a filter does not call next', async () => {
    const { harness, log } = arrange(true);
    harness.send(Tell, { n: 1 });
    await harness.dispatcher.idle();
    expect(log).toEqual(['scope 1 opened', 'filter made', 'filter disposed', 'scope 1 disposed']);
  });
});

test('[DISP-009] everything is disposed when the caller cancels, after the handler has ended', async () => {
  const container = new Container();
  class Waiting {
    static readonly inject = [Database];
    async handle(_: { n: number }, { signal }: { signal: AbortSignal }): Promise<{ ok: boolean }> {
      await new Promise((_, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
      );
      return { ok: true };
    }
    dispose(): void {
      container.log.push('handler disposed');
    }
  }
  const harness = new Harness((handlers) => handlers.addRequest(Ask, Waiting), { services: container });
  const correlation = harness.request(Ask, { n: 1 });
  harness.dispatcher.cancel(harness.link, correlation);
  await harness.dispatcher.idle();
  expect(container.log).toEqual(['scope 1 opened', 'handler disposed', 'scope 1 disposed']);
  expect(harness.requests.dropped).toEqual({ cancelled: 1 });
  expectNothingHeld(harness);
});

test('[DISP-009] the reply leaves before disposal, and the next job of a serial owner starts after it', async () => {
  const slow = gate();
  const log: string[] = [];
  class Handler {
    handle({ n }: { n: number }): { ok: boolean } {
      log.push(`handle ${n}`);
      return { ok: true };
    }
    async [Symbol.asyncDispose](): Promise<void> {
      await slow.promise;
      log.push('disposed');
    }
  }
  const harness = new Harness((handlers) => handlers.addRequest(Ask, Handler), { concurrency: 1 });
  harness.request(Ask, { n: 1 });
  harness.request(Ask, { n: 2 });
  await loopTurns(1);
  expect(harness.link.answers).toHaveLength(1);
  expect(log).toEqual(['handle 1']);
  slow.open();
  await harness.dispatcher.idle();
  expect(log).toEqual(['handle 1', 'disposed', 'handle 2', 'disposed']);
});

test('[DISP-009] a failing disposal is told and changes nothing else', async () => {
  const container = new Container();
  class Handler {
    static readonly inject = [Database];
    handle(): { ok: boolean } {
      return { ok: true };
    }
    [Symbol.dispose](): void {
      throw new Error('disposal');
    }
  }
  const harness = new Harness((handlers) => handlers.addRequest(Ask, Handler), { services: container });
  harness.request(Ask, { n: 1 });
  await harness.dispatcher.idle();
  expect(container.log).toEqual(['scope 1 opened', 'scope 1 disposed']);
  expect(harness.requests.handled).toBe(1);
  expect(harness.unhandled).toMatchObject([
    { error: { message: 'disposal' }, where: 'disposal after request handler of packet "ask" in channel "billing"' },
  ]);
});

test.each([
  [
    'a service that cannot be made',
    class {
      static readonly inject = [Database, Failing];
      handle(): void {
        /* never */
      }
    },
  ],
  [
    'a constructor that throws',
    class {
      static readonly inject = [Database];
      constructor() {
        throw new Error('no');
      }
      handle(): void {
        /* never */
      }
    },
  ],
])('[DISP-009] %s fails the dispatch, and the scope is disposed', async (_, Handler) => {
  for (const isAsync of [false, true]) {
    const container = new Container(isAsync);
    const harness = new Harness((handlers) => handlers.addRequest(Ask, Handler as never), { services: container });
    harness.request(Ask, { n: 1 });
    await harness.dispatcher.idle();
    expect(harness.link.answers).toMatchObject([
      {
        error: 'InternalFailure',
        text: 'request handler of packet "ask" in channel "billing" failed; its log has the cause',
      },
    ]);
    expect(container.log).toEqual(['scope 1 opened', 'scope 1 disposed']);
    expectNothingHeld(harness);
  }
});

test('[DISP-009] a container that cannot open a scope fails the dispatch', async () => {
  class Handler {
    handle(): void {
      // Never called.
    }
  }
  const harness = new Harness((handlers) => handlers.addSend(Tell, Handler), {
    services: {
      createScope: () => {
        throw new Error('no scope');
      },
    },
  });
  harness.send(Tell, { n: 1 });
  await harness.dispatcher.idle();
  expect(harness.unhandled).toMatchObject([{ error: { message: 'no scope' } }]);
  expectNothingHeld(harness);
});

test('[DISP-009] filter and handler get the same signal', async () => {
  const signals: AbortSignal[] = [];
  const filter: Filter = (context, next) => {
    signals.push(context.message.signal);
    return next();
  };
  const harness = new Harness((handlers) => handlers.addSend(Tell, (_, { signal }) => void signals.push(signal)), {
    filters: [filter, filter],
  });
  harness.send(Tell, { n: 1 });
  await harness.dispatcher.idle();
  expect(new Set(signals).size).toBe(1);
  expect(signals).toHaveLength(3);
});

test('[DISP-010] plain functions open no scope, also where the host has services', async () => {
  const container = new Container();
  const harness = new Harness((handlers) => handlers.addSend(Tell, () => undefined), {
    services: container,
    filters: [(_, next) => next()],
  });
  harness.send(Tell, { n: 1 });
  await harness.dispatcher.idle();
  expect(container.log).toEqual([]);
});

test('[DISP-010] a plain function that returns a value is over without a promise in between', () => {
  const harness = new Harness((handlers) => handlers.addRequest(Ask, () => ({ ok: true })));
  harness.request(Ask, { n: 1 });
  // Still in the same synchronous piece of code.
  expect(harness.link.answers).toHaveLength(1);
  expectNothingHeld(harness);
});
