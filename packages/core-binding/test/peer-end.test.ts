import { until } from '@zlink/testing';
import { quietAddress } from '@zlink/testing/internal';
import { Child } from './child-process.ts';
import { closeEngines, engine } from './engines.ts';
import { bytesOf, dial, dialAndGreet, listen } from './pipe-recorder.ts';
import { quickest } from './promptness.ts';

const children: Child[] = [];
afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => child.kill()));
  await closeEngines();
});

function child(...args: [script: string, ...rest: string[]]): Child {
  const started = new Child(...args);
  children.push(started);
  return started;
}

function blockEventLoop(ms: number): void {
  const untilMs = performance.now() + ms;
  while (performance.now() < untilMs); // what a busy handler does
}

const noticedWithinMs = 250;
const lingerMs = 60_000; // more than a busy machine takes to send what there is

/** Kills a process; how long after its end its other side notices. A busy machine takes its time to end a process. */
async function noticedAfterMs(victim: Child, end: () => Promise<string>): Promise<number> {
  victim.process.kill('SIGKILL');
  expect(await end()).toBe('connection lost');
  const noticedAtMs = performance.now();
  return noticedAtMs - (await victim.exited).atMs;
}

test('[CORE-008] a listener notices within 250 ms that a peer was killed, and which one', async () => {
  const killPeer = async (): Promise<number> => {
    const server = await listen(engine());
    const victim = child('peer.mjs', 'dial', server.address);
    await until(() => server.recorders[0]?.messages.length === 1, 'child greets');
    const other = await dialAndGreet(engine(), server);
    const tookMs = await noticedAfterMs(victim, () => server.recorders[0]!.end());
    server.pipes[0]!.send([bytesOf('nobody there')]);
    server.pipes[1]!.send([bytesOf('unharmed')]);
    await other.recorder.received(1);
    expect(server.recorders[1]!.closed).toEqual([]);
    expect(server.recorders[0]!.closed).toHaveLength(1);
    return tookMs;
  };
  expect(await quickest(noticedWithinMs, killPeer)).toBeLessThan(noticedWithinMs);
});

test('[CORE-008] who dialled notices within 250 ms that the listener was killed', async () => {
  const killListener = async (): Promise<number> => {
    const server = child('peer.mjs', 'listen');
    const address = await server.line(/^tcp:/);
    const { pipe, recorder } = dial(engine(), address);
    await until(() => recorder.opened > 0, 'open');
    pipe.send([bytesOf('echo')]);
    await recorder.received(1);
    const tookMs = await noticedAfterMs(server, () => recorder.end());
    pipe.send([bytesOf('nobody there')]);
    expect(recorder.closed).toHaveLength(1);
    return tookMs;
  };
  expect(await quickest(noticedWithinMs, killListener)).toBeLessThan(noticedWithinMs);
});

test('[CORE-008] messages that came before the end are delivered before it, even to a busy process', async () => {
  const server = await listen(engine());
  const dialing = engine();
  const dialed = [await dialAndGreet(dialing, server), await dialAndGreet(dialing, server)];
  for (const accepted of server.pipes) {
    for (let at = 0; at < 500; at++) accepted.send([new Uint8Array(100)]);
    accepted.close(lingerMs);
  }
  void server.listener.close();
  blockEventLoop(300);
  for (const { recorder } of dialed) {
    await recorder.end();
    expect(recorder.countAtEnd).toBe(500);
  }
});

test('[CORE-008] a vanished listener does not disturb other dials of an engine, nor its listener', async () => {
  const dialing = engine();
  const mesh = await listen(dialing);
  const [one, other] = [engine(), engine()];
  const servers = [await listen(one), await listen(other)];
  const dialed = [await dialAndGreet(dialing, servers[0]!), await dialAndGreet(dialing, servers[1]!)];
  await one.close();
  expect(await dialed[0]!.recorder.end()).toBe('connection lost');
  dialed[1]!.pipe.send([bytesOf('unharmed')]);
  await servers[1]!.recorders[0]!.received(2);
  expect(dialed[1]!.recorder.closed).toEqual([]);
  expect(mesh.refused).toEqual([]);
});

test.each([
  ['a port nobody listens on', 'tcp://127.0.0.1:1', 'no connection: nobody listens there or it cannot be reached'],
  ['an unknown host', 'tcp://no-such-host.invalid:7000', 'host name "no-such-host.invalid" has no address'],
  ['a wildcard', 'tcp://*:7000', 'tcp://*:7000 is no address to connect to'],
  ['port 0', 'tcp://127.0.0.1:0', 'tcp://127.0.0.1:0 is no address to connect to'],
  ['what is no address', 'localhost', 'localhost is no address to connect to'],
])('[CORE-009] dialling %s ends the pipe with a reason and not inside the call', async (_, address, reason) => {
  const dialing = engine();
  const mesh = await listen(dialing);
  const { recorder } = dial(dialing, address);
  expect(recorder.closed).toEqual([]);
  expect(await recorder.end()).toBe(reason);
  expect(recorder.opened).toBe(0);
  expect(mesh.refused).toEqual([]);
});

test('[CORE-014] nothing sent to one connection reaches a restarted listener', async () => {
  const dialing = engine();
  const first = await listen(engine(), await quietAddress());
  const { pipe, recorder } = await dialAndGreet(dialing, first);
  for (let at = 0; at < 100; at++) pipe.send([bytesOf(`before ${at}`)]);
  await first.listener.close();
  for (let at = 0; at < 100; at++) pipe.send([bytesOf(`stale ${at}`)]);
  const second = await listen(engine(), first.address);
  await recorder.end();
  const again = await dialAndGreet(dialing, second);
  again.pipe.send([bytesOf('fresh')]);
  await second.recorders[0]!.received(2);
  expect(second.recorders.map((each) => each.texts)).toEqual([['hello', 'fresh']]);
});

test('[CORE-014] a refused attempt is not tried again behind our back', async () => {
  const gone = await listen(engine(), await quietAddress());
  await gone.listener.close();
  const { recorder } = dial(engine(), gone.address);
  await recorder.end();
  const server = await listen(engine(), gone.address);
  await dialAndGreet(engine(), server);
  expect(server.recorders).toHaveLength(1);
  expect(recorder.opened).toBe(0);
});
