/** Links survive strangers on their port: raw bytes before the handshake, broken records after it. */
import { JobPermits } from '@zlink/kernel/internal/execution';
import { createLinkTransport } from '@zlink/kernel/internal/link';
import type { Pipe, PipeEngine } from '@zlink/kernel/internal/transport';
import { encodeHello, EndpointKind, RecordKind } from '@zlink/kernel/internal/wire';
import {
  createMemoryEngine,
  loopTurns,
  ManualClock,
  MemoryNetwork,
  randomBytes,
  seededRandom,
  strangerInputs,
} from '../src/index.ts';
import { descriptorOf, RigHost, SCOPE } from '../src/suites/transport/rig-host.ts';
import { clientServer } from '../src/suites/transport/shapes.ts';
import { PipeRecorder } from './pipe-recorder.ts';

const ignore = (): void => undefined;
const TURNS = 12;

interface Stage {
  readonly clock: ManualClock;
  readonly client: RigHost;
  readonly server: RigHost;
  readonly stranger: PipeEngine;
  readonly warnings: object[];
  readonly address: string;
  close(): Promise<void>;
}

async function arrange(): Promise<Stage> {
  const clock = new ManualClock();
  const network = new MemoryNetwork({ clock });
  const warnings: object[] = [];
  const logger = { debug: ignore, info: ignore, warn: (line: object) => void warnings.push(line), error: ignore };
  const host = (rid: string): RigHost => {
    const permits = new JobPermits({ max: 1_024, pauseThresholdPercent: 80, resumeThresholdPercent: 60 });
    const transport = createLinkTransport(createMemoryEngine(network), {
      clock,
      permits,
      logger,
      budgetBytes: 64 * 1_048_576,
      maxWindowBytes: 1_048_576,
      random: seededRandom(1),
    });
    return new RigHost(clientServer, { rid }, permits, transport, 'tcp://node:0', rid);
  };
  const [client, server] = [host('client'), host('server')];
  server.echo(server.listenGroup);
  const listener = await server.listen();
  client.dial(listener.endpoint);
  await loopTurns(TURNS);
  const stranger = createMemoryEngine(network);
  return {
    clock,
    client,
    server,
    stranger,
    warnings,
    address: listener.endpoint,
    close: async () => {
      await Promise.all([client.transport.close(), server.transport.close(), stranger.close()]);
      expect(clock.pendingTimers).toBe(0);
    },
  };
}

/** Says something on a new pipe and waits. */
async function say(stage: Stage, ...messages: Uint8Array[][]): Promise<{ pipe: Pipe; recorder: PipeRecorder }> {
  const recorder = new PipeRecorder();
  const pipe = stage.stranger.connect({ address: stage.address, maxPartBytes: 0 }, recorder);
  await loopTurns(TURNS);
  for (const message of messages) {
    pipe.send(message);
    await loopTurns(TURNS);
  }
  return { pipe, recorder };
}

async function expectTraffic(stage: Stage): Promise<void> {
  const [link] = stage.client.dialGroup.opened;
  if (link === undefined) throw new Error('no link');
  const request = stage.client.request({ payload: 'real' });
  request.submit(link);
  await loopTurns(TURNS);
  expect(request.journal).toEqual(['replied']);
  expect(stage.client.dialGroup.opened).toHaveLength(1);
}

const refusals = (stage: Stage): number =>
  Object.values(stage.server.transport.status.refused).reduce((sum, count) => sum + count, 0);

/** A record without sections: header and payload. */
function record(kind: number, payload: Uint8Array, flags = 0, announced = payload.length): Uint8Array {
  const bytes = new Uint8Array(16 + payload.length);
  bytes[0] = kind;
  bytes[1] = flags;
  new DataView(bytes.buffer).setUint32(12, announced, true);
  bytes.set(payload, 16);
  return bytes;
}

function helloOf(rid: string): Uint8Array {
  const hello = encodeHello({
    major: 1,
    minor: 0,
    kind: EndpointKind.channelClient,
    capabilities: 0,
    generation: 5n,
    windowBytes: 65_536,
    maxMessageBytes: 0,
    rid,
    scope: SCOPE,
    endpoint: '',
    publicKey: '',
    descriptor: descriptorOf(1n),
  });
  return record(RecordKind.hello, hello);
}

test('[C06] whatever a stranger says first, its pipe is closed and counted within 5 s, and real traffic goes on', async () => {
  const stage = await arrange();
  const recorders = [];
  for (const { bytes } of strangerInputs) recorders.push((await say(stage, [bytes])).recorder);
  recorders.push((await say(stage)).recorder);
  await expectTraffic(stage);
  await stage.clock.advanceAsync(5_100);
  for (const recorder of recorders) expect(recorder.closed).toHaveLength(1);
  expect(refusals(stage)).toBe(recorders.length);
  await expectTraffic(stage);
  await stage.close();
});

test('[C06] [SEC-002] 2,000 strangers with random bytes are all refused, with at most one log line a second and reason', async () => {
  const stage = await arrange();
  const random = seededRandom(2_000);
  const startMs = stage.clock.nowMs();
  for (let at = 0; at < 2_000; at++) {
    const parts = Array.from({ length: 1 + Math.floor(random() * 3) }, () =>
      randomBytes(random, 1 + Math.floor(random() * 512)),
    );
    const recorder = new PipeRecorder();
    stage.stranger.connect({ address: stage.address, maxPartBytes: 0 }, recorder).send(parts);
    if (at % 100 === 99) await loopTurns(TURNS);
  }
  await stage.clock.advanceAsync(5_100);
  expect(refusals(stage)).toBe(2_000);
  const seconds = Math.ceil((stage.clock.nowMs() - startMs) / 1_000) + 1;
  const reasons = Object.keys(stage.server.transport.status.refused).length;
  expect(stage.warnings.length).toBeLessThanOrEqual(seconds * reasons);
  await expectTraffic(stage);
  await stage.close();
});

test('[C06] [WIRE-001] a hello with a wrong magic, version, kind, weight or length is refused', async () => {
  const stage = await arrange();
  const good = helloOf('stranger');
  const spoilt = [16, 20, 22, good.length - 1].map((at) => {
    const bytes = good.slice();
    bytes[at] = (bytes[at] ?? 0) ^ 0xff;
    return [bytes];
  });
  const cut = [[good.slice(0, -1)], [good, good], [good.slice(0, 15)], [new Uint8Array(0), good]];
  for (const message of [...spoilt, ...cut]) await say(stage, message);
  expect(stage.server.listenGroup.opened).toHaveLength(1);
  await stage.clock.advanceAsync(5_100);
  expect(refusals(stage)).toBe(spoilt.length + cut.length);
  await expectTraffic(stage);
  await stage.close();
});

test('[C06] [WIRE-003] a broken record after a good hello ends that link alone, as a protocol error', async () => {
  const stage = await arrange();
  const payload = Uint8Array.of(1, 2, 3);
  const broken: Uint8Array[][] = [
    [record(0x7f, payload)],
    [record(RecordKind.send, payload, 0xff)],
    [record(RecordKind.send, payload, 0, 4_000_000_000)],
    [record(RecordKind.send, payload, 0x08)],
    [record(RecordKind.send, payload, 0x08), Uint8Array.of(1, 2), Uint8Array.of(3)],
    [record(RecordKind.send, payload)],
    [record(RecordKind.hello, payload)],
    [record(RecordKind.update, payload)],
    [record(RecordKind.goodbye, payload)],
    [record(RecordKind.name, payload)],
    [Uint8Array.of(RecordKind.send)],
    [new Uint8Array(15), new Uint8Array(0)],
  ];
  for (const [at, message] of broken.entries()) {
    const { recorder } = await say(stage, [helloOf(`stranger-${at}`)], message);
    expect(recorder.messages.length).toBeGreaterThan(0); // it was admitted
    await loopTurns(TURNS);
    expect([at, recorder.closed.length]).toEqual([at, 1]);
  }
  const { opened, closed } = stage.server.listenGroup;
  expect([opened.length, closed.length]).toEqual([broken.length + 1, broken.length]);
  for (const { reason } of closed) expect(reason).toMatch(/^protocol error/);
  await expectTraffic(stage);
  await stage.close();
});
