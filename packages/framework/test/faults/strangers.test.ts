import { EndpointKind, HELLO_BYTES, RecordKind } from '@zlink/kernel/internal/wire';
import { openStranger, randomInputs, seededRandom, strangerInputs } from '@zlink/testing';
import type { FaultServer } from '../fixtures/fault-server.ts';
import type { Traffic } from '../fixtures/fault-traffic.ts';
import { endChildren, type FaultChild, startChild } from './fault-child.ts';
import { hello, record, ZmtpStrangers } from './zmtp-stranger.ts';

const isLong = process.env['ZLINK_LONG'] === '1';
/** The handshake may take 5 s. A busy machine is late; without a limit of our own libzmq waits 30 s. */
const hungUpWithinMs = 20_000;
const callEveryMs = 5;

let server: FaultChild<FaultServer>;
let traffic: FaultChild<Traffic>;
let endpoint: string;

beforeEach(async () => {
  server = await startChild<FaultServer>('server');
  traffic = await startChild<Traffic>('traffic');
  endpoint = await server.ask('serve', {});
  await traffic.ask('start', endpoint, callEveryMs);
});
afterEach(endChildren);

/** Real calls went on all the time, nothing has grown, and the log was not flooded. */
async function expectUnharmed(residentBefore: number): Promise<void> {
  const calls = await traffic.ask('stop');
  expect(Object.keys(calls)).toEqual(['ok']);
  expect(calls['ok']).toBeGreaterThan(20); // how many depends on the machine, that none failed does not
  const grown = (await server.ask('residentBytes')) - residentBefore;
  expect(grown).toBeLessThan(32 * 1_048_576);
  const lastAtMs = new Map<unknown, number>();
  for (const { atMs, record } of await server.ask('log')) {
    expect(record).toMatchObject({ eventId: 'zlink.transport.connection_refused' });
    expect(atMs - (lastAtMs.get(record['reason']) ?? -Infinity)).toBeGreaterThan(500); // one a second, and a busy machine may write the earlier one late
    lastAtMs.set(record['reason'], atMs);
  }
}

const refusedCount = async (): Promise<number> =>
  Object.values((await server.ask('status')).refused).reduce((sum, count) => sum + count, 0);

async function untilRefused(count: number): Promise<void> {
  const giveUpAtMs = performance.now() + hungUpWithinMs;
  while ((await refusedCount()) < count && performance.now() < giveUpAtMs); // one question after the other
  expect(await refusedCount()).toBe(count);
}

test(
  '[SEC-002] [C06] strangers of every kind at a busy port are hung up on in time and counted, calls go on',
  async () => {
    const residentBefore = await server.ask('residentBytes');
    const random = [...randomInputs(seededRandom(14), isLong ? 20_000 : 1_000)];
    const inputs = [...strangerInputs.map(({ bytes }) => bytes), ...random];
    for (let from = 0; from < inputs.length; from += 1_014) {
      const strangers = await Promise.all(
        inputs.slice(from, from + 1_014).map((bytes) => openStranger(endpoint, bytes)),
      );
      for (const { afterMs } of await Promise.all(strangers.map(({ closed }) => closed))) {
        expect(afterMs).toBeLessThan(hungUpWithinMs);
      }
    }
    await untilRefused(inputs.length);
    await expectUnharmed(residentBefore);
  },
  isLong ? 300_000 : 120_000,
);

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const helloRecord = (changes: Parameters<typeof hello>[0] = {}): Uint8Array => record(RecordKind.hello, hello(changes));

/** What someone who knows ZeroMQ may say first, and the reason to be refused with. */
const firstWords: readonly (readonly [name: string, reason: string, message: readonly Uint8Array[]])[] = [
  ['text', 'malformed', [bytes('hello?')]],
  ['a wrong magic', 'malformed', [record(RecordKind.hello, Buffer.concat([bytes('XLNK'), hello().subarray(4)]))]],
  ['another version', 'unknownVersion', [helloRecord({ major: 9 })]],
  ['half a record', 'malformed', [helloRecord().subarray(0, 40)]],
  ['half a header', 'malformed', [helloRecord().subarray(0, 9)]],
  ['a part too many', 'malformed', [helloRecord(), bytes('more')]],
  ['bytes behind the hello', 'malformed', [Buffer.concat([helloRecord(), bytes('more')])]],
  ['two hellos at once', 'malformed', [Buffer.concat([helloRecord(), helloRecord()])]],
  ['too large a hello', 'malformed', [record(RecordKind.hello, Buffer.concat([hello(), Buffer.alloc(HELLO_BYTES)]))]],
  ['a hello that ends early', 'malformed', [record(RecordKind.hello, hello().subarray(0, 60))]],
  ['another channel', 'wrongScope', [helloRecord({ scope: 'elsewhere' })]],
  ['another kind', 'wrongKind', [helloRecord({ kind: EndpointKind.meshNode })]],
  ['a message without hello', 'malformed', [record(RecordKind.send, bytes('{}'))]],
];

/** What someone may say after a good hello. */
const laterWords: readonly (readonly [name: string, message: readonly Uint8Array[]])[] = [
  ['a second hello', [helloRecord()]],
  ['text', [bytes('hello?')]],
  ['half a record', [record(RecordKind.send, bytes('{"id":1}')).subarray(0, 20)]],
  ['an unknown kind', [record(0x7f, bytes('{}'))]],
  ['a name that was not introduced', [record(RecordKind.send, bytes('{"id":1}'), 5)]],
  ['a malformed update', [record(RecordKind.update, bytes('now'))]],
];

test('[WIRE-001] [C06] who speaks ZeroMQ but not ZLink at a busy port is told why and counted, calls go on', async () => {
  const residentBefore = await server.ask('residentBytes');
  const strangers = new ZmtpStrangers(endpoint);
  const expected: Record<string, number> = {};
  const expectRefused = (reason: string): void => void (expected[reason] = (expected[reason] ?? 0) + 1);
  for (let round = 0; round < 20; round++) {
    for (const [name, reason, message] of firstWords) {
      const stranger = await strangers.connect();
      stranger.say(...message);
      expect([name, (await stranger.hear(RecordKind.reject)).reason]).toEqual([name, reason]);
      expectRefused(reason);
      stranger.hangUp();
    }
    for (const [name, message] of laterWords) {
      const stranger = await strangers.connect();
      stranger.say(helloRecord());
      await stranger.hear(RecordKind.admit);
      stranger.say(...message);
      expect([name, (await stranger.hear(RecordKind.reject)).reason]).toEqual([name, 'ended']);
      expectRefused('protocolError');
      stranger.hangUp();
    }
  }
  await strangers.close();
  expect(await server.ask('status')).toMatchObject({ links: 1, refused: expected });
  await expectUnharmed(residentBefore);
}, 120_000);
