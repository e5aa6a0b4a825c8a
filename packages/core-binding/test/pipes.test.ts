import { networkInterfaces } from 'node:os';
import { loopTurns, until } from '@zlink/testing';
import { quietAddress } from '@zlink/testing/internal';
import { closeEngines, engine } from './engines.ts';
import { bytesOf, dial, dialAndGreet, listen } from './pipe-recorder.ts';

afterEach(closeEngines);

const lingerMs = 60_000; // more than a busy machine takes to send what there is

const hasIpv6Loopback = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some((a) => a.address === '::1'),
);
const loopbacks = hasIpv6Loopback ? ['tcp://127.0.0.1:0', 'tcp://[::1]:0'] : ['tcp://127.0.0.1:0'];

test.each(loopbacks)('[CORE-009] pipes to %s carry messages both ways', async (bind) => {
  const server = await listen(engine(), bind);
  const { pipe, recorder } = await dialAndGreet(engine(), server);
  pipe.send([bytesOf('question')]);
  const accepted = server.recorders.at(-1)!;
  await accepted.received(2);
  server.pipes.at(-1)!.send([bytesOf('answer'), bytesOf('part two')]);
  await recorder.received(1);
  expect(accepted.texts).toEqual(['hello', 'question']);
  expect(recorder.texts).toEqual(['answer|part two']);
  expect(recorder.opened).toBe(1);
});

test('[CORE-009] a listener tells its real port and pipes tell where they lead', async () => {
  const server = await listen(engine(), 'tcp://localhost:0');
  expect(server.address).toMatch(/^tcp:\/\/(127\.0\.0\.1|\[::1\]):[1-9][0-9]*$/);
  const byName = server.address.replace(/\/\/.*:/, '//localhost:');
  const { pipe } = await dialAndGreet(engine(), { ...server, address: byName });
  expect(pipe.address).toBe(byName);
  expect(server.pipes[0]?.address).toBe(server.address);
});

test('[CORE-003] 5,000 messages of one turn arrive whole and in order', async () => {
  const server = await listen(engine());
  const { pipe, recorder } = await dialAndGreet(engine(), server);
  const accepted = server.recorders.at(-1)!;
  const back = server.pipes.at(-1)!;
  for (let at = 0; at < 5_000; at++) {
    pipe.send([bytesOf(`${at}`), bytesOf('x'.repeat(at % 300)), bytesOf(`end ${at}`)]);
    back.send([bytesOf(`back ${at}`)]);
  }
  await accepted.received(5_001);
  await recorder.received(5_000);
  expect(accepted.messages.every((parts, at) => parts.length === (at === 0 ? 1 : 3))).toBe(true);
  expect(accepted.texts.slice(1)).toEqual(
    Array.from({ length: 5_000 }, (_, at) => `${at}|${'x'.repeat(at % 300)}|end ${at}`),
  );
  expect(recorder.texts).toEqual(Array.from({ length: 5_000 }, (_, at) => `back ${at}`));
});

test('[CORE-002] multipart messages of many peers never mix', async () => {
  const server = await listen(engine());
  const dialing = engine();
  const peers = await Promise.all(Array.from({ length: 20 }, () => dialAndGreet(dialing, server)));
  for (let at = 0; at < 200; at++) {
    for (const [peer, { pipe }] of peers.entries()) {
      pipe.send([bytesOf(`${peer}`), new Uint8Array(500).fill(peer), bytesOf(`${peer}:${at}`)]);
    }
  }
  await until(() => server.recorders.every((recorder) => recorder.messages.length === 201), 'all messages');
  for (const recorder of server.recorders) {
    const own = Number(Buffer.from(recorder.messages[1]![0]!).toString());
    const isWhole = ([peer, filling, mark]: Uint8Array[], at: number): boolean =>
      Buffer.from(peer!).toString() === `${own}` &&
      filling!.every((byte) => byte === own) &&
      Buffer.from(mark!).toString() === `${own}:${at}`;
    expect(recorder.messages.slice(1).every(isWhole)).toBe(true);
  }
});

test('[CORE-012] a view into a larger buffer is sent as its own bytes, at 1 MiB too', async () => {
  const server = await listen(engine());
  const { pipe } = await dialAndGreet(engine(), server);
  const whole = new Uint8Array(2_097_152).map((_, at) => at * 7);
  pipe.send([whole.subarray(10, 20), whole.subarray(1_000, 1_000 + 1_048_576)]);
  await server.recorders[0]!.received(2);
  const [small, large] = server.recorders[0]!.messages[1]!;
  expect(Buffer.from(small!).equals(whole.subarray(10, 20))).toBe(true);
  expect(Buffer.from(large!).equals(whole.subarray(1_000, 1_000 + 1_048_576))).toBe(true);
});

test('[CORE-011] what was sent before a close still leaves', async () => {
  const server = await listen(engine());
  const { pipe, recorder } = await dialAndGreet(engine(), server);
  const accepted = server.recorders.at(-1)!;
  for (let at = 0; at < 1_000; at++) pipe.send([new Uint8Array(1_000).fill(at)]);
  pipe.close(lingerMs);
  pipe.close(0);
  expect(await accepted.end()).toBe('connection lost');
  expect(accepted.countAtEnd).toBe(1_001);
  expect(recorder.closed).toEqual([]);
});

test('[CORE-011] what was sent to an accepted peer still leaves when the listener closes', async () => {
  const server = await listen(engine());
  const { recorder } = await dialAndGreet(engine(), server);
  const accepted = server.pipes[0]!;
  for (let at = 0; at < 1_000; at++) accepted.send([new Uint8Array(1_000).fill(at)]);
  accepted.close(lingerMs);
  await server.listener.close();
  await recorder.end();
  expect(recorder.countAtEnd).toBe(1_000);
  expect(server.recorders[0]!.closed).toEqual([]);
});

test('[CORE-011] an unbound listener takes no newcomer, and its pipes live on', async () => {
  const server = await listen(engine());
  const dialing = engine();
  const { pipe, recorder } = await dialAndGreet(dialing, server);
  await server.listener.unbind();
  const late = dial(dialing, server.address);
  expect(await late.recorder.end()).toBe('the other side refused access');
  pipe.send([bytesOf('still here')]);
  await server.recorders[0]!.received(2);
  server.pipes[0]!.send([bytesOf('me too')]);
  await recorder.received(1);
  expect(server.refused).toEqual(['stopping']);
  expect(server.recorders).toHaveLength(1);
});

test('[CORE-011] a port is free once its listener has closed', async () => {
  const first = await listen(engine(), await quietAddress());
  await dialAndGreet(engine(), first);
  await first.listener.close();
  const second = await listen(engine(), first.address);
  expect(second.address).toBe(first.address);
});

test('[CORE-008] an accepted pipe that was closed is not heard any more, and counted once', async () => {
  const server = await listen(engine());
  const { pipe } = await dialAndGreet(engine(), server);
  server.pipes[0]!.close(0);
  for (let at = 0; at < 10; at++) pipe.send([bytesOf('anybody?')]);
  const { recorder: other } = await dialAndGreet(engine(), server);
  await until(() => server.refused.length > 0, 'counted');
  expect(server.refused).toEqual(['closedPipe']);
  expect(server.recorders[0]!.texts).toEqual(['hello']);
  expect(server.recorders).toHaveLength(2);
  expect(other.closed).toEqual([]);
});

test('[CORE-009] a pipe may be closed inside the accept callback', async () => {
  const server = engine();
  const told: string[] = [];
  const listener = await server.listen(
    { address: 'tcp://127.0.0.1:0', maxPartBytes: 0, onRefused: () => undefined },
    (pipe) => {
      pipe.close(0);
      return {
        onPipeOpen: () => told.push('open'),
        onPipeMessage: () => told.push('message'),
        onPipeClosed: () => told.push('closed'),
      };
    },
  );
  const { pipe, recorder } = dial(engine(), listener.address);
  await until(() => recorder.opened > 0, 'open');
  pipe.send([bytesOf('hello')]);
  pipe.close(1_000);
  await listener.close();
  await loopTurns(5);
  expect(told).toEqual([]);
});

test('[CORE-009] several pipes to one address are independent', async () => {
  const server = await listen(engine());
  const dialing = engine();
  const first = await dialAndGreet(dialing, server);
  const second = await dialAndGreet(dialing, server);
  first.pipe.close(0);
  expect(await server.recorders[0]!.end()).toBe('connection lost');
  second.pipe.send([bytesOf('unharmed')]);
  await server.recorders[1]!.received(2);
  expect([first.recorder.closed, second.recorder.closed]).toEqual([[], []]);
});

test('[CORE-011] an engine closes at once after dials that were given up in their handshake', async () => {
  const server = await listen(engine());
  const dialing = engine();
  for (let round = 0; round < 40; round++) {
    const { pipe } = dial(dialing, server.address);
    await loopTurns(round % 8);
    pipe.close(0);
  }
  await closeEngines();
  await expect(listen(dialing)).rejects.toThrow('[ShuttingDown] engine is closed');
  expect(() => dial(dialing, server.address)).toThrow('[ShuttingDown] engine is closed');
});

test('[CORE-009] a pipe closed while its name is resolved never opens', async () => {
  const server = await listen(engine());
  const { pipe, recorder } = dial(engine(), server.address);
  pipe.close(0);
  await loopTurns(20);
  expect([recorder.opened, recorder.closed]).toEqual([0, []]);
});

test('[CORE-013] engines in one process share nothing but the network', async () => {
  const [one, other] = [engine(), engine()];
  const servers = await Promise.all([listen(one), listen(other)]);
  await dialAndGreet(one, servers[1]);
  await dialAndGreet(other, servers[0]);
  await one.close();
  expect(await servers[1].recorders[0]!.end()).toBe('connection lost');
  const { pipe } = await dialAndGreet(engine(), servers[1]);
  pipe.send([bytesOf('unharmed')]);
  await servers[1].recorders[1]!.received(2);
});
