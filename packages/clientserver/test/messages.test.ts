import type { Codec } from '@zlink/kernel/codec';
import type { ChannelContext } from '@zlink/kernel/dispatch';
import { ZLinkError } from '@zlink/kernel/errors';
import type { PipeEngine } from '@zlink/kernel/internal/transport';
import { RecordKind } from '@zlink/kernel/internal/wire';
import { message, metadata, request, type StandardSchemaV1, ZLinkMessage } from '@zlink/kernel/message';
import { loopTurns, until } from '@zlink/testing';
import { Gate, rejection, watch } from '@zlink/testing/internal';
import { type Cluster, arrangeCluster } from './cluster.ts';
import { CHANNEL, endpointOf, startClient, startServer } from './arrange.ts';
import { Ask, Charge, Notice } from './packets.ts';
import { engineWithoutLimits, RawPeer } from './raw-peer.ts';
import type { TestHost } from './test-host.ts';

/** A raw client with its link to `server` ready. */
async function rawClient(cluster: Cluster, server: TestHost, engine?: PipeEngine): Promise<RawPeer> {
  const peer = cluster.add(new RawPeer(cluster, CHANNEL, engine));
  peer.dial(endpointOf(server));
  await until(() => peer.links.length === 1, 'the raw client is admitted');
  return peer;
}

test('[MSG-006] a request completes with its reply; a send with nothing, and before the handler has run', async () => {
  const cluster = arrangeCluster();
  const notices: string[] = [];
  const gate = new Gate();
  const server = await startServer(cluster, 'server', {
    with: (s) =>
      s
        .addRequestHandler(Charge, async ({ orderId }) => ({ receipt: `r-${orderId}` }))
        .addSendHandler(Notice, async ({ text }) => {
          await gate.opened;
          notices.push(text);
        }),
  });
  const client = await startClient(cluster, [server]);
  await expect(client.request(CHANNEL, Charge({ orderId: '7' })).submit()).resolves.toEqual({ receipt: 'r-7' });
  await expect(client.send(CHANNEL, Notice({ text: 'hello' })).submit()).resolves.toBeUndefined();
  expect(server.counters(CHANNEL, 'send').accepted).toBe(0); // not even arrived
  gate.open();
  await until(() => notices.length === 1, 'the notice is handled');
  expect(server.counters(CHANNEL, 'send')).toMatchObject({ accepted: 1, handled: 1 });
});

test('[CALL-001] over a ready link a send is accepted within the call', async () => {
  const cluster = arrangeCluster();
  const server = await startServer(cluster, 'server', { with: (s) => s.addSendHandler(Notice, () => undefined) });
  const client = await startClient(cluster, [server]);
  const outcome = watch(client.send(CHANNEL, Notice({ text: 'x' })).submit());
  await Promise.resolve();
  expect(outcome).toEqual({ state: 'resolved', value: undefined });
});

test('[DISP-003] a handler sees the logical facts of its message and nothing else', async () => {
  const cluster = arrangeCluster();
  const contexts: ChannelContext[] = [];
  const server = await startServer(cluster, 'server', {
    answer: (_, context) => (contexts.push(context), 1),
    with: (s) => s.addSendHandler(Notice, (_, context) => void contexts.push(context)),
  });
  const client = await startClient(cluster, [server]);
  await client.request(CHANNEL, Ask(1)).submit();
  await client.send(CHANNEL, Notice({ text: 'x' })).submit();
  await until(() => contexts.length === 2, 'both are handled');
  const facts = contexts.map(({ channelName, kind, packetName, contentType, correlationId }) => {
    return { channelName, kind, packetName, contentType, correlationId };
  });
  const common = { channelName: CHANNEL, contentType: 'application/json' };
  expect(facts).toEqual([
    { ...common, kind: 'request', packetName: 'billing.ask', correlationId: expect.any(String) as string },
    { ...common, kind: 'send', packetName: 'system.notice', correlationId: undefined },
  ]);
  expect('meshName' in contexts[0]!).toBe(false);
});

test('[MSG-010] [CHAN-005] metadata reaches the handler, the last value of a key', async () => {
  const cluster = arrangeCluster();
  const seen: [string, string][][] = [];
  const keep = (_: unknown, context: ChannelContext): void =>
    void seen.push([...context.metadata] as [string, string][]);
  const server = await startServer(cluster, 'server', { answer: keep, with: (s) => s.addSendHandler(Notice, keep) });
  const client = await startClient(cluster, [server]);
  const shared = metadata({ tenant: '42', región: 'süd' });
  await client.request(CHANNEL, Ask(1)).metadata('tenant', '7').metadata(shared).metadata('b', '').submit();
  await client
    .send(CHANNEL, Notice({ text: 'x' }))
    .metadata(shared)
    .metadata('tenant', '8')
    .submit();
  await client.request(CHANNEL, Ask(1)).submit();
  expect(seen).toEqual([
    [
      ['tenant', '42'],
      ['región', 'süd'],
      ['b', ''],
    ],
    [
      ['tenant', '8'],
      ['región', 'süd'],
    ],
    [],
  ]);
});

test('[MSG-010] [ERR-005] metadata that is not allowed fails the call here; the server never hears of it', async () => {
  const cluster = arrangeCluster();
  const server = await startServer(cluster, 'server', { with: (s) => s.addSendHandler(Notice, () => undefined) });
  const client = await startClient(cluster, [server]);
  const text = 'v'.repeat(1_025);
  expect(await rejection(client.request(CHANNEL, Ask(1)).metadata('k', text).submit())).toMatchObject({
    kind: 'InvalidOperation',
    submitted: false,
  });
  expect(
    (
      await rejection(
        client
          .send(CHANNEL, Notice({ text: '' }))
          .metadata('k', text)
          .submit(),
      )
    ).kind,
  ).toBe('InvalidOperation');
  await loopTurns(8);
  expect(server.counters(CHANNEL, 'request').accepted + server.counters(CHANNEL, 'send').accepted).toBe(0);
});

test('[MSG-011] the metadata of a handler is frozen and stays what it was until the handler ends', async () => {
  const cluster = arrangeCluster();
  const gate = new Gate();
  let context: ChannelContext | undefined;
  const server = await startServer(cluster, 'server', {
    answer: async (_, given) => {
      context ??= given;
      await gate.opened;
      return given.metadata.get('n');
    },
  });
  const client = await startClient(cluster, [server]);
  const first = client.request(CHANNEL, Ask(1)).metadata('n', 'first').submit();
  await until(() => context !== undefined, 'the handler runs');
  const many = Array.from({ length: 50 }, (_, i) => client.request(CHANNEL, Ask(1)).metadata('n', `${i}`).submit());
  await loopTurns(4);
  const { metadata: held } = context!; // awaited above
  expect(Object.isFrozen(held)).toBe(true);
  expect(Object.keys(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(held))).sort()).toEqual(
    ['constructor', 'get', 'has', 'size'].sort(),
  );
  gate.open();
  await expect(first).resolves.toBe('first');
  await expect(Promise.all(many)).resolves.toEqual(many.map((_, i) => `${i}`));
  expect(held.get('n')).toBe('first');
});

test.each([
  ['a length past the end', [5, 97]],
  ['a key twice', [1, 97, 0, 1, 97, 0]],
  ['a key without value', [1, 97]],
  ['bytes that are no UTF-8', [1, 0xff, 0]],
  ['NUL', [1, 0, 0]],
  ['a length in a longer form', [0x81, 0, 97, 0]],
])('[MSG-011] metadata with %s keeps the handler from running', async (_, bytes) => {
  const cluster = arrangeCluster();
  const calls: unknown[] = [];
  const server = await startServer(cluster, 'server', {
    answer: (given) => (calls.push(given), 'ran'),
    with: (s) => s.addSendHandler(Notice, (given) => void calls.push(given)),
  });
  const peer = await rawClient(cluster, server);
  const bad = Uint8Array.from(bytes);
  peer.submit(RecordKind.send, { metadata: bad, packetName: 'system.notice' });
  const ended = peer.submit(RecordKind.request, { metadata: bad });
  const good = peer.submit(RecordKind.request, { payload: '"after"' });
  await until(() => good.reply !== undefined, 'the next request is answered');
  expect(ended.reply).toMatchObject({ kind: RecordKind.error, errorKind: 'ProtocolError' });
  expect(calls).toEqual(['after']);
  expect(server.counters(CHANNEL, 'send').dropped).toEqual({ decode_error: 1 });
  expect(server.log).toContainEqual(expect.objectContaining({ reason: 'decode_error', action: 'drop' }));
});

test('[MSG-012] metadata follows neither the reply nor a call that the handler starts', async () => {
  const cluster = arrangeCluster();
  const sizes: number[] = [];
  const last = cluster.host('last');
  last
    .channel('stock')
    .server()
    .addRequestHandler(Ask, (_, { metadata: given }) => (sizes.push(given.size), 'stock'));
  await last.start();
  const middle = cluster.host('middle');
  middle
    .channel('stock')
    .client()
    .connect(last.channel('stock').endpoint ?? '');
  middle
    .channel(CHANNEL)
    .server()
    .addRequestHandler(Ask, async (_, context) => {
      sizes.push(context.metadata.size);
      return middle.request('stock', Ask(1)).submit(context.signal);
    });
  await middle.start();
  const peer = await rawClient(cluster, middle);
  const asked = peer.submit(RecordKind.request, { metadata: Uint8Array.of(1, 97, 1, 98), payload: '1' });
  await until(() => asked.reply !== undefined, 'the request is answered');
  expect(asked.reply).toMatchObject({ kind: RecordKind.reply, payload: '"stock"', metadata: undefined });
  expect(sizes).toEqual([1, 0]);
});

/** Text in upper case; says for which declared types it is. */
function shouting(contentType: string, matches: Codec['matches']): Codec {
  return {
    contentType,
    matches,
    encode: (value) => new TextEncoder().encode(`${contentType}:${String((value as { text: string }).text)}`),
    decode: (bytes) => ({ text: new TextDecoder().decode(bytes).toUpperCase() }),
  };
}

class Base {
  static readonly packetName: string = 'base';
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

class Derived extends Base {
  static override readonly packetName: string = 'derived';
}

test('[CODEC-004] the declared type chooses the codec, not the instance; of several the latest; of none JSON', async () => {
  const cluster = arrangeCluster();
  const isBase = (type: unknown): boolean => type === Base;
  const codecs = [
    shouting('text/x-early', isBase),
    shouting('text/x-late', isBase),
    shouting('text/x-derived', (type) => type === Derived),
  ];
  const seen: [string, string, string][] = [];
  const keep = (given: { text: string }, { packetName, contentType }: ChannelContext): void =>
    void seen.push([packetName, contentType, given.text]);
  const server = await startServer(cluster, 'server', {
    host: { codecs },
    with: (s) => s.addSendHandler(Base, keep).addSendHandler(Derived, keep).addSendHandler(Notice, keep),
  });
  const client = await startClient(cluster, [server], { host: { codecs } });
  const messages = [
    new Base('a'),
    new Derived('b'),
    ZLinkMessage.from(new Derived('c'), Base),
    ZLinkMessage.from({ text: 'd' }, Base),
    Notice({ text: 'e' }),
  ];
  for (const sendable of messages) await client.send(CHANNEL, sendable).submit();
  await until(() => seen.length === messages.length, 'all are handled');
  expect(seen).toEqual([
    ['base', 'text/x-late', 'TEXT/X-LATE:A'],
    ['derived', 'text/x-derived', 'TEXT/X-DERIVED:B'],
    ['base', 'text/x-late', 'TEXT/X-LATE:C'],
    ['base', 'text/x-late', 'TEXT/X-LATE:D'],
    ['system.notice', 'application/json', 'e'],
  ]);
});

test('[CODEC-004] the reply is encoded by the declared type of the reply, else by the class of its value', async () => {
  const cluster = arrangeCluster();
  const codecs = [shouting('text/x-base', (type) => type === Base)];
  const Declared = request<number, Base>('declared', { reply: { declaredType: Base } });
  const server = await startServer(cluster, 'server', {
    host: { codecs },
    answer: () => new Base('by value'),
    with: (s) => s.addRequestHandler(Declared, () => ({ text: 'by declaration' })),
  });
  const client = await startClient(cluster, [server], { host: { codecs } });
  await expect(client.request(CHANNEL, Ask(1)).submit()).resolves.toEqual({ text: 'TEXT/X-BASE:BY VALUE' });
  await expect(client.request(CHANNEL, Declared(1)).submit()).resolves.toEqual({ text: 'TEXT/X-BASE:BY DECLARATION' });
});

test.each(['application/JSON', ' application/json', 'application/json;charset=utf-8', 'text/json', ''])(
  '[CODEC-003] content type %p on the wire is never treated as JSON',
  async (contentType) => {
    const cluster = arrangeCluster();
    const server = await startServer(cluster, 'server', { with: (s) => s.addSendHandler(Notice, () => undefined) });
    const peer = await rawClient(cluster, server);
    const asked = peer.submit(RecordKind.request, { contentType, payload: '1' });
    peer.submit(RecordKind.send, { contentType, payload: '{"text":"x"}', packetName: 'system.notice' });
    await until(() => server.counters(CHANNEL, 'send').accepted === 1, 'both have arrived');
    await until(() => asked.reply !== undefined, 'the request is answered');
    expect(asked.reply).toMatchObject({ kind: RecordKind.error, errorKind: 'ProtocolError' });
    expect(server.counters(CHANNEL, 'request')).toMatchObject({ handled: 0, dropped: { decode_error: 1 } });
    expect(server.counters(CHANNEL, 'send')).toMatchObject({ handled: 0, dropped: { decode_error: 1 } });
  },
);

test('[CODEC-003] a codec that only one side has is a ProtocolError for the caller, on the way there and back', async () => {
  const cluster = arrangeCluster();
  const codecs = [shouting('text/x-base', (type) => type === Base)];
  const plain = await startServer(cluster, 'plain', { with: (s) => s.addRequestHandler(Base, () => 1) });
  const asking = await startClient(cluster, [plain], { host: { codecs } });
  expect(await rejection(asking.request(CHANNEL, new Base('x')).submit())).toMatchObject({ kind: 'ProtocolError' });
  const special = await startServer(cluster, 'special', { host: { codecs }, answer: () => new Base('x') });
  const other = await startClient(cluster, [special], { name: 'other' });
  const error = await rejection(other.request(CHANNEL, Ask(1)).submit());
  expect(error).toMatchObject({ kind: 'ProtocolError', submitted: true });
  expect(error.message).toContain('"text/x-base", which is not registered');
});

test('[CS-006] what a server says unasked is dropped and recorded, never handled, and the link stays', async () => {
  const cluster = arrangeCluster();
  const raw = cluster.add(await new RawPeer(cluster, CHANNEL).listen());
  const handled: unknown[] = [];
  const client = cluster.host('client');
  const channel = client.channel(CHANNEL);
  channel.client().connect(raw.endpoint);
  const keep = (given: unknown): void => void handled.push(given);
  channel.server().addRequestHandler(Ask, keep).addSendHandler(Notice, keep); // same packets, same process
  await client.start();
  await channel.whenReady(2);
  channel.setWeight(0); // only the raw server is asked
  await loopTurns(8);
  const waiting = watch(client.request(CHANNEL, Ask('mine')).submit());
  await until(() => raw.received.length === 1, 'the request arrives');
  const [mine] = raw.received;
  raw.submit(RecordKind.send, { packetName: 'system.notice', payload: '{"text":"x"}' });
  raw.submit(RecordKind.request, { payload: '"theirs"' });
  raw.submit(RecordKind.reply, { correlation: 4_711, payload: '"nobody"' });
  raw.submit(RecordKind.error, { correlation: 4_712, errorKind: 'NotFound', payload: 'nobody' });
  await loopTurns(8);
  expect(waiting.state).toBe('pending');
  expect(handled).toEqual([]);
  raw.reply(mine!, { payload: '"yours"' });
  raw.reply(mine!, { payload: '"again"' }); // a second reply is nobody's
  await loopTurns(8);
  expect(waiting).toEqual({ state: 'resolved', value: 'yours' });
  const strays = client.log.filter(({ eventId }) => eventId === 'zlink.client_server.stray_message');
  expect(strays[0]).toMatchObject({ kind: 'ProtocolError', channel: CHANNEL, server: 'raw-1', what: 'send' });
  const stray = client.counters(CHANNEL, 'stray');
  expect(stray).toEqual({
    owner: CHANNEL,
    surface: 'channel',
    verb: 'stray',
    accepted: 5,
    handled: 0,
    failed: 0,
    dropped: { send: 1, request: 1, reply: 3 },
    running: 0,
    queued: 0,
  });
  expect([Object.isFrozen(stray), Object.isFrozen(stray.dropped)]).toEqual([true, true]);
  expect(['send', 'request'].map((verb) => client.counters(CHANNEL, verb as 'send').accepted)).toEqual([0, 0]);
  raw.answer = (asked) => raw.reply(asked, { payload: '"still here"' });
  await expect(client.request(CHANNEL, Ask(1)).submit()).resolves.toBe('still here');
  expect(raw.links).toHaveLength(1);
});

test('[CS-006] a request of the server is nothing that the client owes an answer: its link ends in order', async () => {
  const cluster = arrangeCluster();
  const raw = cluster.add(await new RawPeer(cluster, CHANNEL).listen());
  const client = await startClient(cluster, [raw.endpoint]);
  const asked = raw.submit(RecordKind.request);
  await until(() => client.log.length === 1, 'it was dropped');
  await client.close(); // the clock stands still: no linger has run out
  expect(asked).toMatchObject({
    reply: undefined,
    failure: expect.objectContaining({ kind: 'Unavailable' }) as unknown,
  });
});

test('[CS-006] a late reply never completes a later request', async () => {
  const cluster = arrangeCluster();
  const raw = cluster.add(await new RawPeer(cluster, CHANNEL).listen());
  const client = await startClient(cluster, [raw.endpoint]);
  const early = watch(client.request(CHANNEL, Ask('early')).timeoutMs(100).submit());
  await until(() => raw.received.length === 1, 'it arrives');
  await cluster.clock.advanceAsync(120);
  expect(early.value).toMatchObject({ kind: 'DeadlineExceeded', submitted: true });
  const later = watch(client.request(CHANNEL, Ask('later')).submit());
  await until(() => raw.received.length === 2, 'it arrives');
  raw.reply(raw.received[0]!, { payload: '"for early"' });
  await loopTurns(8);
  expect(later.state).toBe('pending');
  raw.reply(raw.received[1]!, { payload: '"for later"' });
  await loopTurns(8);
  expect(later).toEqual({ state: 'resolved', value: 'for later' });
  expect(early.value).toMatchObject({ kind: 'DeadlineExceeded' });
});

test('[CS-006] replies complete the requests they belong to, in whatever order they come', async () => {
  const cluster = arrangeCluster();
  const raw = cluster.add(await new RawPeer(cluster, CHANNEL).listen());
  const client = await startClient(cluster, [raw.endpoint]);
  const calls = Array.from({ length: 100 }, (_, i) => client.request(CHANNEL, Ask(i)).submit());
  await until(() => raw.received.length === 100, 'all arrive');
  for (const asked of [...raw.received].reverse()) raw.reply(asked, { payload: asked.payload });
  await expect(Promise.all(calls)).resolves.toEqual(calls.map((_, i) => i));
});

test('[CS-007] no handler, a payload that cannot be read and a handler that throws are structured error replies', async () => {
  const cluster = arrangeCluster();
  const server = await startServer(cluster, 'server', {
    answer: (given) => {
      if (given === 'typed') throw new ZLinkError('Rejected', 'order 7 is closed');
      throw new RangeError('inner detail');
    },
  });
  const client = await startClient(cluster, [server]);
  const Unknown = request<number, number>('unknown');
  const ends = await Promise.all([
    rejection(client.request(CHANNEL, Unknown(1)).submit()),
    rejection(client.request(CHANNEL, Ask('typed')).submit()),
    rejection(client.request(CHANNEL, Ask('other')).submit()),
  ]);
  expect(ends.map(({ kind, submitted }) => ({ kind, submitted }))).toEqual([
    { kind: 'NotFound', submitted: true },
    { kind: 'Rejected', submitted: true },
    { kind: 'InternalFailure', submitted: true },
  ]);
  expect(ends[0].message).toContain('no request handler of packet "unknown" in channel "billing" (server "server")');
  expect(ends[1].message).toBe('[Rejected] order 7 is closed');
  expect(ends[2].message).not.toContain('inner detail');
  const peer = await rawClient(cluster, server);
  const broken = peer.submit(RecordKind.request, { payload: '{"orderId":' });
  await until(() => broken.reply !== undefined, 'the broken payload is answered');
  expect(broken.reply).toMatchObject({ kind: RecordKind.error, errorKind: 'ProtocolError' });
  expect(server.unhandled.map(({ error }) => error)).toEqual([expect.any(RangeError)]);
});

test('[CS-007] a one-way message that cannot be handled is recorded and never answered', async () => {
  const cluster = arrangeCluster();
  const server = await startServer(cluster, 'server', {
    with: (s) =>
      s.addSendHandler(Notice, () => {
        throw new RangeError('inner detail');
      }),
  });
  const peer = await rawClient(cluster, server);
  peer.submit(RecordKind.send, { packetName: 'unknown' });
  peer.submit(RecordKind.send, { packetName: 'system.notice', payload: '{' });
  peer.submit(RecordKind.send, { packetName: 'system.notice', payload: '{"text":"x"}' });
  await until(() => server.counters(CHANNEL, 'send').accepted === 3, 'all arrive');
  await loopTurns(8);
  expect(server.counters(CHANNEL, 'send')).toMatchObject({ failed: 1, dropped: { no_handler: 1, decode_error: 1 } });
  const actions = server.log.map(({ reason, action }) => `${String(reason)} ${String(action)}`);
  expect(actions).toEqual(['no_handler drop', 'decode_error drop', 'handler_exception drop']);
  expect([...peer.received, ...peer.unmatched]).toEqual([]);
});

test('[CS-007] [CHAN-005] a downstream call of a handler has its own correlation and does not end the original request', async () => {
  const cluster = arrangeCluster();
  const ids: unknown[] = [];
  const last = cluster.host('last');
  last
    .channel('stock')
    .server()
    .addRequestHandler(Ask, () => 'from stock');
  await last.start();
  const middle = cluster.host('middle');
  middle
    .channel('stock')
    .client()
    .connect(last.channel('stock').endpoint ?? '');
  const gate = new Gate();
  middle
    .channel(CHANNEL)
    .server()
    .addRequestHandler(Ask, async (given, { correlationId }) => {
      ids.push(correlationId);
      const answer = await middle.request('stock', Ask(1)).submit();
      await gate.opened;
      return [given, answer];
    });
  await middle.start();
  const client = await startClient(cluster, [middle]);
  const first = watch(client.request(CHANNEL, Ask('first')).submit());
  const second = watch(client.request(CHANNEL, Ask('second')).submit());
  await loopTurns(20);
  // On their links both downstream calls have the correlations that the original requests have on theirs.
  expect(last.counters('stock', 'request').handled).toBe(2);
  expect([first.state, second.state]).toEqual(['pending', 'pending']);
  gate.open();
  await loopTurns(8);
  expect(first.value).toEqual(['first', 'from stock']);
  expect(second.value).toEqual(['second', 'from stock']);
  expect(new Set(ids).size).toBe(2);
});

test('[CHAN-005] a request ends by its own deadline, whatever other requests on the same link have', async () => {
  const cluster = arrangeCluster();
  const gate = new Gate();
  const server = await startServer(cluster, 'server', { answer: async (given) => (await gate.opened, given) });
  const client = await startClient(cluster, [server], { with: (c) => c.setRequestTimeoutMs(2_000) });
  const outcomes = [100, 500, 900].map((ms) => watch(client.request(CHANNEL, Ask(ms)).timeoutMs(ms).submit()));
  outcomes.push(watch(client.request(CHANNEL, Ask('path')).submit()));
  const states = (): string => outcomes.map(({ state }) => state[0]).join('');
  const seen: string[] = [];
  for (const ms of [99, 20, 380, 20, 381, 20, 1_070, 30]) {
    await cluster.clock.advanceAsync(ms);
    seen.push(states());
  }
  expect(seen).toEqual(['pppp', 'rppp', 'rppp', 'rrpp', 'rrpp', 'rrrp', 'rrrp', 'rrrr']);
  for (const { value } of outcomes) expect(value).toMatchObject({ kind: 'DeadlineExceeded', submitted: true });
  gate.open();
  await loopTurns(4);
  expect(server.counters(CHANNEL, 'request').dropped).toEqual({ reply_expired: 4 });
});

test('[CS-003] a message above the size limit is refused whole, here when the limit is known', async () => {
  const cluster = arrangeCluster();
  const server = await startServer(cluster, 'server', {
    with: (s) => s.maxMessageSize(1_000).addSendHandler(Notice, () => undefined),
  });
  const client = await startClient(cluster, [server]);
  const fitting = 'x'.repeat(998); // two quotes make it 1,000 bytes
  await expect(client.request(CHANNEL, Ask(fitting)).submit()).resolves.toBe('server');
  for (const call of [
    client.request(CHANNEL, Ask(`${fitting}x`)),
    client.request(CHANNEL, Ask(fitting)).metadata('a', ''),
    client.send(CHANNEL, Notice({ text: fitting })),
  ]) {
    const error = await rejection(call.submit());
    expect(error).toMatchObject({ kind: 'InvalidOperation', submitted: false });
    expect(error.message).toContain('accepts at most 1000');
  }
  expect(server.counters(CHANNEL, 'request').accepted).toBe(1);
});

test('[CS-003] a message above the size limit of someone who ignores it is a ProtocolError for a request', async () => {
  const cluster = arrangeCluster();
  const server = await startServer(cluster, 'server', {
    with: (s) => s.maxMessageSize(1_000).addSendHandler(Notice, () => undefined),
  });
  const peer = await rawClient(cluster, server, engineWithoutLimits(cluster));
  const payload = `"${'x'.repeat(999)}"`;
  const asked = peer.submit(RecordKind.request, { payload });
  peer.submit(RecordKind.send, { payload, packetName: 'system.notice' });
  await until(() => server.counters(CHANNEL, 'send').accepted === 1 && asked.reply !== undefined, 'both were refused');
  expect(asked.reply).toMatchObject({ kind: RecordKind.error, errorKind: 'ProtocolError' });
  expect(server.counters(CHANNEL, 'request')).toMatchObject({ handled: 0, dropped: { too_large: 1 } });
  expect(server.counters(CHANNEL, 'send')).toMatchObject({ handled: 0, dropped: { too_large: 1 } });
  const good = peer.submit(RecordKind.request, { payload: '1' });
  await until(() => good.reply !== undefined, 'the link stays');
});

test('[CS-003] size 0 is no limit of ours', async () => {
  const cluster = arrangeCluster();
  const server = await startServer(cluster, 'server', {
    answer: (text) => (text as string).length,
    with: (s) => s.maxMessageSize(0),
  });
  const client = await startClient(cluster, [server]);
  await expect(client.request(CHANNEL, Ask('x'.repeat(20_000_000))).submit()).resolves.toBe(20_000_000);
});

test('[DISP-005] handlers start in order of arrival, and concurrency 1 runs them one after the other', async () => {
  const cluster = arrangeCluster();
  const order: string[] = [];
  const serial = await startServer(cluster, 'serial', {
    answer: async (n) => {
      order.push(`start ${String(n)}`);
      await loopTurns(2);
      order.push(`end ${String(n)}`);
      return n;
    },
    with: (s) => s.concurrency(1),
  });
  const client = await startClient(cluster, [serial]);
  await Promise.all([0, 1, 2].map((n) => client.request(CHANNEL, Ask(n)).submit()));
  expect(order).toEqual(['start 0', 'end 0', 'start 1', 'end 1', 'start 2', 'end 2']);
});

test('[MSG-004] a schema fails the call here before anything is sent, and as ProtocolError over there', async () => {
  const cluster = arrangeCluster();
  const short: StandardSchemaV1<unknown, string> = {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: (value) => ((value as string).length < 4 ? { value } : { issues: [{ message: 'too long' }] }),
    },
  };
  const Strict = request<string, string>('strict', { schema: short });
  const Lax = request<string, string>('strict');
  const server = await startServer(cluster, 'server', { with: (s) => s.addRequestHandler(Strict, (text) => text) });
  const client = await startClient(cluster, [server]);
  await expect(client.request(CHANNEL, Strict('abc')).submit()).resolves.toBe('abc');
  expect(await rejection(client.request(CHANNEL, Strict('abcd')).submit())).toMatchObject({
    kind: 'InvalidOperation',
    submitted: false,
  });
  expect(await rejection(client.request(CHANNEL, Lax('abcd')).submit())).toMatchObject({
    kind: 'ProtocolError',
    submitted: true,
  });
});

test('[MSG-002] a class is a packet of its own name, and its instance arrives as plain data', async () => {
  const cluster = arrangeCluster();
  class Order {
    readonly id: string;
    constructor(id: string) {
      this.id = id;
    }
  }
  const Named = message<{ id: string }>('Order');
  const seen: unknown[] = [];
  const server = await startServer(cluster, 'server', {
    with: (s) => s.addSendHandler(Order, (o) => void seen.push(o)),
  });
  const client = await startClient(cluster, [server]);
  await client.send(CHANNEL, new Order('7')).submit();
  await client.send(CHANNEL, Named({ id: '8' })).submit();
  await until(() => seen.length === 2, 'both are handled');
  expect(seen).toEqual([{ id: '7' }, { id: '8' }]);
});
