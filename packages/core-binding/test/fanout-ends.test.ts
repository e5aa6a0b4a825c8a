/** Publishers and subscribers that are killed or stopped, and errors where none is expected. */
import { XPublisher } from 'zeromq';
import { JobPermits } from '@zlink/kernel/internal/execution';
import { loopTurns, until } from '@zlink/testing';
import { quietAddress } from '@zlink/testing/internal';
import { returnContext, takeContext } from '../src/contexts.ts';
import { createZmqEngine, createZmqTransports, type EngineWarning } from '../src/index.ts';
import { openSubscriber } from '../src/socket-options.ts';
import { Child } from './child-process.ts';
import { closeEngines, engine } from './engines.ts';
import { subscribe, subscribeTo } from './subscription-recorder.ts';

const bindAddress = 'tcp://127.0.0.1:0';
const frameBytes = 65_536;
const mib = 1_048_576;

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

test('[FAN-004] a subscriber that was killed is no longer counted, and nobody else notices', async () => {
  const publisher = await engine().bind({ bindAddress });
  const { recorder } = await subscribeTo(engine(), publisher);
  const victim = child('peer.mjs', 'subscribe', publisher.endpoint);
  await until(() => publisher.subscriptions === 2, 'the child subscribes');
  victim.process.kill('SIGKILL');
  await until(() => publisher.subscriptions === 1, 'it is gone');
  publisher.send([Buffer.from('unharmed')]);
  await recorder.received(1);
  expect(recorder.closed).toEqual([]);
});

test('[FAN-004] a subscription notices that its publisher was killed, and does not dial again by itself', async () => {
  const publishing = child('peer.mjs', 'publish', await quietAddress());
  const address = await publishing.line(/^tcp:/);
  const { recorder } = subscribe(engine(), address);
  await recorder.received(1);
  publishing.process.kill('SIGKILL');
  expect(await recorder.end()).toBe('connection lost');
  await publishing.exited; // its connections may end before its listener
  const again = await engine().bind({ bindAddress: address });
  await loopTurns(1_000);
  expect([again.subscriptions, recorder.closed.length]).toEqual([0, 1]);
});

test('[CORE-014] the socket of a subscription does not dial again, however long its last messages are unread', () => {
  const context = takeContext(1);
  const socket = openSubscriber(context, [new Uint8Array(0)], 0, undefined);
  expect(socket.reconnectInterval).toBeGreaterThan(86_400_000);
  socket.close();
  returnContext(context);
});

test('[CORE-016] a subscriber whose process is stopped costs the publisher its mark, and others nothing', async () => {
  const publisher = await engine().bind({ bindAddress });
  const { recorder } = await subscribeTo(engine(), publisher);
  const stopped = child('peer.mjs', 'subscribe', publisher.endpoint);
  await until(() => publisher.subscriptions === 2, 'the child subscribes');
  publisher.send([Buffer.alloc(8)]);
  await stopped.line(/^subscribed$/);
  stopped.process.kill('SIGSTOP');
  const sent = 3_000;
  for (let count = 1; count <= sent; count++) {
    publisher.send([Buffer.alloc(frameBytes)]);
    if (count % 50 === 0) await recorder.received(count + 1);
  }
  expect([publisher.subscriptions, recorder.closed]).toEqual([2, []]);
  stopped.process.kill('SIGCONT');
  while (!stopped.output.includes('received')) {
    publisher.send([Buffer.alloc(1)]);
    await loopTurns(50);
  }
  const kept = Number(/received (\d+)/.exec(stopped.output)?.[1]);
  expect(kept).toBeGreaterThanOrEqual(1_000);
  expect(kept).toBeLessThan(1_300); // the marks of both and what the system buffers
});

/** The next receive on an XPUB fails; later ones are libzmq's again. */
function failNextReceive(): void {
  const receive = function (this: XPublisher): Promise<Buffer[]> {
    Reflect.deleteProperty(XPublisher.prototype, 'receive'); // what it inherits shows again
    return Promise.reject(Object.assign(new Error('native text'), { code: 'EFAULT' }));
  };
  Object.defineProperty(XPublisher.prototype, 'receive', { value: receive, configurable: true });
}

test('[WIRE-003] a receive that fails ends its publisher and is told to the operator; the engine lives on', async () => {
  const warnings: EngineWarning[] = [];
  const publishing = engine({ warn: (warning) => warnings.push(warning) });
  const publisher = await publishing.bind({ bindAddress });
  const { recorder } = await subscribeTo(engine(), publisher);
  failNextReceive();
  await subscribe(engine(), publisher.endpoint).recorder.end(); // its subscription is read, and the receive behind it fails
  expect(await recorder.end()).toBe('connection lost');
  expect(warnings).toEqual([
    expect.objectContaining({ event: 'internal fault', address: publisher.boundAddress, code: 'EFAULT' }),
  ]);
  publisher.send([Buffer.from('to nobody')]);
  expect(publisher.subscriptions).toBe(0);
  await subscribeTo(engine(), await publishing.bind({ bindAddress }));
});

test.each(['onOpen', 'onMessage', 'onClosed'] as const)(
  '[WIRE-003] an owner that throws in %s ends its own subscription, once, and nothing else',
  async (callback) => {
    const broken = new Error('owner is broken');
    const warnings: EngineWarning[] = [];
    const subscribing = engine({ warn: (warning) => warnings.push(warning) });
    const publisher = await engine().bind({ bindAddress });
    const closed: string[] = [];
    const other = await subscribeTo(subscribing, publisher);
    const breakIn = (name: string): void => {
      if (name === callback) throw broken;
    };
    const sink = {
      onOpen: () => breakIn('onOpen'),
      onMessage: () => breakIn('onMessage'),
      onClosed: (reason: string) => {
        closed.push(reason);
        breakIn('onClosed');
      },
    };
    subscribing.subscribe({ address: publisher.endpoint }, sink);
    if (callback !== 'onOpen') await until(() => publisher.subscriptions === 2, 'counted');
    publisher.send([Buffer.from('news')]);
    await other.recorder.received(1);
    if (callback === 'onClosed') await publisher.close(0);
    await until(() => closed.length === 1 && warnings.length > 0, 'it ends');
    expect(closed).toEqual([callback === 'onClosed' ? 'connection lost' : 'internal fault of this side']);
    expect(warnings).toEqual([expect.objectContaining({ event: 'internal fault', error: broken })]);
    if (callback !== 'onClosed') expect(other.recorder.closed).toEqual([]);
  },
);

test('[WIRE-003] a listener of subscriptions that throws is told to the operator, and counting goes on', async () => {
  const broken = new Error('owner is broken');
  const warnings: EngineWarning[] = [];
  const publisher = await engine({ warn: (warning) => warnings.push(warning) }).bind({ bindAddress });
  publisher.onSubscriptions(() => {
    throw broken;
  });
  await subscribeTo(engine(), publisher);
  await subscribeTo(engine(), publisher);
  expect(warnings.map(({ error }) => error)).toEqual([broken, broken]);
});

test('[CORE-011] an engine that closes while it binds or dials leaves nothing', async () => {
  const closing = createZmqEngine();
  const publisher = await engine().bind({ bindAddress });
  const binding = closing.bind({ bindAddress });
  const { recorder } = subscribe(closing, publisher.endpoint);
  await closing.close();
  await expect(binding).rejects.toThrow('[ShuttingDown] engine is closed');
  expect(recorder.closed).toEqual(['engine is closed']);
  await expect(closing.bind({ bindAddress })).rejects.toThrow('[ShuttingDown] engine is closed');
  expect(() => subscribe(closing, publisher.endpoint)).toThrow('[ShuttingDown] engine is closed');
  await loopTurns(500);
  expect(publisher.subscriptions).toBe(0);
});

test('[CORE-013] links and fanout of a host share one engine, and who closes the one has closed the other', async () => {
  const silent = { debug: ignore, info: ignore, warn: ignore, error: ignore };
  const { transport, events } = createZmqTransports({
    permits: new JobPermits({ max: 1, pauseThresholdPercent: 80, resumeThresholdPercent: 60 }),
    memory: { budgetBytes: mib, maxWindowBytes: mib },
    logger: silent,
  });
  const publisher = await events.bind({ bindAddress });
  const { recorder } = await subscribeTo(engine(), publisher);
  await transport.close();
  expect(await recorder.end()).toBe('connection lost');
  await expect(events.bind({ bindAddress })).rejects.toThrow('[ShuttingDown]');
});

function ignore(): void {
  // Nothing is logged.
}
