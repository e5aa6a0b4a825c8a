/** Looks at codecs: which one is chosen, and what becomes of values; in a host of its own that calls itself. */
import { msgpack } from '@zlink/codec-msgpack';
import { protobuf } from '@zlink/codec-protobuf';
import {
  type Codec,
  type CodecExtension,
  ConfigurationError,
  createHost,
  type Host,
  message,
  request,
  type RequestType,
  ZLinkMessage,
} from '@zlink/framework';
import { codecSuite } from '@zlink/testing';
import protobufjs from 'protobufjs';
import { errorFacts } from '../facts.ts';
import type { ProbeSite } from '../probes.ts';

const CHANNEL = 'values';
const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

type AnyRequest = RequestType<unknown, unknown>;

interface Received {
  readonly value: unknown;
  readonly contentType: string;
}

/** A host that calls itself through its sockets, and what its handlers got. */
class Loop {
  readonly host: Host;
  readonly received: Received[] = [];

  constructor(extensions: readonly CodecExtension[]) {
    this.host = createHost({ logger: quiet, onUnhandled: () => undefined, testing: { allowSeveralHosts: true } });
    for (const extension of extensions) this.host.codecs().use(extension);
  }

  async start(packets: readonly (AnyRequest | (new (...args: never[]) => unknown))[]): Promise<this> {
    const channel = this.host.addClientServerChannel(CHANNEL);
    channel.client();
    const server = channel.server();
    for (const packet of packets) {
      server.addRequestHandler(packet, (value, { contentType }) => {
        this.received.push({ value, contentType });
        return null;
      });
    }
    await this.host.start();
    return this;
  }

  async ask(what: object): Promise<Received> {
    await this.host.routeClient.requestToChannel(CHANNEL, what).submit();
    return this.received.at(-1)!; // a handler has just run
  }

  async kind(what: object): Promise<string> {
    try {
      await this.ask(what);
      return 'ok';
    } catch (error) {
      const { kind, name } = errorFacts(error);
      return kind ?? name;
    }
  }
}

function codecOf(contentType: string, matches: Codec['matches']): Codec {
  return {
    contentType,
    matches,
    encode: (value) => new TextEncoder().encode(JSON.stringify(value)),
    decode: (bytes) => JSON.parse(new TextDecoder().decode(bytes)) as unknown,
  };
}

const extensionOf = (...codecs: readonly Codec[]): CodecExtension => ({
  register: (registrar) => {
    for (const codec of codecs) registrar.add(codec);
  },
});

export async function contentTypeEnds(_site: ProbeSite): Promise<Record<string, unknown>> {
  const refused: string[] = [];
  const accepted: string[] = [];
  const candidates = [
    'application/x-one',
    ' \tApplication/X-ONE\t ',
    "application/x-!#$%&'*+-.^_`|~1",
    'application/x-one; charset=utf-8',
    'application/ x-one',
    'application/x one',
    'application',
    '/x',
    'application/',
    '',
    'application/xö',
    'a/b/c',
  ];
  for (const contentType of candidates) {
    const host = createHost({ testing: { allowSeveralHosts: true } });
    host.codecs().use(extensionOf(codecOf(contentType, () => false)));
    try {
      await host.start();
      accepted.push(contentType);
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      refused.push(contentType);
    }
    await host.shutdown();
  }
  const Packet = request<unknown, unknown>('typed');
  let encodedBy = '';
  const named = (name: string, contentType: string): Codec => ({
    ...codecOf(contentType, (type) => type === Packet),
    encode: (value) => {
      encodedBy = name;
      return new TextEncoder().encode(JSON.stringify(value));
    },
  });
  const loop = new Loop([extensionOf(named('first', 'application/x-one'), named('second', ' Application/X-One '))]);
  await loop.start([Packet]);
  const { contentType } = await loop.ask(Packet(1));
  await loop.host.shutdown();
  return { accepted, refused, later: encodedBy, onTheWire: contentType };
}

class Early {
  readonly kind: string = 'early';
}

class LateEarly extends Early {
  override readonly kind: string = 'sub';
}

export async function codecChoices(_site: ProbeSite): Promise<{
  readonly chosen: Record<string, string>;
  readonly repeatedAsks: number;
  readonly asksBeyondLimit: number;
}> {
  const Both = request<unknown, unknown>('both');
  const First = request<unknown, unknown>('first');
  const None = request<unknown, unknown>('none');
  const asked = new Map<unknown, number>();
  const early = codecOf('application/x-early', (type) => type === Both || type === First || type === Early);
  const late = codecOf('application/x-late', (type) => {
    asked.set(type, (asked.get(type) ?? 0) + 1);
    return type === Both;
  });
  const loop = await new Loop([extensionOf(early), extensionOf(late)]).start([Both, First, None, Early]);
  const chosen = {
    both: (await loop.ask(Both(1))).contentType,
    first: (await loop.ask(First(1))).contentType,
    none: (await loop.ask(None(1))).contentType,
    instanceOfSubclass: (await loop.ask(ZLinkMessage.from(new LateEarly(), Early))).contentType,
  };
  const before = asked.get(First) ?? 0;
  for (let call = 0; call < 5; call++) await loop.ask(First(1));
  const repeatedAsks = (asked.get(First) ?? 0) - before;
  const { routeClient } = loop.host;
  const types = Array.from({ length: 1_100 }, (_, number) => message<unknown>(`type-${number}`));
  for (const type of types) await routeClient.sendToChannel(CHANNEL, type(1)).submit();
  const last = types.at(-1)!; // there are 1,100
  for (let call = 0; call < 2; call++) await routeClient.sendToChannel(CHANNEL, last(1)).submit();
  await loop.ask(First(1)); // everything before it has arrived
  const asksBeyondLimit = asked.get(last) ?? 0;
  await loop.host.shutdown();
  return { chosen, repeatedAsks, asksBeyondLimit };
}

export async function jsonProfile(_site: ProbeSite): Promise<{
  readonly sent: unknown;
  readonly refused: Record<string, string>;
  readonly prototype: { readonly ownKey: boolean; readonly polluted: boolean };
}> {
  const Packet = request<unknown, unknown>('json');
  const loop = await new Loop([]).start([Packet]);
  const circle: Record<string, unknown> = {};
  circle['self'] = circle;
  const { value: sent } = await loop.ask(
    Packet({
      text: '"\\ud83d" is no text, 😀 is',
      integer: 9_007_199_254_740_991,
      bigint: 9_223_372_036_854_775_807n,
      bytes: Uint8Array.of(1, 2, 255),
      nothing: null,
      holes: [1, undefined],
      unset: { a: undefined },
      own: new (class {
        x = 1;
        #y = 2;
        sum(): number {
          return this.x + this.#y;
        }
      })(),
    }),
  );
  const refused = {
    nan: await loop.kind(Packet({ a: NaN })),
    infinity: await loop.kind(Packet([Infinity])),
    date: await loop.kind(Packet({ at: new Date(0) })),
    map: await loop.kind(Packet(new Map())),
    circle: await loop.kind(Packet(circle)),
  };
  const { value } = await loop.ask(Packet(JSON.parse('{"__proto__":{"polluted":1},"constructor":{"x":1}}')));
  const received = value as Record<string, unknown>;
  await loop.host.shutdown();
  return {
    sent,
    refused,
    prototype: {
      ownKey: Object.hasOwn(received, '__proto__') && Object.hasOwn(received, 'constructor'),
      polluted: received['polluted'] !== undefined || ({} as Record<string, unknown>)['polluted'] !== undefined,
    },
  };
}

export async function packedValues(_site: ProbeSite): Promise<Record<string, unknown>> {
  const big = -9_223_372_036_854_775_808n;
  const bytes = Uint8Array.of(1, 2, 255);
  const Packed = request<unknown, unknown>('packed');
  const packing = await new Loop([msgpack()]).start([Packed]);
  const date = new Date(1_234_567_890_123);
  const packed = (await packing.ask(Packed({ big, bytes, date, nested: [1, { a: true }] }))).value as {
    big: bigint;
    bytes: Uint8Array;
    date: Date;
    nested: unknown;
  };
  const unfit = await packing.kind(Packed(new Map()));
  await packing.host.shutdown();

  const { root } = protobufjs.parse(
    'syntax = "proto3"; message Values { sint64 big = 1; bytes bytes = 2; repeated sint32 list = 3; }',
  );
  const Typed = request<unknown, unknown>('typed');
  const typing = await new Loop([protobuf({ root, types: [[Typed, 'Values']] })]).start([Typed]);
  const typed = (await typing.ask(Typed({ big, bytes, list: [1, -1] }))).value as {
    big: bigint;
    bytes: Uint8Array;
    list: readonly number[];
  };
  const server = await new Loop([protobuf({ root, types: [] })]).start([Typed]);
  const client = createHost({ logger: quiet, testing: { allowSeveralHosts: true } });
  client.codecs().use(protobuf({ root, types: [[Typed, 'Values']] }));
  client
    .addClientServerChannel(CHANNEL)
    .client()
    .connect(server.host.clientServerChannel(CHANNEL).endpoint ?? '');
  await client.start();
  let unknownType = 'ok';
  try {
    await client.routeClient.requestToChannel(CHANNEL, Typed({ big, bytes, list: [] })).submit();
  } catch (error) {
    unknownType = errorFacts(error).kind ?? 'untyped';
  }
  await Promise.all([typing.host.shutdown(), server.host.shutdown(), client.shutdown()]);
  return {
    msgpack: { big: String(packed.big), bytes: [...packed.bytes], date: packed.date.getTime(), nested: packed.nested },
    protobuf: { big: String(typed.big), bytes: [...typed.bytes], list: [...typed.list] },
    unknownType,
    unfit,
  };
}

/** What the suite for codecs says of MessagePack, or of one that loses what it decodes. */
export async function codecSuiteEnds(
  _site: ProbeSite,
  isSound: boolean,
): Promise<{ readonly passed: number; readonly failed: readonly string[] }> {
  const create = (options: Parameters<typeof msgpack>[0] = {}): Codec => {
    let found: Codec | undefined;
    const registrar = {
      add: (codec: Codec) => {
        found = codec;
        return registrar;
      },
    };
    msgpack(options).register(registrar);
    const codec = found!; // it registers one
    if (isSound) return codec;
    const { contentType } = codec;
    return {
      contentType,
      matches: (type) => codec.matches(type),
      encode: (value, type) => codec.encode(value, type),
      decode: (bytes, type) => {
        codec.decode(bytes, type);
        return undefined;
      },
    };
  };
  const cases: { readonly title: string; readonly run: () => Promise<void> }[] = [];
  codecSuite(
    'cases',
    {
      create: () => create(),
      createBounded: (maxBytes) => create({ maxBytes }),
      contentType: 'application/msgpack',
      value: (random) => ({ number: Math.floor(random() * 1_000), list: ['a', null, true, 2n ** 60n] }),
      holding: (text) => ({ some: [{ text }] }),
      refused: (text) => [new Map([[text, text]]), { a: [Symbol(text), text] }, [new Error(text)]],
      nested: {
        maxLevels: 512,
        value: nestedArrays,
        payload: (levels) => Uint8Array.from({ length: levels }, (_, level) => (level < levels - 1 ? 0x91 : 0x90)),
      },
      payloadOfText: (bytes) => Uint8Array.from([0xa0 + bytes.length, ...bytes]),
      payloadOfKey: (key) => Uint8Array.from([0x91, 0x81, 0xa0 + key.length, ...new TextEncoder().encode(key), 0x01]),
    },
    { describe: (_title, register) => register(), test: (title, run) => void cases.push({ title, run }) },
  );
  const failed: string[] = [];
  for (const { title, run } of cases) {
    await run().catch((error: unknown) => failed.push(`${title}: ${errorFacts(error).message.slice(0, 200)}`));
  }
  return { passed: cases.length - failed.length, failed };
}

function nestedArrays(levels: number): unknown {
  let arrays: unknown = [];
  for (let level = 1; level < levels; level++) arrays = [arrays];
  return arrays;
}
