/** What others than ZLink may do at a publisher, and to a subscription. */
import { createServer, type Server } from 'node:net';
import { once } from 'node:events';
import { curveKeyPair, Dealer, Publisher, Subscriber, XSubscriber } from 'zeromq';
import type { EventPublisher } from '@zlink/kernel/internal/transport';
import { checkBeacon, EventReader } from '@zlink/kernel/internal/wire';
import { loopTurns, openStranger, randomInputs, seededRandom, strangerInputs, until } from '@zlink/testing';
import { closeEngines, engine } from './engines.ts';
import { listen } from './pipe-recorder.ts';
import { type RecordedSubscription, subscribe, subscribeTo } from './subscription-recorder.ts';

const bindAddress = 'tcp://127.0.0.1:0';
/** The handshake may take 5 s. A busy machine is late; without a limit of our own libzmq waits 30 s. */
const hungUpWithinMs = 20_000;

let publisher: EventPublisher;
let refused: string[];
let good: RecordedSubscription;

beforeEach(async () => {
  refused = [];
  publisher = await engine().bind({ bindAddress, onRefused: (reason) => refused.push(reason) });
  good = await subscribeTo(engine(), publisher);
});
afterEach(closeEngines);

async function expectUnharmed(): Promise<void> {
  const before = good.recorder.messages.length;
  publisher.send([Buffer.from('still here')]);
  await good.recorder.received(before + 1);
  expect(good.recorder.closed).toEqual([]);
  expect(publisher.subscriptions).toBe(1);
}

test('[SEC-002] [C06] strangers at a publisher are hung up on within the handshake time and counted, subscribers unharmed', async () => {
  const strangers = await Promise.all(strangerInputs.map(({ bytes }) => openStranger(publisher.endpoint, bytes)));
  await until(() => refused.length === strangers.length, 'all are counted', hungUpWithinMs);
  const ends = await Promise.all(strangers.map(({ closed }) => closed));
  for (const { afterMs } of ends) expect(afterMs).toBeLessThan(hungUpWithinMs);
  expect(new Set(refused)).toEqual(new Set(['handshakeIncomplete', 'securityMismatch', 'unknownProtocol']));
  await expectUnharmed();
});

test('[SEC-002] [C06] 500 random inputs at a publisher do no harm', async () => {
  const inputs = [...randomInputs(seededRandom(16), 500)];
  for (const bytes of inputs) await (await openStranger(publisher.endpoint, bytes)).close();
  await until(() => refused.length === inputs.length, 'all are counted');
  await expectUnharmed();
});

test('[FAN-004] only a subscription to everything counts; whatever else a peer says is not heard', async () => {
  const changes: number[] = [];
  publisher.onSubscriptions(() => changes.push(publisher.subscriptions));
  const picky = new Subscriber({ linger: 0 });
  picky.subscribe('a', 'b');
  picky.connect(publisher.endpoint);
  const talking = new XSubscriber({ linger: 0 });
  talking.connect(publisher.endpoint);
  for (const text of ['', 'x', 'hello', '\u0002']) await talking.send(text);
  await talking.send([Buffer.from('two'), Buffer.of(1)]);
  await talking.send(Buffer.of(1)); // behind all the rest
  await until(() => publisher.subscriptions === 2, 'its subscription is counted');
  let heard = '';
  const hearing = picky.receive().then(([part]) => (heard = String(part)));
  while (heard === '') {
    publisher.send([Buffer.from('and this one too')]);
    await loopTurns(1);
  }
  await hearing;
  picky.close();
  talking.close();
  await until(() => publisher.subscriptions === 1, 'it has left');
  expect(changes).toEqual([2, 1]);
  await expectUnharmed();
});

test('[SEC-002] a subscriber that says too much at once is hung up on', async () => {
  const flooding = new XSubscriber({ linger: 0 });
  flooding.connect(publisher.endpoint);
  await flooding.send(Buffer.of(1));
  await until(() => publisher.subscriptions === 2, 'counted');
  await flooding.send(Buffer.alloc(2_000, 1));
  await until(() => publisher.subscriptions === 1, 'hung up on');
  flooding.close();
  await expectUnharmed();
});

test('[FAN-004] a peer of another kind is no subscriber, and a subscription to one ends', async () => {
  const dealer = new Dealer({ linger: 0 });
  dealer.connect(publisher.endpoint);
  await until(() => refused.length > 0, 'counted');
  dealer.close();
  const mesh = await listen(engine());
  const { recorder } = subscribe(engine(), mesh.address);
  expect(await recorder.end()).not.toBe('');
  expect([recorder.opened, mesh.pipes.length]).toEqual([0, 0]);
  await expectUnharmed();
});

/** A server that says `bytes` to everyone and reads what comes. */
async function garbageServer(bytes: Uint8Array): Promise<{ readonly server: Server; readonly address: string }> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.resume().write(bytes);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { readonly port: number }; // as listening at a port
  return { server, address: `tcp://127.0.0.1:${port}` };
}

test('[SEC-002] [C06] a subscription to whatever is no publisher ends within the handshake time, or hears garbage', async () => {
  const servers = await Promise.all(strangerInputs.map(({ bytes }) => garbageServer(bytes)));
  const subscribing = engine();
  const recorders = servers.map(({ address }) => subscribe(subscribing, address).recorder);
  const isOver = (): boolean => recorders.every(({ closed, messages }) => closed.length + messages.length > 0);
  await until(isOver, 'all have ended or hear something', hungUpWithinMs);
  const reader = new EventReader();
  for (const { messages, closed } of recorders) {
    expect(closed.length).toBeLessThanOrEqual(1);
    for (const parts of messages) expect([checkBeacon(parts), reader.open(parts)]).toEqual(['none', false]);
  }
  expect(recorders.filter(({ closed }) => closed.length === 1).length).toBeGreaterThan(4);
  await closeEngines();
  await Promise.all(servers.map(({ server }) => new Promise((resolve) => server.close(resolve))));
});

test('[SEC-001] over CURVE a peer without a handshake is not heard', async () => {
  const plain = Buffer.concat([Buffer.of(1, 0, 6, 0), Buffer.from('plain')]); // identity and a message of ZMTP 1.0
  const { server, address } = await garbageServer(plain);
  const open = subscribe(engine(), address).recorder;
  await open.received(1);
  expect(open.texts).toEqual(['plain']);
  const [own, other] = [curveKeyPair(), curveKeyPair()];
  const secured = subscribe(engine({ security: { ...own, serverPublicKey: other.publicKey } }), address).recorder;
  expect(await secured.end()).not.toBe('');
  expect([secured.opened, secured.messages]).toEqual([0, []]);
  await closeEngines();
  await new Promise((resolve) => server.close(resolve));
});

test('[SEC-002] a foreign publisher: its messages come as they are, one that is too large ends its own subscription', async () => {
  const foreign = new Publisher({ linger: 0 });
  await foreign.bind(bindAddress);
  const address = foreign.lastEndpoint!.replace('[::ffff:127.0.0.1]', '127.0.0.1');
  const { recorder } = subscribe(engine(), address);
  while (recorder.messages.length === 0) {
    await foreign.send(['a', '', 'b']);
    await loopTurns(1);
  }
  expect(recorder.texts[0]).toBe('a||b');
  await foreign.send([Buffer.alloc(65_536), Buffer.alloc(65_537)]);
  expect(await recorder.end()).toBe('connection lost');
  expect(recorder.messages.every((parts) => parts.length === 3)).toBe(true);
  foreign.close();
  await expectUnharmed();
});
