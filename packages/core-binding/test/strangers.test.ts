import { openStranger, randomInputs, seededRandom, strangerInputs, until } from '@zlink/testing';
import { closeEngines, engine } from './engines.ts';
import { bytesOf, dialAndGreet, listen, type RecordedListener, type RecordedPipe } from './pipe-recorder.ts';

/** The handshake may take 5 s. A busy machine is late; without a limit of our own libzmq waits 30 s. */
const hungUpWithinMs = 20_000;

let server: RecordedListener;
let good: RecordedPipe;

beforeEach(async () => {
  server = await listen(engine());
  good = await dialAndGreet(engine(), server);
});
afterEach(closeEngines);

/** The pipe of the good peer still works and nobody else was taken for a peer. */
async function expectUnharmed(): Promise<void> {
  const before = server.recorders[0]!.messages.length;
  good.pipe.send([bytesOf('still here')]);
  await server.recorders[0]!.received(before + 1);
  expect(good.recorder.closed).toEqual([]);
  expect(server.recorders).toHaveLength(1);
}

test('[SEC-002] [C06] strangers are hung up on within the handshake time and counted, peers unharmed', async () => {
  const strangers = await Promise.all(strangerInputs.map(({ bytes }) => openStranger(server.address, bytes)));
  await until(() => server.refused.length === strangers.length, 'all are counted', hungUpWithinMs);
  const ends = await Promise.all(strangers.map(({ closed }) => closed));
  for (const { afterMs } of ends) expect(afterMs).toBeLessThan(hungUpWithinMs);
  expect(new Set(server.refused)).toEqual(new Set(['handshakeIncomplete', 'securityMismatch', 'unknownProtocol']));
  await expectUnharmed();
});

test('[SEC-002] [C06] 500 random inputs do no harm', async () => {
  const inputs = [...randomInputs(seededRandom(20), 500)];
  for (const bytes of inputs) {
    const stranger = await openStranger(server.address, bytes);
    await stranger.close();
  }
  await until(() => server.refused.length === inputs.length, 'all are counted');
  await expectUnharmed();
});

test('[SEC-002] a part above the limit ends its connection at both sides, and that one only', async () => {
  const small = await listen(engine(), 'tcp://127.0.0.1:0', 1_000);
  const dialing = engine();
  const peers = [await dialAndGreet(dialing, small), await dialAndGreet(dialing, small)];
  peers[0]!.pipe.send([new Uint8Array(1_000), new Uint8Array(1_000)]);
  await small.recorders[0]!.received(2);
  peers[0]!.pipe.send([new Uint8Array(10), new Uint8Array(1_001)]);
  expect(await small.recorders[0]!.end()).toBe('connection lost');
  expect(await peers[0]!.recorder.end()).toBe('connection lost');
  peers[1]!.pipe.send([bytesOf('unharmed')]);
  await small.recorders[1]!.received(2);
  expect(small.recorders[0]!.messages).toHaveLength(2);
});

test('[SEC-002] a peer that names itself is not heard', async () => {
  const { Dealer } = await import('zeromq');
  const impostor = new Dealer({ routingId: 'chosen-by-itself', linger: 0 });
  impostor.connect(server.address);
  await impostor.send(['hello']);
  await until(() => server.refused.length === 1, 'counted');
  impostor.close();
  expect(server.refused).toEqual(['selfNamedPeer']);
  await expectUnharmed();
});

test('[CORE-008] the orderly and the sudden end of peers count as no stranger', async () => {
  const dialing = engine();
  const mesh = await listen(dialing);
  for (let round = 0; round < 20; round++) {
    const { pipe } = await dialAndGreet(dialing, server);
    pipe.close(0);
    await server.recorders.at(-1)!.end();
  }
  const stranger = await openStranger(server.address, bytesOf('GET / HTTP/1.1\r\n\r\n'));
  await stranger.closed;
  await until(() => server.refused.length > 0, 'stranger is counted');
  expect(server.refused).toEqual(['unknownProtocol']);
  expect(mesh.refused).toEqual([]);
});
