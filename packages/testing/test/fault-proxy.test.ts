import { connect, createServer, type Server, type Socket } from 'node:net';
import { createFaultProxy, type FaultProxy, loopTurns, ManualClock, openStranger, until } from '../src/index.ts';

/** A server that keeps what it received and can answer. */
class Target {
  readonly server: Server;
  readonly sockets: Socket[] = [];
  readonly received: string[] = [];
  readonly ends: string[] = [];

  constructor() {
    this.server = createServer({ allowHalfOpen: true }, (socket) => {
      const at = this.sockets.push(socket) - 1;
      this.received[at] = '';
      socket.on('data', (bytes) => (this.received[at] += bytes.toString('latin1')));
      socket.on('end', () => (this.ends[at] = 'end'));
      socket.on('error', () => (this.ends[at] = 'reset'));
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    const address = this.server.address();
    if (address === null || typeof address === 'string') throw new Error('no TCP address');
    return `tcp://127.0.0.1:${address.port}`;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

class Client {
  readonly socket: Socket;
  received = '';
  end: string | undefined;

  constructor(address: string) {
    this.socket = connect({ host: '127.0.0.1', port: Number(address.split(':').at(-1)), allowHalfOpen: true });
    this.socket.on('data', (bytes) => (this.received += bytes.toString('latin1')));
    this.socket.on('end', () => (this.end ??= 'end'));
    this.socket.on('error', () => (this.end ??= 'reset'));
  }
}

let target: Target;
let clock: ManualClock;
let proxy: FaultProxy;
const clients: Client[] = [];

beforeEach(async () => {
  target = new Target();
  clock = new ManualClock();
  proxy = await createFaultProxy({ target: await target.listen(), clock });
});

afterEach(async () => {
  for (const client of clients.splice(0)) client.socket.destroy();
  await proxy.close();
  await target.close();
});

async function dial(): Promise<{ client: Client; far: Socket; at: number }> {
  const client = new Client(proxy.address);
  clients.push(client);
  const at = target.sockets.length;
  await until(() => target.sockets.length > at, 'the target is reached');
  const far = target.sockets[at];
  if (far === undefined) throw new Error('no connection');
  return { client, far, at };
}

test('[C03] without a fault the proxy is a wire: bytes and ends both ways', async () => {
  const { client, far, at } = await dial();
  client.socket.write('ask');
  far.write('answer');
  await until(() => target.received[at] === 'ask' && client.received === 'answer', 'both sides have their bytes');
  client.socket.end('bye');
  await until(() => target.ends[at] === 'end', 'the end arrives');
  expect(target.received[at]).toBe('askbye');
  far.end('after your end');
  await until(() => client.end === 'end', 'the other end arrives');
  expect(client.received).toBe('answerafter your end');
  await until(() => proxy.connections === 0, 'the connection is over');
});

test('[C03] a reset of one side resets the other, and so does a target that is not there', async () => {
  const { client, far } = await dial();
  far.resetAndDestroy();
  await until(() => client.end === 'reset', 'the client is reset');
  await target.close();
  const refused = new Client(proxy.address);
  clients.push(refused);
  await until(() => refused.end === 'reset', 'a refused target resets the client');
  target = new Target();
});

test('[C09] cut resets every connection now', async () => {
  const one = await dial();
  const two = await dial();
  proxy.cut();
  await until(() => one.client.end === 'reset' && two.client.end === 'reset', 'the clients are reset');
  await until(() => target.ends[one.at] === 'reset' && target.ends[two.at] === 'reset', 'the targets are reset');
  expect(proxy.connections).toBe(0);
});

test('[C03] a black hole swallows bytes and ends that way only, then the connection is cut', async () => {
  const { client, far, at } = await dial();
  proxy.blackhole('toTarget');
  client.socket.write('swallowed');
  client.socket.end();
  far.write('other way');
  await until(() => client.received === 'other way', 'the open way works');
  expect(target.received[at]).toBe('');
  expect(target.ends[at]).toBeUndefined();
  proxy.restore();
  await until(() => target.ends[at] === 'reset', 'a stream with a gap is cut');
  expect(target.received[at]).toBe('');
});

test('[C03] the death of a side stays hidden behind a black hole, and shows when it ends', async () => {
  const { client, far, at } = await dial();
  proxy.blackhole();
  client.socket.resetAndDestroy();
  const witness = await dial();
  expect(proxy.connections).toBe(2);
  expect(target.ends[at]).toBeUndefined();
  far.write('into the void');
  proxy.restore();
  await until(() => target.ends[at] === 'reset', 'the target learns of it');
  witness.client.socket.write('new bytes');
  await until(() => target.received[witness.at] === 'new bytes', 'a connection that lost nothing goes on');
});

test('[CORE-009] delay holds bytes and ends back by the clock, in order', async () => {
  const { client, at } = await dial();
  proxy.delay(100);
  client.socket.write('slow');
  await until(() => clock.pendingTimers === 1, 'the bytes wait');
  proxy.delay(0);
  client.socket.end('fast');
  await loopTurns(20);
  expect(target.received[at]).toBe('');
  clock.advance(100);
  await until(() => target.ends[at] === 'end', 'everything arrives');
  expect(target.received[at]).toBe('slowfast');
});

test('[C10] refuse resets newcomers only; truncateAfter cuts behind the given bytes', async () => {
  const { client, at } = await dial();
  proxy.refuse();
  const refused = new Client(proxy.address);
  clients.push(refused);
  await until(() => refused.end === 'reset', 'the newcomer is reset');
  client.socket.write('alive');
  await until(() => target.received[at] === 'alive', 'the old one lives');
  proxy.restore();
  proxy.truncateAfter(4);
  const later = await dial();
  later.client.socket.write('greeting');
  await until(() => later.client.end !== undefined && target.ends[later.at] === 'end', 'the connection is cut');
  expect(target.received[later.at]).toBe('gree');
  expect(proxy.accepted).toBe(2);
});

test('[C05] a target that does not read holds the client back instead of filling the proxy', async () => {
  const { client, far, at } = await dial();
  far.pause();
  const chunk = Buffer.alloc(65_536, 'a');
  let written = 0;
  while (written < 512) {
    written++;
    if (!client.socket.write(chunk)) {
      const drained = await Promise.race([
        new Promise<boolean>((resolve) => client.socket.once('drain', () => resolve(true))),
        loopTurns(2_000).then(() => false),
      ]);
      if (!drained) break;
    }
  }
  expect(written).toBeLessThan(512); // 32 MiB: far more than the buffers of two connections and the proxy
  far.resume();
  client.socket.end();
  await until(() => target.ends[at] === 'end', 'everything arrives');
  expect(target.received[at]?.length).toBe(written * chunk.length);
});

test('[C03] a delay of one way leaves the other one alone', async () => {
  const { client, far, at } = await dial();
  proxy.delay(100, 'toClient');
  client.socket.write('ask');
  far.write('answer');
  await until(() => target.received[at] === 'ask', 'the ask arrives');
  await until(() => clock.pendingTimers === 1, 'the answer waits');
  expect(client.received).toBe('');
  clock.advance(100);
  await until(() => client.received === 'answer', 'the answer arrives');
});

test('[C03] a cut of one way resets that side, and is an orderly end for the other', async () => {
  for (const [direction, ends] of [
    ['toTarget', { near: 'end', far: 'reset' }],
    ['toClient', { near: 'reset', far: 'end' }],
  ] as const) {
    const { client, at } = await dial();
    proxy.cut(direction);
    await until(() => client.end !== undefined && target.ends[at] !== undefined, 'both sides have ended');
    expect({ near: client.end, far: target.ends[at] }).toEqual(ends);
  }
});

test('[C10] a drip lets so many bytes through at a time, one way only, until it ends', async () => {
  const { client, far, at } = await dial();
  proxy.drip(4, 50, 'toTarget');
  client.socket.write('slowly now');
  far.write('at once');
  await until(() => client.received === 'at once' && target.received[at] === 'slow', 'the first bytes arrive');
  clock.advance(49);
  await loopTurns(20);
  expect(target.received[at]).toBe('slow');
  clock.advance(1);
  await until(() => target.received[at] === 'slowly n', 'the next ones arrive');
  proxy.restore();
  await until(() => target.received[at] === 'slowly now', 'the rest arrives');
});

/** Sends `bytes` over a connection of its own in parts of this size; what has arrived and which bytes differ. */
async function sent(bytes: Buffer, partBytes: number): Promise<{ at: number; hits: number[] }> {
  const { client, at } = await dial();
  for (let from = 0; from < bytes.length; from += partBytes) {
    client.socket.write(bytes.subarray(from, from + partBytes));
    await until(() => (target.received[at]?.length ?? 0) >= Math.min(from + partBytes, bytes.length), 'a part arrives');
  }
  const received = Buffer.from(target.received[at] ?? '', 'latin1');
  return { at, hits: [...received].flatMap((byte, index) => (byte === bytes[index] ? [] : [index])) };
}

test('[C06] flipped bits hit single bytes, that way only, the same ones for the same seed however the bytes come', async () => {
  const bytes = Buffer.alloc(8_000, 'a');
  const hits: number[][] = [];
  for (const [seed, partBytes] of [
    [5, 8_000],
    [5, 700],
    [6, 8_000],
  ] as const) {
    const { port } = target.server.address() as { port: number };
    await proxy.close();
    proxy = await createFaultProxy({ target: `tcp://127.0.0.1:${port}`, clock, seed });
    proxy.flipBits(100, 'toTarget');
    const { at, hits: found } = await sent(bytes, partBytes);
    hits.push(found);
    expect(proxy.flippedBits).toBe(found.length);
    for (const index of found) {
      const changed = (target.received[at]?.charCodeAt(index) ?? 0) ^ 'a'.charCodeAt(0);
      expect(Math.log2(changed) % 1).toBe(0); // one bit
    }
    target.sockets[at]?.write('unharmed'.repeat(100));
    await until(() => (clients.at(-1)?.received.length ?? 0) === 800, 'the other way arrives');
    expect(clients.at(-1)?.received).toBe('unharmed'.repeat(100));
  }
  const [first = [], again, other] = hits;
  expect(first.length).toBeGreaterThan(50);
  expect(first.length).toBeLessThan(120);
  expect(again).toEqual(first);
  expect(other).not.toEqual(first);
});

test('[C03] a drawn delay is the same for the same bytes of the stream, however they come', async () => {
  const bytes = Buffer.alloc(4_096, 'a');
  const waits: number[][] = [];
  for (const partBytes of [4_096, 512]) {
    const { port } = target.server.address() as { port: number };
    await proxy.close();
    proxy = await createFaultProxy({ target: `tcp://127.0.0.1:${port}`, clock, seed: 9 });
    proxy.delay([10, 500], 'toTarget');
    const { client } = await dial();
    for (let from = 0; from < bytes.length; from += partBytes) {
      client.socket.write(bytes.subarray(from, from + partBytes));
      await until(() => proxy.receivedBytes.toTarget === from + partBytes, 'the part has come');
    }
    const startedAtMs = clock.nowMs();
    const leaves: number[] = [];
    while (leaves.length < 4) {
      await clock.advanceAsync(1);
      const blocks = Math.floor(proxy.passedBytes.toTarget / 1_024); // the system may take its time behind it
      while (leaves.length < blocks) leaves.push(clock.nowMs() - startedAtMs);
    }
    waits.push(leaves);
  }
  expect(waits[1]).toEqual(waits[0]);
  expect(waits[0]?.[0]).toBeGreaterThanOrEqual(10);
  expect(waits[0]?.[3]).toBeLessThanOrEqual(501);
});

test('[C10] truncateAfter of one way counts that way alone, and draws anew for every connection', async () => {
  proxy.truncateAfter([3, 60], 'toTarget');
  const lengths: number[] = [];
  for (let count = 0; count < 6; count++) {
    const { client, far, at } = await dial();
    far.write('not counted'.repeat(20));
    await until(() => client.received.length === 220, 'the other way passes');
    client.socket.write('x'.repeat(100));
    await until(() => target.ends[at] === 'end', 'the connection is cut');
    lengths.push(target.received[at]?.length ?? 0);
  }
  for (const length of lengths) expect([length >= 3, length <= 60]).toEqual([true, true]);
  expect(new Set(lengths).size).toBeGreaterThan(1);
});

test('[C10] resetAfter resets both sides once so many bytes have passed', async () => {
  const { client, at } = await dial();
  proxy.resetAfter(4);
  client.socket.write('four');
  await until(() => target.received[at] === 'four', 'they pass');
  client.socket.write('5');
  await until(() => client.end === 'reset' && target.ends[at] === 'reset', 'both sides are reset');
});

test('[C10] newcomers are led to another target, and present connections stay where they are', async () => {
  const { client } = await dial();
  const other = new Target();
  try {
    proxy.leadTo(await other.listen());
    const newcomer = new Client(proxy.address);
    clients.push(newcomer);
    newcomer.socket.write('new');
    await until(() => other.received[0] === 'new', 'the newcomer is heard elsewhere');
    client.socket.write('old');
    await until(() => target.received[0] === 'old', 'the one of before is heard where it was');
    expect([target.sockets.length, other.sockets.length]).toEqual([1, 1]);
    expect(() => proxy.leadTo('tcp://127.0.0.1:0')).toThrow('target tcp://127.0.0.1:0 is no endpoint');
  } finally {
    await other.close();
  }
});

test('[C10] a share of newcomers is refused, the same ones for the same seed', async () => {
  const outcomes: string[] = [];
  for (let round = 0; round < 2; round++) {
    const { port } = target.server.address() as { port: number };
    await proxy.close();
    proxy = await createFaultProxy({ target: `tcp://127.0.0.1:${port}`, clock, seed: 3 });
    proxy.refuse(0.5);
    let outcome = '';
    for (let count = 0; count < 12; count++) {
      const client = new Client(proxy.address);
      clients.push(client);
      await until(() => proxy.accepted + proxy.refused > count, 'the newcomer is taken or refused');
      outcome += `${proxy.refused} `;
    }
    expect([proxy.refused > 1, proxy.accepted > 1]).toEqual([true, true]);
    outcomes.push(outcome);
  }
  expect(outcomes[1]).toBe(outcomes[0]);
});

test('[C10] the proxy counts the bytes that it has let through, by direction', async () => {
  const { client, far, at } = await dial();
  client.socket.write('seven b');
  far.write('four');
  await until(() => target.received[at] === 'seven b' && client.received === 'four', 'both ways have passed');
  proxy.blackhole('toTarget');
  client.socket.write('swallowed');
  await until(() => proxy.receivedBytes.toTarget === 16, 'the black hole has it');
  expect(proxy.passedBytes).toEqual({ toTarget: 7, toClient: 4 });
});

test('[C10] faults out of range are refused and change nothing', async () => {
  expect(() => proxy.delay(-1)).toThrow('delay: -1 is not allowed');
  expect(() => proxy.delay([5, 4])).toThrow(RangeError);
  expect(() => proxy.drip(0, 10)).toThrow(RangeError);
  expect(() => proxy.flipBits(0.5)).toThrow(RangeError);
  expect(() => proxy.refuse(2)).toThrow('refuse: 2 is not allowed');
  expect(() => proxy.truncateAfter(Number.NaN)).toThrow(RangeError);
  const { client, at } = await dial();
  client.socket.write('as ever');
  await until(() => target.received[at] === 'as ever', 'the bytes arrive');
});

test('[C25] closing the proxy leaves nothing: no server, no connection, no timer', async () => {
  const { client } = await dial();
  proxy.delay(60_000);
  client.socket.write('held');
  await until(() => clock.pendingTimers === 1, 'the bytes wait');
  await Promise.all([proxy.close(), proxy.close()]);
  expect(proxy.connections).toBe(0);
  expect(clock.pendingTimers).toBe(0);
  const refused = new Client(proxy.address);
  clients.push(refused);
  await until(() => refused.end === 'reset', 'nobody listens');
});

test('[C06] a stranger reports how and when the other side closed', async () => {
  const stranger = await openStranger(proxy.address, Buffer.from('GET / HTTP/1.1\r\n\r\n'));
  await until(() => target.received[0]?.endsWith('\r\n\r\n') === true, 'the bytes arrive');
  target.sockets[0]?.end('no');
  expect((await stranger.closed).how).toBe('ended');
  const second = await openStranger(proxy.address, new Uint8Array(0));
  await until(() => target.sockets.length === 2, 'connected without a byte');
  proxy.cut();
  expect((await second.closed).how).toBe('reset');
  const third = await openStranger(proxy.address, new Uint8Array(0));
  await third.close();
  await expect(openStranger('tcp://127.0.0.1:0x1', new Uint8Array(0))).rejects.toThrow('malformed');
});
