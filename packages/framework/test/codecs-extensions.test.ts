/** MessagePack and Protobuf beside JSON: between two hosts, and as docs/codecs.md compares them. */
import { runInNewContext } from 'node:vm';
import { msgpack } from '@zlink/codec-msgpack';
import { protobuf } from '@zlink/codec-protobuf';
import { type Codec, type CodecExtension, type Host, request } from '@zlink/framework';
import protobufjs from 'protobufjs';
import { CodecRegistry, type CodecTable } from '@zlink/kernel/codec';
import { Problems } from '@zlink/kernel/errors';
import { readDoc } from './doc-programs.ts';
import { endpointOf, makeHost } from './hosts.ts';
import { rejection } from './outcome.ts';
import { CHANNEL } from './packets.ts';

class EntryReply {
  id = 0n;
}
class PackedReply {
  readonly reply = true;
}

/** One contract for each codec; they echo what they get. */
const PlainEcho = request<unknown, unknown>('echo.plain');
const PackedEcho = request<unknown, unknown>('echo.packed', { reply: { declaredType: PackedReply } });
const EntryEcho = request<unknown, EntryReply>('echo.entry', { reply: { declaredType: EntryReply } });
/** Sent by Protobuf, answered without a declared type. */
const EntryToPlain = request<unknown, unknown>('entry.to.plain');

const { root } = protobufjs.parse(
  `syntax = "proto3";
  message Entry { int64 id = 1; uint64 count = 2; double ratio = 3; string text = 4; bytes data = 5; map<string, int64> tags = 6; }`,
);
const packed = (): CodecExtension => msgpack({ types: [PackedEcho, PackedReply] });
const entries = (): CodecExtension =>
  protobuf({
    root,
    types: [
      [EntryEcho, 'Entry'],
      [EntryReply, 'Entry'],
      [EntryToPlain, 'Entry'],
    ],
  });

const seen: string[] = [];
const kept: unknown[] = [];
beforeEach(() => {
  seen.length = 0;
  kept.length = 0;
});

/** A server and a client, each with its own codecs; resolves with the client. */
async function connect(ofServer: CodecExtension[], ofClient: CodecExtension[]): Promise<Host> {
  const [server, client] = [makeHost(), makeHost()];
  for (const extension of ofServer) server.codecs().use(extension);
  for (const extension of ofClient) client.codecs().use(extension);
  const channel = server.addClientServerChannel(CHANNEL).server();
  for (const packet of [PlainEcho, PackedEcho, EntryEcho, EntryToPlain]) {
    channel.addRequestHandler<unknown, unknown>(packet, (value, { contentType }) => {
      seen.push(contentType);
      kept.push(value);
      return value;
    });
  }
  await server.start();
  client.addClientServerChannel(CHANNEL).client().connect(endpointOf(server));
  await client.start();
  await client.clientServerChannel(CHANNEL).whenReady(1);
  return client;
}

const ask = (client: Host, packet: (value: unknown) => object, value: unknown): Promise<unknown> =>
  client.routeClient.requestToChannel(CHANNEL, packet(value)).submit();

/** Puts these bytes on the wire under this content type, whatever is sent. */
function raw(contentType: string, bytes: Uint8Array): CodecExtension {
  const codec: Codec = { contentType, matches: () => true, encode: () => bytes, decode: () => 'raw' };
  return { register: (codecs) => void codecs.add(codec) };
}

const entry = {
  id: -(2n ** 63n),
  count: 2n ** 64n - 1n,
  ratio: -0,
  text: 'é',
  data: Uint8Array.of(0, 255),
  tags: { a: 1n },
};

test('[CODEC-004] [CODEC-006] the declared type decides which of three codecs serves, both ways', async () => {
  const client = await connect([packed(), entries()], [packed(), entries()]);
  expect(await ask(client, PlainEcho, { id: 1 })).toEqual({ id: 1 });
  expect(await ask(client, PackedEcho, entry)).toStrictEqual(entry);
  expect(await ask(client, EntryEcho, entry)).toStrictEqual(entry);
  expect(seen).toEqual(['application/json', 'application/msgpack', 'application/protobuf']);
});

test('[CODEC-004] MessagePack for all types serves whatever a later codec does not', async () => {
  const client = await connect([msgpack(), entries()], [msgpack(), entries()]);
  await ask(client, PlainEcho, { id: 1n });
  await ask(client, EntryEcho, {});
  expect(seen).toEqual(['application/msgpack', 'application/protobuf']);
});

test.each([
  ['MessagePack', packed, PackedEcho],
  ['Protobuf', entries, EntryEcho],
] as const)(
  '[CODEC-003] %s that the receiver does not have is a ProtocolError, never JSON',
  async (_name, own, packet) => {
    const client = await connect([], [own()]);
    const error = await rejection(ask(client, packet, { id: 1n }));
    expect(error).toMatchObject({ kind: 'ProtocolError', submitted: true });
    expect(error.message).toMatch(/content type "application\/(msgpack|protobuf)" is unknown here/);
    expect(seen).toEqual([]);
    expect(await ask(client, PlainEcho, 'still here')).toBe('still here');
  },
);

test('[CODEC-003] a reply in a codec that the caller does not have is a ProtocolError', async () => {
  const client = await connect([msgpack()], []);
  const error = await rejection(ask(client, PlainEcho, { id: 1 }));
  expect(error).toMatchObject({ kind: 'ProtocolError', submitted: true });
  expect(error.message).toContain('has content type "application/msgpack", which is not registered');
  expect(seen).toEqual(['application/json']);
});

test('[CODEC-004] a reply without a declared type is JSON, whatever the request was', async () => {
  const client = await connect([entries()], [entries()]);
  expect(await ask(client, EntryToPlain, { text: 'a' })).toMatchObject({ text: 'a', id: '0' });
  expect(seen).toEqual(['application/protobuf']);
});

const integers = [9_007_199_254_740_993n, 2n ** 63n - 1n, -(2n ** 63n), 0n];
test.each(integers)('[CODEC-006] [C23] %d arrives exactly in every codec', async (id) => {
  const client = await connect([packed(), entries()], [packed(), entries()]);
  expect(await ask(client, PackedEcho, { id })).toEqual({ id });
  expect(await ask(client, EntryEcho, { id })).toMatchObject({ id });
  expect(await ask(client, PlainEcho, { id })).toEqual({ id: String(id) });
  expect(kept).toMatchObject([{ id }, { id }, { id: String(id) }]);
});

test('[CODEC-006] [C23] an integer beyond 64 bits is refused before it is sent', async () => {
  const client = await connect([packed(), entries()], [packed(), entries()]);
  for (const packet of [PackedEcho, EntryEcho]) {
    expect(await rejection(ask(client, packet, { id: 2n ** 64n }))).toMatchObject({
      kind: 'InvalidOperation',
      submitted: false,
    });
  }
  expect(seen).toEqual([]);
});

test('[CODEC-006] [C24] dangerous keys arrive as own data in every codec', async () => {
  const client = await connect([packed(), entries()], [packed(), entries()]);
  const tags: unknown = JSON.parse('{"__proto__":1,"constructor":2,"hasOwnProperty":3}');
  const asBigints: unknown = JSON.parse('{"__proto__":1,"constructor":2,"hasOwnProperty":3}', (_key, value: unknown) =>
    typeof value === 'number' ? BigInt(value) : value,
  );
  expect(await ask(client, PlainEcho, { tags })).toStrictEqual({ tags });
  expect(await ask(client, PackedEcho, { tags })).toStrictEqual({ tags });
  expect(await ask(client, EntryEcho, { tags: asBigints })).toMatchObject({ tags: asBigints });
  for (const value of kept) {
    const { tags: arrived } = value as { tags: object }; // as the three were sent
    expect(Object.keys(arrived).sort()).toEqual(['__proto__', 'constructor', 'hasOwnProperty']);
    expect(Object.getPrototypeOf(arrived)).toBe(Object.prototype);
  }
  expect({}).not.toHaveProperty('polluted');
});

const hex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'hex'));
test.each([
  ['invalid UTF-8 in MessagePack', 'application/msgpack', PackedEcho, hex('a2c328')],
  ['an announced array of 4 billion', 'application/msgpack', PackedEcho, hex('ddffffffff')],
  ['16 KiB of arrays in one another', 'application/msgpack', PackedEcho, new Uint8Array(16_384).fill(0x91)],
  ['invalid UTF-8 in Protobuf', 'application/protobuf', EntryEcho, hex('2202c328')],
  ['groups in one another', 'application/protobuf', EntryEcho, new Uint8Array(16_384).fill(0x7b)],
] as const)(
  '[CODEC-006] [C22] %s is answered with a ProtocolError, and the server goes on',
  async (_what, type, packet, bytes) => {
    const client = await connect([packed(), entries()], [raw(type, bytes)]);
    for (let time = 0; time < 20; time++)
      expect(await rejection(ask(client, packet, 'anything'))).toMatchObject({
        kind: 'ProtocolError',
        submitted: true,
      });
    expect(seen).toEqual([]);
  },
);

test('[CODEC-007] large bytes go by reference and arrive as a copy that nothing overwrites', async () => {
  const client = await connect([packed(), entries()], [packed(), entries()]);
  const data = (fill: number): Uint8Array => new Uint8Array(300_000).fill(fill);
  const fills = [1, 2, 3, 4, 5, 6];
  await Promise.all(fills.map((fill) => ask(client, fill % 2 === 0 ? PackedEcho : EntryEcho, { data: data(fill) })));
  expect(kept).toHaveLength(fills.length);
  const arrived = kept.map((value) => (value as { data: Uint8Array }).data); // as they were sent
  expect(arrived.map((bytes) => bytes[0]).sort()).toEqual(fills);
  for (const bytes of arrived) expect(bytes.every((byte) => byte === bytes[0])).toBe(true);
});

describe('docs/codecs.md', () => {
  class Holder {}

  /** The three codecs; Protobuf with a `value` of this type in the message. */
  function tableFor(field: string): CodecTable {
    const source = `syntax = "proto3"; message Holder { ${field} value = 1; } message Point { double x = 1; }`;
    const registry = new CodecRegistry();
    registry.use(msgpack());
    registry.use(protobuf({ root: protobufjs.parse(source).root, types: [[Holder, 'Holder']] }));
    return registry.freeze(new Problems());
  }

  const evaluate = (text: string): unknown => runInNewContext(`(${text})`);
  const expressions = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text);
  const cellsOf = (line: string): string[] =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());

  function expectation(cell: string, sent: unknown): unknown {
    if (cell === 'the same') return { value: sent };
    return cell === 'left out' ? {} : { value: evaluate(expressions(cell)[0] ?? '') };
  }

  const rows = [...readDoc('codecs.md').matchAll(/^\| `.*`[^|]*\|[^|]*\|[^|]*\|[^|]*\| `.*` +\|$/gm)].map(([line]) =>
    cellsOf(line),
  );

  test('[CODEC-006] [CODEC-005] says what each codec makes of values', () => {
    expect(rows.length).toBeGreaterThan(20);
    for (const [sent = '', json = '', packed = '', entry = '', field = ''] of rows) {
      const table = tableFor(expressions(field)[0] ?? '');
      const cells = { 'application/json': json, 'application/msgpack': packed, 'application/protobuf': entry };
      for (const text of expressions(sent)) {
        const value = evaluate(text);
        for (const [contentType, cell] of Object.entries(cells)) {
          const codec = table.byContentType(contentType)!;
          const overTheWire = (): unknown => codec.decode(codec.encode({ value }, Holder), Holder);
          if (cell === 'refused') expect(overTheWire).toThrow(/^\[InvalidOperation\]/);
          else expect([text, contentType, overTheWire()]).toEqual([text, contentType, expectation(cell, value)]);
        }
      }
    }
  });

  test('[CODEC-006] says how deep each codec goes', () => {
    const depths = /^\| levels of nesting that are sent +\| (\d+) +\| (\d+) [^|]*\| (\d+) /m.exec(readDoc('codecs.md'));
    expect(depths).not.toBeNull();
    const table = tableFor('Holder');
    const types = ['application/json', 'application/msgpack', 'application/protobuf'];
    for (const [index, contentType] of types.entries()) {
      const codec = table.byContentType(contentType)!;
      const levels = Number(depths?.[index + 1]);
      let value: object = {};
      for (let level = 1; level < levels; level++) value = { value };
      expect(() => codec.decode(codec.encode(value, Holder), Holder)).not.toThrow();
      expect(() => codec.encode({ value }, Holder)).toThrow(/^\[InvalidOperation\]/);
    }
  });
});
