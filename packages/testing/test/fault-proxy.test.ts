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
  expect(await stranger.closed).toMatchObject({ how: 'ended', receivedBytes: 2 });
  const second = await openStranger(proxy.address, new Uint8Array(0));
  await until(() => target.sockets.length === 2, 'connected without a byte');
  proxy.cut();
  expect((await second.closed).how).toBe('reset');
  const third = await openStranger(proxy.address, new Uint8Array(0));
  await third.close();
  await expect(openStranger('tcp://127.0.0.1:0x1', new Uint8Array(0))).rejects.toThrow('malformed');
});
