import { loopTurns, until } from '@zlink/testing';
import { ReceiveLoop, type ReadableSocket } from '../src/receive-loop.ts';
import { closeEngines, engine } from './engines.ts';
import { bytesOf, dialAndGreet, listen } from './pipe-recorder.ts';

afterEach(closeEngines);

/** A socket full of messages, with the manners of zeromq.js. */
class FullSocket implements ReadableSocket {
  receiveTimeout = -1;
  closed = false;
  readonly #messages: Buffer[][];
  #waiting: { readonly deliver: (parts: Buffer[]) => void; readonly fail: (error: Error) => void } | undefined;

  constructor(messages: Buffer[][]) {
    this.#messages = messages;
  }

  get readable(): boolean {
    if (this.#waiting !== undefined) throw new Error('asked while a receive waits');
    return this.#messages.length > 0;
  }

  receive(): Promise<Buffer[]> {
    const next = this.#messages.shift();
    if (next !== undefined) return Promise.resolve(next);
    if (this.receiveTimeout === 0) return Promise.reject(new Error('nothing there'));
    return new Promise((deliver, fail) => (this.#waiting = { deliver, fail }));
  }

  arrive(message: Buffer[]): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.deliver(message);
  }

  failReceive(error: Error): void {
    this.#waiting?.fail(error);
  }

  close(): void {
    this.closed = true;
    this.#waiting?.fail(new Error('closed'));
  }
}

const fail = (error: unknown): never => {
  throw error;
};

const messages = (count: number, bytes: number): Buffer[][] =>
  Array.from({ length: count }, () => [Buffer.alloc(bytes)]);

/** How many messages are delivered before each turn that others get. */
async function rounds(socket: FullSocket, nowMs: () => number): Promise<number[]> {
  const counts: number[] = [];
  let count = 0;
  const loop = new ReceiveLoop(socket, { deliver: () => void count++, onFault: fail }, nowMs);
  for (let turn = 0; turn < 12; turn++) {
    await loopTurns(1);
    counts.push(count);
    count = 0;
  }
  expect(loop.isEmpty).toBe(true);
  socket.close();
  await loop.ended;
  return counts.filter((each) => each > 0);
}

test('[CORE-002] a round ends after 64 messages', async () => {
  expect(await rounds(new FullSocket(messages(200, 10)), () => 0)).toEqual([64, 64, 64, 8]);
});

test('[CORE-002] a round ends after 1 MiB', async () => {
  expect(await rounds(new FullSocket(messages(9, 600_000)), () => 0)).toEqual([2, 2, 2, 2, 1]);
});

test('[CORE-002] a round ends after 4 ms', async () => {
  let nowMs = 0;
  expect(await rounds(new FullSocket(messages(10, 10)), () => nowMs++)).toEqual([4, 4, 2]);
});

test('[CORE-002] time in which nothing came does not count', async () => {
  let nowMs = 0;
  const socket = new FullSocket([]);
  const delivered: Buffer[][] = [];
  const loop = new ReceiveLoop(socket, { deliver: (parts) => void delivered.push(parts), onFault: fail }, () => nowMs);
  await loopTurns(1);
  expect(loop.isEmpty).toBe(true);
  nowMs = 60_000;
  socket.arrive([Buffer.from('late')]);
  await loopTurns(1);
  expect(delivered).toHaveLength(1);
  expect(loop.isEmpty).toBe(true);
  socket.close();
  await loop.ended;
});

test('[WIRE-003] a receive that fails on an open socket ends the loop and is told once', async () => {
  const faults: unknown[] = [];
  const socket = new FullSocket(messages(3, 10));
  const loop = new ReceiveLoop(
    socket,
    { deliver: () => undefined, onFault: (error) => void faults.push(error) },
    () => 0,
  );
  await loopTurns(1);
  socket.failReceive(new Error('broken'));
  await loop.ended;
  expect(faults).toEqual([expect.objectContaining({ message: 'broken' })]);
});

test('[WIRE-003] a user that throws ends the loop and is told once', async () => {
  const faults: unknown[] = [];
  let delivered = 0;
  const deliver = (): void => {
    delivered++;
    throw new Error('user is broken');
  };
  const user = { deliver, onFault: (error: unknown): void => void faults.push(error) };
  await new ReceiveLoop(new FullSocket(messages(3, 10)), user, () => 0).ended;
  expect([delivered, faults]).toEqual([1, [expect.objectContaining({ message: 'user is broken' })]]);
});

test('[CORE-002] a flood from one peer delays neither timers nor other sockets', async () => {
  const mostSent = 5_000_000;
  const server = await listen(engine());
  const other = await listen(engine());
  const flooding = await dialAndGreet(engine(), server);
  const quiet = await dialAndGreet(engine(), other);
  let sent = 0;
  const flood = (): void => {
    if (++sent <= mostSent) flooding.pipe.send([new Uint8Array(100)]);
  };
  server.recorders[0]!.onMessage = flood; // a loop that does not let others have their turn reads them all first
  for (let at = 0; at < 20_000; at++) flood();
  quiet.pipe.send([bytesOf('me too')]);
  await other.recorders[0]!.received(2);
  expect(sent).toBeLessThan(mostSent);
  server.recorders[0]!.onMessage = undefined;
  await server.recorders[0]!.received(sent + 1);
});

test('[CORE-008] a peer that does not read delays no other', async () => {
  const server = await listen(engine());
  const { Dealer } = await import('zeromq');
  const stopped = new Dealer({ linger: 0, receiveHighWaterMark: 1 });
  stopped.connect(server.address);
  await stopped.send('hello');
  await until(() => server.pipes.length === 1, 'stopped peer');
  const reading = await dialAndGreet(engine(), server);
  for (let at = 0; at < 200; at++) server.pipes[0]!.send([new Uint8Array(1_048_576)]);
  server.pipes[1]!.send([bytesOf('prompt')]);
  await reading.recorder.received(1); // the other one has not read and does not while this takes
  expect(server.recorders[0]!.closed).toEqual([]);
  stopped.close();
});

test('[CORE-016] a paused loop delivers nothing until it is resumed, and takes one message at most', async () => {
  const socket = new FullSocket([]);
  const seen: string[] = [];
  const loop = new ReceiveLoop(socket, { deliver: ([part]) => void seen.push(String(part)), onFault: fail }, () => 0);
  await loopTurns(1);
  loop.pause();
  loop.pause();
  socket.arrive([Buffer.from('first')]);
  await loopTurns(2);
  expect([seen, loop.isEmpty]).toEqual([[], false]);
  socket.arrive([Buffer.from('nobody takes it')]); // no receive is waiting
  loop.resume();
  await loopTurns(2);
  expect([seen, loop.isEmpty]).toEqual([['first'], true]);
  socket.close();
  await loop.ended;
});

test('[CORE-016] a loop that is paused by its user delivers nothing more, however short it was resumed before', async () => {
  const socket = new FullSocket(messages(200, 10));
  let count = 0;
  const deliver = (): void => {
    count++;
    loop.pause();
  };
  const loop = new ReceiveLoop(socket, { deliver, onFault: fail }, () => 0);
  for (let expected = 1; expected <= 150; expected++) {
    await loopTurns(2);
    expect(count).toBe(expected);
    loop.resume();
    if (expected % 2 === 0) continue;
    loop.pause();
    loop.resume();
  }
  socket.close();
  loop.resume();
  await loop.ended;
});

test('[CORE-011] a loop that is paused ends with its socket when it is resumed', async () => {
  const socket = new FullSocket(messages(3, 10));
  const loop = new ReceiveLoop(socket, { deliver: () => loop.pause(), onFault: fail }, () => 0);
  await loopTurns(1);
  socket.close();
  loop.resume();
  await loop.ended;
  expect(loop.deliveredCount).toBe(1);
});
