/** Filters, scopes and handler classes as a whole host runs them; the parts have tests of their own in the kernel. */
import type { ChannelContext, FilterContext, ServiceProvider, Type } from '@zlink/framework';
import { metadata } from '@zlink/framework';
import { until } from '@zlink/testing';
import { accepted, ask, makeHost, makeServer, startClient, startPair } from './hosts.ts';
import { rejection } from './outcome.ts';
import { Ask, CHANNEL, Charge, Notice } from './packets.ts';

test('[DISP-006] filters run around every handler of every channel, in order of registration, and unwind in reverse', async () => {
  const events: string[] = [];
  const server = makeServer({
    answer: () => {
      events.push('handler');
      return 'reply';
    },
    with: (builder) => builder.addSendHandler(Notice, () => void events.push('handler')),
  });
  server
    .addClientServerChannel('stock')
    .server()
    .addRequestHandler(Ask, () => 'stock');
  for (const name of ['a', 'b', 'c']) {
    server.addFilter(async (_context, next) => {
      events.push(`${name} before`);
      await next();
      events.push(`${name} after`);
      return 'never the reply';
    });
  }
  await server.start();
  const client = makeHost();
  client
    .addClientServerChannel(CHANNEL)
    .client()
    .connect(server.clientServerChannel(CHANNEL).endpoint ?? '');
  client
    .addClientServerChannel('stock')
    .client()
    .connect(server.clientServerChannel('stock').endpoint ?? '');
  await client.start();
  for (const name of [CHANNEL, 'stock']) await client.clientServerChannel(name).whenReady(1);

  const around = ['a before', 'b before', 'c before', 'handler', 'c after', 'b after', 'a after'];
  expect(await ask(client, 1)).toBe('reply');
  expect(events.splice(0)).toEqual(around);
  await client.routeClient.sendToChannel(CHANNEL, Notice(1)).submit();
  await until(() => events.length === around.length, 'the send is handled');
  expect(events.splice(0)).toEqual(around);
  expect(await client.routeClient.requestToChannel('stock', Ask(1)).submit()).toBe('stock');
  expect(events).toEqual(around.filter((event) => event !== 'handler'));
});

test('[DISP-007] a filter knows the kind of dispatch and the facts of the message, nothing of sockets', async () => {
  const seen: FilterContext[] = [];
  const server = makeServer({ with: (builder) => builder.addSendHandler(Notice, () => undefined) });
  server.addFilter((context, next) => {
    seen.push(context);
    return next();
  });
  await server.start();
  const client = await startClient([server]);
  await client.routeClient.requestToChannel(CHANNEL, Ask(1)).metadata('tenant-id', 'tenant-42').submit();
  await client.routeClient
    .sendToChannel(CHANNEL, Notice(1))
    .metadata(metadata({ trace: 'on' }))
    .submit();
  await until(() => seen.length === 2, 'both are filtered');

  const [request, send] = seen.map(({ message }) => message as ChannelContext); // there are only channels yet
  expect(seen.map(({ dispatchKind }) => dispatchKind)).toEqual(['channelRequest', 'channelSend']);
  expect(request).toMatchObject({
    kind: 'request',
    channelName: CHANNEL,
    packetName: 'billing.ask',
    contentType: 'application/json',
  });
  expect(send).toMatchObject({
    kind: 'send',
    channelName: CHANNEL,
    packetName: 'system.notice',
    correlationId: undefined,
  });
  expect([request?.metadata.get('tenant-id'), send?.metadata.get('trace')]).toEqual(['tenant-42', 'on']);
  expect(request?.correlationId).toEqual(expect.any(String));
  for (const context of seen) {
    expect(Object.keys(context).sort()).toEqual(['dispatchKind', 'message']); // no mesh name outside of a mesh
    expect(namesOf(context.message).filter((name) => /socket|endpoint|link|frame|table|rid|mesh/i.test(name))).toEqual(
      [],
    );
    expect(context.message.signal).toBeInstanceOf(AbortSignal);
  }
});

function namesOf(object: object): string[] {
  const own = Object.getOwnPropertyNames(object);
  const inherited = Object.getOwnPropertyNames(Object.getPrototypeOf(object));
  return [...own, ...inherited];
}

test('[DISP-008] a filter that does not go on rejects requests and ends one-ways in silence', async () => {
  const handled: unknown[] = [];
  const server = makeServer({
    answer: (asked) => handled.push(asked),
    with: (builder) => builder.addSendHandler(Notice, (sent) => void handled.push(sent)),
  });
  server.addFilter(({ message }, next) => (message.packetName === 'billing.charge' ? next() : undefined));
  await server.start();
  const client = await startClient([server]);
  expect((await rejection(ask(client, 1))).kind).toBe('Rejected');
  await client.routeClient.sendToChannel(CHANNEL, Notice(1)).submit();
  await accepted(server, 'send', 1);
  expect((await rejection(client.routeClient.requestToChannel(CHANNEL, Charge({ orderId: '7' })).submit())).kind).toBe(
    'NotFound',
  );
  expect(handled).toEqual([]);
});

test('[DISP-008] a filter that goes on twice fails, and the handler runs once', async () => {
  const handled: unknown[] = [];
  const seen: unknown[] = [];
  const server = makeServer({ answer: (asked) => handled.push(asked) });
  server.addFilter(async (_context, next) => {
    await next();
    await next().catch((error: unknown) => seen.push(error));
  });
  await server.start();
  expect(await ask(await startClient([server]), 'once')).toBe(1);
  expect(seen).toMatchObject([{ kind: 'InvalidOperation' }]);
  expect(handled).toEqual(['once']);
});

class Ledger {
  readonly number: number;
  readonly entries: string[] = [];

  constructor(number: number) {
    this.number = number;
  }
}

/** A container as an application would have one: a new ledger per scope. */
class Scopes implements ServiceProvider {
  readonly events: string[] = [];
  opened = 0;

  createScope() {
    const number = ++this.opened;
    const ledger = new Ledger(number);
    return {
      get: <T>(token: Type<T>): T | Promise<T> => {
        expect(token).toBe(Ledger); // handler and filter classes are not looked up
        return ledger as T; // the token's own type
      },
      dispose: () => {
        this.events.push(`scope ${number} disposed: ${ledger.entries.join(', ')}`);
      },
    };
  }
}

class ChargeHandler {
  static readonly inject = [Ledger];
  readonly #ledger: Ledger;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  async handle({ orderId }: { orderId: string }): Promise<{ receipt: string }> {
    this.#ledger.entries.push(`charge ${orderId}`);
    if (orderId === 'bad') throw new Error('no such order');
    return { receipt: `r-${orderId}` };
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#ledger.entries.push('handler disposed');
    return Promise.resolve();
  }
}

class Audit {
  static readonly inject = [Ledger];
  readonly #ledger: Ledger;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  async invoke({ message }: FilterContext, next: () => Promise<unknown>): Promise<void> {
    this.#ledger.entries.push(`audit ${message.packetName}`);
    if (message.packetName !== 'system.notice') await next();
  }

  dispose(): void {
    this.#ledger.entries.push('filter disposed');
  }
}

test('[DISP-009] handler and filter classes of one dispatch share its scope, which is disposed once, whatever happens', async () => {
  const services = new Scopes();
  const server = makeServer({
    options: { services },
    with: (builder) => builder.addRequestHandler(Charge, ChargeHandler).addSendHandler(Notice, () => undefined),
  });
  server.addFilter(Audit);
  await server.start();
  const client = await startClient([server]);
  const charge = (orderId: string) => client.routeClient.requestToChannel(CHANNEL, Charge({ orderId })).submit();

  expect(await charge('7')).toEqual({ receipt: 'r-7' });
  expect((await rejection(charge('bad'))).kind).toBe('InternalFailure');
  await client.routeClient.sendToChannel(CHANNEL, Notice(1)).submit();
  await until(() => services.events.length === 3, 'all scopes are disposed');
  expect(services.events).toEqual([
    'scope 1 disposed: audit billing.charge, charge 7, handler disposed, filter disposed',
    'scope 2 disposed: audit billing.charge, charge bad, handler disposed, filter disposed',
    'scope 3 disposed: audit system.notice, filter disposed', // the filter did not go on
  ]);
  expect(services.opened).toBe(3);
});

test('[DISP-010] plain functions without filters open no scope, though the host has services', async () => {
  const services = new Scopes();
  const { client } = await startPair({ options: { services } });
  expect(await ask(client, 'plain')).toBe('plain');
  expect(services.opened).toBe(0);
});

test('[DISP-009] a container that fails costs its own dispatch only', async () => {
  let failures = 1;
  const scopes = new Scopes();
  const services: ServiceProvider = {
    createScope: () => {
      if (failures-- > 0) throw new Error('container is closed');
      return scopes.createScope();
    },
  };
  const { client } = await startPair({
    options: { services },
    with: (builder) => builder.addRequestHandler(Charge, ChargeHandler),
  });
  const charge = () => client.routeClient.requestToChannel(CHANNEL, Charge({ orderId: '7' })).submit();
  expect((await rejection(charge())).kind).toBe('InternalFailure');
  expect(await charge()).toEqual({ receipt: 'r-7' });
});
