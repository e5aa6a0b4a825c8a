/** Ports with traffic on them, and others who speak anything else there. */
import type { TransportStatus } from '@zlink/kernel/internal/transport';
import { EndpointKind, HELLO_BYTES, RecordKind } from '@zlink/kernel/internal/wire';
import { openStranger, randomInputs, seededRandom, strangerInputs } from '@zlink/testing';
import { reaches, startHost, whole } from '../fanout/fanout-processes.ts';
import type { Logged } from '../fixtures/fault-composed-host.ts';
import type { FaultNode } from '../fixtures/fault-node.ts';
import { CHANNEL, MESH } from '../fixtures/fault-packets.ts';
import type { FaultServer } from '../fixtures/fault-server.ts';
import type { Traffic } from '../fixtures/fault-traffic.ts';
import { isOfHost } from '../log-recorder.ts';
import { eventually } from '../redis/eventually.ts';
import { endChildren, startChild } from './fault-child.ts';
import { hello, record, ZmtpStrangers } from './zmtp-stranger.ts';

const isLong = process.env['ZLINK_LONG'] === '1';
/** The handshake may take 5 s. A busy machine is late; without a limit of our own libzmq waits 30 s. */
const hungUpWithinMs = 20_000;
const callEveryMs = 5;

/** A port with traffic on it. */
interface BusyPort {
  readonly endpoint: string;
  /** What its process holds, has logged, and shows of its links; publishers have none. */
  readonly residentBytes: () => Promise<number>;
  readonly log: () => Promise<readonly Logged[]>;
  readonly status: (() => Promise<TransportStatus>) | undefined;
  /** Ends the traffic; fails if any of it did not go well. */
  finish(): Promise<void>;
}

afterEach(endChildren);

async function busyServer(): Promise<BusyPort> {
  const owner = await startChild<FaultServer>('server');
  const traffic = await startChild<Traffic>('traffic');
  const endpoint = await owner.ask('serve', {});
  await traffic.ask('start', endpoint, callEveryMs);
  return {
    endpoint,
    residentBytes: () => owner.ask('residentBytes'),
    log: () => owner.ask('log'),
    status: () => owner.ask('status'),
    finish: async () => expectWell(await traffic.ask('stop')),
  };
}

async function busyNode(): Promise<BusyPort> {
  const [owner, caller] = [await startChild<FaultNode>('node'), await startChild<FaultNode>('node')];
  const endpoint = await owner.ask('serve', { rid: 'node' });
  await caller.ask('serve', { rid: 'caller' });
  await caller.ask('connect', 'node', endpoint);
  await caller.ask('whenReady', 1);
  await caller.ask('load', [{ verb: 'request', to: 'node' }], callEveryMs);
  return {
    endpoint,
    residentBytes: () => owner.ask('residentBytes'),
    log: () => owner.ask('log'),
    status: () => owner.ask('status'),
    async finish() {
      for (const { counts } of await caller.ask('finish')) expectWell(counts);
    },
  };
}

async function busyPublisher(): Promise<BusyPort> {
  const owner = await startHost({ name: 'publisher', publishes: {} });
  const endpoint = await owner.ask('endpoint');
  const subscriber = await startHost({ name: 'subscriber', subscribes: [endpoint] });
  await owner.ask('ready', 1);
  let last = 0;
  let isOver = false;
  const pace = { perTurn: 1, restMs: callEveryMs };
  const publishing = (async () => {
    while (!isOver) last = await owner.ask('publish', 20, pace);
  })();
  return {
    endpoint,
    residentBytes: () => owner.ask('residentBytes'),
    log: () => owner.ask('log'),
    status: undefined,
    async finish() {
      isOver = true;
      await publishing;
      await reaches(subscriber, 'publisher', last);
      expect((await subscriber.ask('seen'))['publisher']).toEqual(whole(1, last));
      expect(await subscriber.ask('publishers')).toMatchObject([{ state: 'ready', missedEvents: 0 }]);
    },
  };
}

function expectWell(calls: Readonly<Record<string, number>>): void {
  expect(Object.keys(calls)).toEqual(['ok']);
  expect(calls['ok']).toBeGreaterThan(20); // how many depends on the machine, that none failed does not
}

/** Its traffic went on all the time, nothing has grown, and the log was not flooded. */
async function expectUnharmed(port: BusyPort, residentBefore: number): Promise<void> {
  await port.finish();
  expect((await port.residentBytes()) - residentBefore).toBeLessThan(32 * 1_048_576);
  const lastAtMs = new Map<unknown, number>();
  const lines = (await port.log()).filter(({ record }) => isOfHost(record));
  expect(lines.length).toBeGreaterThan(0);
  for (const { atMs, record } of lines) {
    expect(record).toMatchObject({ eventId: 'zlink.transport.connection_refused' });
    expect(atMs - (lastAtMs.get(record['reason']) ?? -Infinity)).toBeGreaterThan(500); // one a second, and a busy machine may write the earlier one late
    lastAtMs.set(record['reason'], atMs);
  }
}

async function untilRefused(status: () => Promise<TransportStatus>, count: number): Promise<void> {
  const refusedCount = async (): Promise<number> =>
    Object.values((await status()).refused).reduce((sum, each) => sum + each, 0);
  const giveUpAtMs = performance.now() + hungUpWithinMs;
  while ((await refusedCount()) < count && performance.now() < giveUpAtMs); // one question after the other
  expect(await refusedCount()).toBe(count);
}

test.each([
  ['a server', busyServer],
  ['a node of a mesh', busyNode],
  ['a publisher', busyPublisher], // those of its engine count
] as const)(
  '[SEC-002] [C06] strangers of every kind at the busy port of %s are hung up on in time and counted, its traffic goes on',
  async (_, start) => {
    const port = await start();
    const residentBefore = await port.residentBytes();
    const random = [...randomInputs(seededRandom(14), isLong ? 20_000 : 1_000)];
    const inputs = [...strangerInputs.map(({ bytes }) => bytes), ...random];
    for (let from = 0; from < inputs.length; from += 1_014) {
      const strangers = await Promise.all(
        inputs.slice(from, from + 1_014).map((bytes) => openStranger(port.endpoint, bytes)),
      );
      for (const { afterMs } of await Promise.all(strangers.map(({ closed }) => closed))) {
        expect(afterMs).toBeLessThan(hungUpWithinMs);
      }
    }
    if (port.status !== undefined) await untilRefused(port.status, inputs.length);
    await expectUnharmed(port, residentBefore);
  },
  isLong ? 900_000 : 300_000,
);

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

type Changes = NonNullable<Parameters<typeof hello>[0]>;
type Say = (changes?: Changes) => Uint8Array;

/** The first words of someone whom the port would admit, changed as the test likes. */
const greetings = {
  server: (changes = {}) => hello({ scope: CHANNEL, ...changes }),
  node: (changes = {}) =>
    hello({ kind: EndpointKind.meshNode, scope: MESH, endpoint: 'tcp://127.0.0.1:9', ...changes }),
} satisfies Record<string, Say>;

const helloRecord = (greet: Say, changes: Changes = {}): Uint8Array => record(RecordKind.hello, greet(changes));

/** What someone who knows ZeroMQ may say first, and the reason to be refused with. */
const firstWords = (
  greet: Say,
  otherKind: EndpointKind,
): readonly (readonly [name: string, reason: string, message: readonly Uint8Array[]])[] => [
  ['text', 'malformed', [bytes('hello?')]],
  ['a wrong magic', 'malformed', [record(RecordKind.hello, Buffer.concat([bytes('XLNK'), greet().subarray(4)]))]],
  ['another version', 'unknownVersion', [helloRecord(greet, { major: 9 })]],
  ['half a record', 'malformed', [helloRecord(greet).subarray(0, 40)]],
  ['half a header', 'malformed', [helloRecord(greet).subarray(0, 9)]],
  ['a part too many', 'malformed', [helloRecord(greet), bytes('more')]],
  ['bytes behind the hello', 'malformed', [Buffer.concat([helloRecord(greet), bytes('more')])]],
  ['two hellos at once', 'malformed', [Buffer.concat([helloRecord(greet), helloRecord(greet)])]],
  ['too large a hello', 'malformed', [record(RecordKind.hello, Buffer.concat([greet(), Buffer.alloc(HELLO_BYTES)]))]],
  ['a hello that ends early', 'malformed', [record(RecordKind.hello, greet().subarray(0, 60))]],
  ['another channel', 'wrongScope', [helloRecord(greet, { scope: 'elsewhere' })]],
  ['another kind', 'wrongKind', [helloRecord(greet, { kind: otherKind })]],
  ['a message without hello', 'malformed', [record(RecordKind.send, bytes('{}'))]],
];

/** What someone may say after a good hello. */
const laterWords = (greet: Say): readonly (readonly [name: string, message: readonly Uint8Array[]])[] => [
  ['a second hello', [helloRecord(greet)]],
  ['text', [bytes('hello?')]],
  ['half a record', [record(RecordKind.send, bytes('{"id":1}')).subarray(0, 20)]],
  ['an unknown kind', [record(0x7f, bytes('{}'))]],
  ['a name that was not introduced', [record(RecordKind.send, bytes('{"id":1}'), 5)]],
  ['a malformed update', [record(RecordKind.update, bytes('now'))]],
];

test.each([
  ['a server', busyServer, greetings.server, EndpointKind.meshNode],
  ['a node of a mesh', busyNode, greetings.node, EndpointKind.channelClient],
] as const)(
  '[WIRE-001] [C06] who speaks ZeroMQ but not ZLink at the busy port of %s is told why and counted, calls go on',
  async (_, start, greeting, otherKind) => {
    const port = await start();
    const residentBefore = await port.residentBytes();
    const strangers = new ZmtpStrangers(port.endpoint);
    const expected: Record<string, number> = {};
    const expectRefused = (reason: string): void => void (expected[reason] = (expected[reason] ?? 0) + 1);
    for (let round = 0; round < 20; round++) {
      for (const [name, reason, message] of firstWords(greeting, otherKind)) {
        const stranger = await strangers.connect();
        stranger.say(...message);
        expect([name, (await stranger.hear(RecordKind.reject)).reason]).toEqual([name, reason]);
        expectRefused(reason);
        stranger.hangUp();
      }
      for (const [name, message] of laterWords(greeting)) {
        const stranger = await strangers.connect();
        stranger.say(helloRecord(greeting));
        await stranger.hear(RecordKind.admit);
        stranger.say(...message);
        expect([name, (await stranger.hear(RecordKind.reject)).reason]).toEqual([name, 'ended']);
        expectRefused('protocolError');
        stranger.hangUp();
      }
    }
    await strangers.close();
    await eventually(async () => (await port.status?.())?.links === 1, 'no stranger has a link');
    expect(await port.status?.()).toMatchObject({ links: 1, refused: expected });
    await expectUnharmed(port, residentBefore);
  },
  300_000,
);
