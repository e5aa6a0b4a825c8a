import type { Pipe, PipeEngine } from '@zlink/kernel/internal/transport';
import { createFakeSecurity, createMemoryEngine, loopTurns, ManualClock, MemoryNetwork } from '../src/index.ts';
import { bytesOf, PipeRecorder, record, type RecordedListener } from './pipe-recorder.ts';

const TURNS = 6;

interface Pair {
  readonly clock: ManualClock;
  readonly network: MemoryNetwork;
  readonly server: PipeEngine;
  readonly client: PipeEngine;
  readonly listening: RecordedListener;
  readonly address: string;
}

const engines: PipeEngine[] = [];
afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.close()));
});

async function arrange(maxPartBytes = 0): Promise<Pair> {
  const clock = new ManualClock();
  const network = new MemoryNetwork({ clock });
  const server = createMemoryEngine(network, { name: 'server' });
  const client = createMemoryEngine(network, { name: 'client' });
  engines.push(server, client);
  const listening = await record(server, 'tcp://node:0', maxPartBytes);
  return { clock, network, server, client, listening, address: listening.listener.address };
}

async function dial(pair: Pair): Promise<{ pipe: Pipe; dialer: PipeRecorder; far: Pipe; acceptor: PipeRecorder }> {
  const dialer = new PipeRecorder();
  const pipe = pair.client.connect({ address: pair.address, maxPartBytes: 0 }, dialer);
  await loopTurns(TURNS);
  const far = pair.listening.pipes.at(-1);
  const acceptor = pair.listening.recorders.at(-1);
  if (far === undefined || acceptor === undefined) throw new Error('nothing was accepted');
  return { pipe, dialer, far, acceptor };
}

test('[CORE-002] whole multipart messages arrive in order, both ways, without a copy', async () => {
  const pair = await arrange();
  const { pipe, dialer, far, acceptor } = await dial(pair);
  expect(dialer.opened).toBe(1);
  const payload = new Uint8Array(1_048_576);
  pipe.send([bytesOf('a'), payload]);
  pipe.send([bytesOf('b')]);
  far.send([bytesOf('c')]);
  await loopTurns(TURNS);
  expect(acceptor.messages[0]?.[1]).toBe(payload);
  expect(acceptor.messages.map((parts) => parts.length)).toEqual([2, 1]);
  expect(dialer.texts).toEqual(['c']);
});

test('[CORE-002] nothing arrives inside send, and 5,000 messages of one turn arrive in order', async () => {
  const pair = await arrange();
  const { pipe, acceptor } = await dial(pair);
  for (let at = 0; at < 5_000; at++) pipe.send([bytesOf(`${at}`)]);
  await Promise.resolve();
  expect(acceptor.messages).toHaveLength(0);
  await loopTurns(TURNS);
  expect(acceptor.texts).toEqual(Array.from({ length: 5_000 }, (_, at) => `${at}`));
});

test('[CORE-002] a receiver that answers every message does not keep the round from ending', async () => {
  const pair = await arrange();
  const { pipe, dialer, far, acceptor } = await dial(pair);
  acceptor.onMessage = () => far.send([bytesOf('pong')]);
  dialer.onMessage = () => pipe.send([bytesOf('ping')]);
  pipe.send([bytesOf('ping')]);
  await loopTurns(20);
  expect(acceptor.messages.length).toBeLessThanOrEqual(20);
  pipe.close(0);
});

test('[CORE-009] a dial to nobody is refused in a later turn; so is one to an unbound listener', async () => {
  const pair = await arrange();
  const dialer = new PipeRecorder();
  pair.client.connect({ address: 'tcp://nobody:1', maxPartBytes: 0 }, dialer);
  expect(dialer.closed).toEqual([]);
  await loopTurns(TURNS);
  expect(dialer.closed).toEqual(['connection refused']);
  const { pipe, acceptor } = await dial(pair);
  await pair.listening.listener.unbind();
  const late = new PipeRecorder();
  pair.client.connect({ address: pair.address, maxPartBytes: 0 }, late);
  pipe.send([bytesOf('still here')]);
  await loopTurns(TURNS);
  expect(late.closed).toEqual(['connection refused']);
  expect(acceptor.texts).toEqual(['still here']);
});

test('[CORE-014] a listener that comes back at the same address gets nothing that was sent before', async () => {
  const pair = await arrange();
  const { pipe, dialer } = await dial(pair);
  pair.network.pauseReceiver(pair.address);
  pipe.send([bytesOf('stale')]);
  pair.network.cut(pair.address);
  pair.network.restore();
  await pair.server.close();
  const restarted = createMemoryEngine(pair.network);
  engines.push(restarted);
  const again = await record(restarted, pair.address);
  const fresh = new PipeRecorder();
  pair.client.connect({ address: pair.address, maxPartBytes: 0 }, fresh).send([bytesOf('fresh')]);
  await loopTurns(TURNS);
  expect(again.recorders.map((recorder) => recorder.texts)).toEqual([['fresh']]);
  expect(dialer.closed).toEqual(['connection lost']);
});

test('[NET-002] port 0 takes a free port, a taken address is refused, a wildcard answers to every host', async () => {
  const pair = await arrange();
  const second = await record(pair.server);
  expect(second.listener.address).toMatch(/^tcp:\/\/node:[1-9][0-9]*$/);
  expect(second.listener.address).not.toBe(pair.address);
  await expect(record(pair.client, pair.address)).rejects.toThrow('is taken');
  await expect(record(pair.client, 'node:1')).rejects.toThrow('malformed');
  await record(pair.server, 'tcp://0.0.0.0:7000');
  const dialer = new PipeRecorder();
  pair.client.connect({ address: 'tcp://anything:7000', maxPartBytes: 0 }, dialer);
  await loopTurns(TURNS);
  expect(dialer.opened).toBe(1);
});

test('[CORE-011] closing tells the other side behind what was sent, and never the closing side', async () => {
  const pair = await arrange();
  const { pipe, dialer, acceptor } = await dial(pair);
  pipe.send([bytesOf('last words')]);
  pipe.close(1_000);
  pipe.close(1_000);
  pipe.send([bytesOf('too late')]);
  await loopTurns(TURNS);
  expect(acceptor.texts).toEqual(['last words']);
  expect(acceptor.closed).toEqual(['closed by the peer']);
  expect(dialer.closed).toEqual([]);
  expect(pair.network.openConnections).toBe(0);
  expect(pair.clock.pendingTimers).toBe(0);
});

test('[CORE-011] without linger what is under way is dropped, and the other side still learns of the end', async () => {
  const pair = await arrange();
  const { pipe, acceptor } = await dial(pair);
  pipe.send([bytesOf('dropped')]);
  pipe.close(0);
  await loopTurns(TURNS);
  expect(acceptor.texts).toEqual([]);
  expect(acceptor.closed).toEqual(['closed by the peer']);
});

test('[CORE-011] linger ends at its deadline when the other side does not read', async () => {
  const pair = await arrange();
  const { pipe, acceptor } = await dial(pair);
  pair.network.pauseReceiver(pair.address, 'toListener');
  pipe.send([bytesOf('never read')]);
  pipe.close(500);
  const closing = pair.client.close();
  await pair.clock.advanceAsync(499);
  expect(pair.clock.pendingTimers).toBe(1);
  await pair.clock.advanceAsync(1);
  await closing;
  pair.network.restore();
  await loopTurns(TURNS);
  expect(acceptor.texts).toEqual([]);
  expect(acceptor.closed).toEqual(['closed by the peer']);
});

test('[CORE-008] a cut tells both sides once, whoever closed before is not told', async () => {
  const pair = await arrange();
  const one = await dial(pair);
  const two = await dial(pair);
  pair.network.cut(one.far);
  await loopTurns(TURNS);
  expect([one.dialer.closed, one.acceptor.closed]).toEqual([['connection lost'], ['connection lost']]);
  expect(two.dialer.closed).toEqual([]);
  pair.network.cut(pair.address);
  two.pipe.close(0); // after the cut, before anyone was told
  await loopTurns(TURNS);
  expect([two.dialer.closed, two.acceptor.closed]).toEqual([[], ['connection lost']]);
  expect(one.dialer.closed).toHaveLength(1);
  expect(pair.network.openConnections).toBe(0);
});

test('[SEC-002] a part above the limit closes the pipe on both sides and is not delivered', async () => {
  const pair = await arrange(1_024);
  const { pipe, dialer, acceptor } = await dial(pair);
  pipe.send([bytesOf('fine'), new Uint8Array(1_024)]);
  pipe.send([bytesOf('too large'), new Uint8Array(1_025)]);
  pipe.send([bytesOf('behind')]);
  await loopTurns(TURNS);
  expect(acceptor.messages).toHaveLength(1);
  expect(acceptor.closed).toEqual(['a message part of 1025 bytes is above the limit of 1024']);
  expect(dialer.closed).toEqual(['connection lost']);
});

test('[C03] a black hole leaves both sides half-open, and cuts what lost something when it ends', async () => {
  const pair = await arrange();
  const lossy = await dial(pair);
  const quiet = await dial(pair);
  pair.network.blackhole(pair.address);
  lossy.pipe.send([bytesOf('swallowed')]);
  await loopTurns(TURNS);
  expect(lossy.acceptor.messages).toEqual([]);
  expect([lossy.dialer.closed, lossy.acceptor.closed]).toEqual([[], []]);
  pair.network.restore(pair.address);
  quiet.pipe.send([bytesOf('heard')]);
  await loopTurns(TURNS);
  expect([lossy.dialer.closed, lossy.acceptor.closed]).toEqual([['connection lost'], ['connection lost']]);
  expect(quiet.acceptor.texts).toEqual(['heard']);
});

test('[C03] a black hole one way swallows the end of a pipe too; attempts wait until it is over', async () => {
  const pair = await arrange();
  const { pipe, dialer, far, acceptor } = await dial(pair);
  pair.network.blackhole(pair.address, 'toListener');
  far.send([bytesOf('other way')]);
  await loopTurns(TURNS);
  expect(dialer.texts).toEqual(['other way']);
  pipe.close(100);
  const attempt = new PipeRecorder();
  pair.client.connect({ address: pair.address, maxPartBytes: 0 }, attempt);
  await loopTurns(TURNS);
  expect(acceptor.closed).toEqual([]);
  expect([attempt.opened, attempt.closed.length]).toEqual([0, 0]);
  pair.network.restore();
  await loopTurns(TURNS);
  expect(acceptor.closed).toEqual(['connection lost']);
  expect(attempt.opened).toBe(1);
});

test('[CORE-009] delay holds everything back by the clock and keeps the order, also when it is lowered', async () => {
  const pair = await arrange();
  const { pipe, acceptor } = await dial(pair);
  pair.network.delay(pair.address, 50);
  pipe.send([bytesOf('slow')]);
  pair.network.delay(pair.address, 0);
  pipe.send([bytesOf('fast')]);
  await pair.clock.advanceAsync(49);
  expect(acceptor.texts).toEqual([]);
  await pair.clock.advanceAsync(1);
  expect(acceptor.texts).toEqual(['slow', 'fast']);
  expect(pair.clock.pendingTimers).toBe(0);
});

test('[CORE-009] a refused address refuses new connections only, until it is restored', async () => {
  const pair = await arrange();
  const { dialer } = await dial(pair);
  pair.network.refuse(pair.address);
  const refused = new PipeRecorder();
  pair.client.connect({ address: pair.address, maxPartBytes: 0 }, refused);
  await loopTurns(TURNS);
  expect(refused.closed).toEqual(['connection refused']);
  expect(dialer.closed).toEqual([]);
  pair.network.restore(pair.address);
  expect((await dial(pair)).dialer.opened).toBe(1);
});

test("[C03] a fault on '*' concerns every address, and adds up with the fault of a single connection", async () => {
  const pair = await arrange();
  const second = await record(pair.client);
  const { pipe, acceptor } = await dial(pair);
  const other = new PipeRecorder();
  const away = pair.server.connect({ address: second.listener.address, maxPartBytes: 0 }, other);
  await loopTurns(TURNS);
  pair.network.delay('*', 20);
  pair.network.delay(pipe, 50);
  pipe.send([bytesOf('late')]);
  away.send([bytesOf('earlier')]);
  await pair.clock.advanceAsync(20);
  expect([acceptor.texts, second.recorders[0]?.texts]).toEqual([[], ['earlier']]);
  await pair.clock.advanceAsync(30);
  expect(acceptor.texts).toEqual(['late']);
  pair.network.refuse('*');
  const refused = new PipeRecorder();
  pair.client.connect({ address: pair.address, maxPartBytes: 0 }, refused);
  await pair.clock.advanceAsync(40);
  expect(refused.closed).toEqual(['connection refused']);
  pair.network.restore();
  pair.network.cut('*');
  await loopTurns(TURNS);
  expect([acceptor.closed, other.closed]).toEqual([['connection lost'], ['connection lost']]);
});

test('[CORE-004] a paused receiver of one connection reads nothing, loses nothing and disturbs no other', async () => {
  const pair = await arrange();
  const paused = await dial(pair);
  const other = await dial(pair);
  pair.network.pauseReceiver(paused.pipe, 'toListener');
  paused.pipe.send([bytesOf('one')]);
  other.pipe.send([bytesOf('two')]);
  paused.pipe.close(10_000);
  await loopTurns(TURNS);
  expect([paused.acceptor.texts, other.acceptor.texts]).toEqual([[], ['two']]);
  pair.network.resumeReceiver(paused.far, 'toListener');
  await loopTurns(TURNS);
  expect(paused.acceptor.texts).toEqual(['one']);
  expect(paused.acceptor.closed).toEqual(['closed by the peer']);
});

test('[CORE-002] an accepted message begins behind its routing part, a dialled one with its first part', async () => {
  const { pipe, dialer, far, acceptor } = await dial(await arrange());
  pipe.send([bytesOf('there')]);
  far.send([bytesOf('back')]);
  await loopTurns(TURNS);
  expect([acceptor.firsts, acceptor.texts]).toEqual([[1], ['there']]);
  expect([dialer.firsts, dialer.texts]).toEqual([[0], ['back']]);
});

test('[CORE-011] closing an engine ends what is open, once each, and takes it off the list of open transports', async () => {
  const pair = await arrange();
  const { dialer, acceptor } = await dial(pair);
  const open = (globalThis as { __zlinkOpenTransports?: Set<unknown> }).__zlinkOpenTransports;
  expect(open?.has(pair.client)).toBe(true);
  await Promise.all([pair.client.close(), pair.client.close()]);
  expect(open?.has(pair.client)).toBe(false);
  expect(dialer.closed).toEqual(['engine closed']);
  await loopTurns(TURNS);
  expect(acceptor.closed).toEqual(['closed by the peer']);
  expect(() => pair.client.connect({ address: pair.address, maxPartBytes: 0 }, dialer)).toThrow('engine closed');
  await pair.server.close();
  const successor = createMemoryEngine(pair.network);
  engines.push(successor);
  expect((await record(successor, pair.address)).listener.address).toBe(pair.address);
});

test('[SEC-001] fake security signs for its key, and no other message or key fits the signature', () => {
  const alice = createFakeSecurity('alice');
  const bob = createFakeSecurity('bob');
  const signature = alice.sign(bytesOf('hello'), 'bob');
  expect(bob.verify('alice', bytesOf('hello'), signature)).toBe(true);
  expect(bob.verify('bob', bytesOf('hello'), signature)).toBe(false);
  expect(bob.verify('alice', bytesOf('hullo'), signature)).toBe(false);
  expect(bob.verify('alice', bytesOf('hello'), new Uint8Array(0))).toBe(false);
});
