import { HandlerRegistry } from '../../src/dispatch/index.ts';
import { Problems, ZLinkError } from '../../src/errors/index.ts';
import { message, type PacketKey, request } from '../../src/message/index.ts';

const Charge = request<{ amount: number }, { receipt: string }>('billing.charge');
const Notice = message<{ text: string }>('billing.notice');

function problemsOf(register: (handlers: HandlerRegistry<unknown>) => void): readonly string[] {
  const problems = new Problems();
  const handlers = new HandlerRegistry<unknown>('channel "billing"');
  register(handlers);
  handlers.freeze(problems);
  try {
    problems.throwIfAny();
  } catch (error) {
    return (error as { problems: readonly string[] }).problems;
  }
  return [];
}

test('[DISP-002] a key is verb and packet, and the same packet may be registered with every other owner', () => {
  const problems = new Problems();
  const tables = ['a', 'b'].map((owner) =>
    new HandlerRegistry<unknown>(owner)
      .addSend(Charge as PacketKey<{ amount: number }>, () => undefined)
      .addRequest(Charge, () => ({ receipt: '' }))
      .freeze(problems),
  );
  expect(() => problems.throwIfAny()).not.toThrow();
  for (const verb of ['send', 'request'] as const)
    for (const table of tables) expect(table.find(verb, 'billing.charge')?.verb).toBe(verb);
  expect(tables[0]?.find('request', 'billing.Charge')).toBeUndefined();
});

test('[DISP-002] the same key twice is a mistake, by whatever descriptor or class it is named', () => {
  class Named {
    static readonly packetName = 'billing.notice';
  }
  const problems = problemsOf((handlers) =>
    handlers
      .addSend(Notice, () => undefined)
      .addSend(message('billing.notice'), () => undefined)
      .addSend(Named, () => undefined)
      .addRequest(Charge, () => ({ receipt: '' }))
      .addRequest(Charge, () => ({ receipt: '' })),
  );
  expect(problems).toEqual([
    'channel "billing": send handler of packet "billing.notice" is registered twice',
    'channel "billing": send handler of packet "billing.notice" is registered twice',
    'channel "billing": request handler of packet "billing.charge" is registered twice',
  ]);
});

test('[HOSTREG-006] a request handler for a one-way message is a mistake', () => {
  const problems = problemsOf((handlers) => handlers.addRequest(Notice as never, () => undefined));
  expect(problems).toEqual([
    'channel "billing": request handler of packet "billing.notice": the packet is a one-way message',
  ]);
});

test('[ERR-002] all mistakes of a registry are reported together', () => {
  class BadInject {
    static readonly inject = ['no class'];
    handle(): void {
      // Never called.
    }
  }
  const problems = problemsOf((handlers) => {
    handlers.addSend(Notice, 'no function' as never);
    handlers.addSend({} as never, () => undefined);
    handlers.addSend(Charge, BadInject);
    handlers.addRequest(Notice as never, () => undefined);
  });
  expect(problems).toHaveLength(4);
  expect(problems[0]).toContain('"no function" is neither a function nor a class');
  expect(problems[1]).toContain('packet of a send handler');
  expect(problems[2]).toContain('static inject');
});

test.each<[string, unknown, string, string]>([
  [
    'a name',
    'billing.ask',
    '"billing.ask" is a name, declare it: message("billing.ask")',
    '"billing.ask" is a name, declare it: request("billing.ask")',
  ],
  [
    'nothing',
    undefined,
    "undefined is neither a declaration, made by message('name'), nor a class",
    "undefined is neither a declaration, made by request('name'), nor a class",
  ],
])('[ERR-002] %s in place of a packet: the mistake says what to write', (_, packet, ofSend, ofRequest) => {
  const problems = problemsOf((handlers) =>
    handlers.addSend(packet as never, () => undefined).addRequest(packet as never, () => undefined),
  );
  expect(problems).toEqual([
    `channel "billing": packet of a send handler: ${ofSend}`,
    `channel "billing": packet of a request handler: ${ofRequest}`,
  ]);
});

test('[HOSTREG-006] a registry is empty until something is registered, by mistake or not', () => {
  const handlers = new HandlerRegistry<unknown>('channel "billing"');
  expect(handlers.isEmpty).toBe(true);
  handlers.addSend(Notice, undefined as never);
  handlers.freeze(new Problems());
  expect(handlers.isEmpty).toBe(false);
});

test('[HOSTREG-004] nothing is registered after the start', () => {
  const handlers = new HandlerRegistry<unknown>('channel "billing"');
  handlers.freeze(new Problems());
  expect(() => handlers.addSend(Notice, () => undefined)).toThrow(ZLinkError);
});

test('[MSG-002] a class is a packet key, and a handler class is told from a function', () => {
  class Ping {}
  class OnPing {
    handle(): void {
      // Never called.
    }
  }
  const problems = new Problems();
  const table = new HandlerRegistry<unknown>('a')
    .addSend(Ping, OnPing)
    .addSend(Notice, function (): void {
      // An ordinary function has a prototype, too.
    })
    .freeze(problems);
  expect(() => problems.throwIfAny()).not.toThrow();
  expect(table.find('send', 'Ping')).toMatchObject({ call: undefined, type: OnPing, declaredType: Ping });
  expect(table.find('send', 'billing.notice')?.call).toBeInstanceOf(Function);
});
