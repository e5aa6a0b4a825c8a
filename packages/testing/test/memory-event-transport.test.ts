/** Fanout over memory passes the event transport suite, and has the faults of its network. */
import type { EventTransport } from '@zlink/kernel/internal/transport';
import {
  createMemoryEngine,
  createMemoryEventTransport,
  type EventHarness,
  eventTransportSuite,
  loopTurns,
  ManualClock,
  MemoryNetwork,
} from '../src/index.ts';
import { EventRecorder } from '../src/suites/events/event-recorder.ts';
import { numbered, upTo } from '../src/suites/events/numbered.ts';
import { PipeRecorder } from './pipe-recorder.ts';

const TURNS = 8;
const MARK = 100;

const createHarness = async (): Promise<EventHarness> => {
  const network = new MemoryNetwork();
  return {
    quietTurns: TURNS,
    keptMessages: { least: MARK, most: MARK },
    makeTransport: () => createMemoryEventTransport(network, { markCount: MARK }),
    address: () => 'tcp://node:0',
    close: async () => undefined,
  };
};

for (const { title, run } of eventTransportSuite(createHarness)) test(title, run, 120_000);

const open: EventTransport[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()));
});

async function arrange() {
  const network = new MemoryNetwork();
  const transports = [0, 1, 2].map(() => createMemoryEventTransport(network, { markCount: MARK }));
  open.push(...transports);
  const [publishing, ...subscribing] = transports;
  const refused: string[] = [];
  const publisher = await publishing!.bind({
    bindAddress: 'tcp://node:0',
    onRefused: (reason) => refused.push(reason),
  });
  const address = publisher.endpoint;
  const recorders = subscribing.map((transport) => {
    const recorder = new EventRecorder();
    recorder.begin(transport.subscribe({ address }, recorder));
    return recorder;
  });
  await loopTurns(TURNS);
  return { network, publisher, address, recorders, refused };
}

test('[FAN-004] a connection that is cut ends its subscription, which is no longer counted', async () => {
  const { network, publisher, address, recorders } = await arrange();
  network.cut(network.pipesTo(address)[0]!);
  await loopTurns(TURNS);
  expect(publisher.subscriptions).toBe(1);
  expect(recorders.map(({ closed }) => closed)).toEqual([['connection lost'], []]);
});

test('[CORE-016] in a black hole a subscriber fills its mark and loses the rest; nobody else loses anything', async () => {
  const { network, publisher, address, recorders } = await arrange();
  network.blackhole(network.pipesTo(address)[0]!, 'toListener'); // it reads and cannot say so
  for (const number of upTo(MARK + 20)) {
    publisher.send(numbered(number));
    await loopTurns(2);
  }
  await loopTurns(TURNS);
  expect(recorders.map(({ numbers }) => numbers.length)).toEqual([MARK, MARK + 20]);
});

test('[CORE-016] a receiver that the network holds up keeps its mark and loses the rest', async () => {
  const { network, publisher, address, recorders } = await arrange();
  const held = network.pipesTo(address)[1]!;
  network.pauseReceiver(held, 'toDialer');
  for (const number of upTo(MARK + 20)) {
    publisher.send(numbered(number));
    await loopTurns(2);
  }
  expect(recorders.map(({ numbers }) => numbers.length)).toEqual([MARK + 20, 0]);
  network.resumeReceiver(held, 'toDialer');
  await loopTurns(TURNS);
  expect(recorders[1]?.numbers).toEqual(upTo(MARK));
});

test('[CORE-009] an attempt that nobody answers ends within the time of a handshake', async () => {
  const clock = new ManualClock();
  const network = new MemoryNetwork({ clock });
  const transport = createMemoryEventTransport(network);
  open.push(transport);
  const { endpoint } = await transport.bind({ bindAddress: 'tcp://node:0' });
  network.blackhole(endpoint);
  const recorder = new EventRecorder();
  recorder.begin(transport.subscribe({ address: endpoint }, recorder));
  await clock.advanceAsync(4_999);
  expect(recorder.closed).toEqual([]);
  await clock.advanceAsync(1);
  expect(recorder.closed).toEqual(['not answered in time']);
  expect(clock.pendingTimers).toBe(0);
});

test('[FAN-004] a peer that is no subscription is hung up on and counted as refused', async () => {
  const { network, publisher, address, recorders, refused } = await arrange();
  const engine = createMemoryEngine(network);
  const stranger = new PipeRecorder();
  engine.connect({ address, maxPartBytes: 0 }, stranger).send([Uint8Array.of(7, 7)]);
  await loopTurns(TURNS);
  expect([refused, stranger.closed]).toEqual([['unknownProtocol'], ['closed by the peer']]);
  publisher.send(numbered(1));
  await loopTurns(TURNS);
  expect(recorders.map(({ numbers }) => numbers)).toEqual([[1], [1]]);
  await engine.close();
});
