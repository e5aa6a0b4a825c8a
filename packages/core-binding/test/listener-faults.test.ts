import { Context, Router } from 'zeromq';
import { systemClock } from '@zlink/kernel/internal/time';
import type { PipeSink } from '@zlink/kernel/internal/transport';
import { until } from '@zlink/testing';
import { returnContext, takeContext } from '../src/contexts.ts';
import { type EngineWarning, resolveEngineOptions } from '../src/engine-options.ts';
import { ListenerOpener } from '../src/listener-opener.ts';
import { ZapHandler } from '../src/zap.ts';
import { closeEngines, engine } from './engines.ts';
import { bytesOf, dial, dialAndGreet, listen } from './pipe-recorder.ts';

afterEach(closeEngines);

const broken = new Error('owner is broken');
const throwBroken = (): never => {
  throw broken;
};
const address = 'tcp://127.0.0.1:0';

test.each<[string, (sink: PipeSink) => Partial<PipeSink> | never]>([
  ['while it makes its sink', throwBroken],
  ['at a message', () => ({ onPipeMessage: throwBroken })],
  ['at a message and at the end', () => ({ onPipeMessage: throwBroken, onPipeClosed: throwBroken })],
])('[WIRE-003] an owner that throws %s ends its own pipe, the listener and others live on', async (_, breakSink) => {
  const warnings: EngineWarning[] = [];
  const serving = engine({ warn: (warning) => warnings.push(warning) });
  const heard: string[] = [];
  let accepted = 0;
  const sink: PipeSink = {
    onPipeOpen: () => undefined,
    onPipeMessage: (parts, first) => heard.push(Buffer.from(parts[first]!).toString()),
    onPipeClosed: (reason) => heard.push(reason),
  };
  const listener = await serving.listen({ address, maxPartBytes: 0, onRefused: () => undefined }, () =>
    accepted++ === 0 ? { ...sink, ...breakSink(sink) } : sink,
  );
  const dialing = engine();
  for (const text of ['first', 'second']) {
    const { pipe, recorder } = dial(dialing, listener.address);
    await until(() => recorder.opened > 0, 'open');
    pipe.send([bytesOf(text)]);
    await until(() => accepted > (text === 'first' ? 0 : 1), text);
  }
  await until(() => heard.includes('second'), 'the second pipe works');
  expect(warnings.length).toBeGreaterThan(0);
  for (const warning of warnings) expect(warning).toMatchObject({ event: 'internal fault', error: broken });
});

test('[WIRE-003] counting and warning that throw do no harm', async () => {
  const serving = engine({ warn: throwBroken, attemptRate: { loopbackBurstCount: 1, loopbackPerSecond: 0.001 } });
  const listener = await serving.listen({ address, maxPartBytes: 0, onRefused: throwBroken }, throwBroken);
  const dialing = engine();
  const first = dial(dialing, listener.address);
  await until(() => first.recorder.opened > 0, 'open');
  expect(await dial(dialing, listener.address).recorder.end()).toBe('the other side refused access');
  first.pipe.send([bytesOf('hello')]);
  await serving.close();
  expect(await first.recorder.end()).toBe('connection lost');
});

/** The next receive on a ROUTER fails; later ones are libzmq's again. */
function failNextReceive(): void {
  const receive = function (this: Router): Promise<Buffer[]> {
    Reflect.deleteProperty(Router.prototype, 'receive'); // what it inherits shows again
    return Promise.reject(Object.assign(new Error('native text'), { code: 'EFAULT' }));
  };
  Object.defineProperty(Router.prototype, 'receive', { value: receive, configurable: true });
}

test('[WIRE-003] [CORE-011] a receive that fails ends the listener with its pipes; the engine closes', async () => {
  const warnings: EngineWarning[] = [];
  const serving = engine({ warn: (warning) => warnings.push(warning) });
  const faulty = await listen(serving);
  const other = await listen(serving);
  const { pipe, recorder } = await dialAndGreet(engine(), faulty);
  failNextReceive();
  pipe.send([bytesOf('is delivered, and the next receive fails')]);
  expect(await faulty.recorders[0]!.end()).toBe('internal fault of this side');
  expect(await recorder.end()).toBe('connection lost');
  expect(warnings).toEqual([
    expect.objectContaining({ event: 'internal fault', address: faulty.address, code: 'EFAULT' }),
  ]);
  await dialAndGreet(engine(), other);
  await faulty.listener.close();
  await serving.close();
});

function openerOn(context: Context, warnings: EngineWarning[]): ListenerOpener {
  const options = resolveEngineOptions({ warn: (warning) => warnings.push(warning) });
  return new ListenerOpener(context, options, undefined);
}

const listenOptions = { address, maxPartBytes: 0, onRefused: (): void => undefined };

test('[CORE-011] an admission check that cannot be set up fails one listen, not the next one', async () => {
  const context = takeContext(1);
  const warnings: EngineWarning[] = [];
  const opener = openerOn(context, warnings);
  const blocking = new Router({ context, linger: 0 });
  await blocking.bind('inproc://zeromq.zap.01');
  await expect(opener.open(listenOptions, throwBroken, () => undefined)).rejects.toThrow(/^\[AlreadyExists\]/);
  expect(warnings).toEqual([expect.objectContaining({ event: 'bind failed', address })]);
  await opener.close();
  blocking.disconnect('inproc://zeromq.zap.01');
  blocking.close();
  const listener = await opener.open(listenOptions, throwBroken, () => undefined);
  await listener.close();
  await opener.close();
  returnContext(context);
});

test('[CORE-011] a listen without descriptors left fails as CapacityExceeded and can be tried again', async () => {
  const context = new Context({ ioThreads: 1, maxSockets: 2, blocky: false });
  const opener = openerOn(context, []);
  const occupying = new Router({ context, linger: 0 }); // the handler takes the other one
  await expect(opener.open(listenOptions, throwBroken, () => undefined)).rejects.toThrow(/^\[CapacityExceeded\]/);
  occupying.close();
  await opener.close();
});

test('[WIRE-003] an admission check that has failed is replaced by the next listen, for all listeners', async () => {
  const warnings: EngineWarning[] = [];
  const serving = engine({ warn: (warning) => warnings.push(warning) });
  const before = await listen(serving);
  failNextReceive();
  const asking = dial(engine(), before.address); // the question is received, and the receive behind it fails
  await until(() => warnings.length > 0, 'fault');
  expect(warnings).toEqual([expect.objectContaining({ event: 'internal fault', code: 'EFAULT' })]);
  asking.pipe.close(0);
  const after = await listen(serving);
  const dialing = engine();
  await dialAndGreet(dialing, before);
  await dialAndGreet(dialing, after);
});

test('[SEC-002] a gate that throws has refused', async () => {
  const context = takeContext(1);
  const faults: unknown[] = [];
  const handler = await ZapHandler.open(context, {
    gateOf: () => ({ admits: throwBroken }),
    nowMs: () => systemClock.nowMs(),
    onFault: (error) => faults.push(error),
  });
  const server = new Router({ context, linger: 0, zapDomain: 'any', zapEnforceDomain: true });
  await server.bind(address);
  const { recorder } = dial(engine(), server.lastEndpoint!.replace('[::ffff:127.0.0.1]', '127.0.0.1'));
  expect(await recorder.end()).toBe('the other side refused access');
  expect(faults).toEqual([broken]);
  server.close();
  await handler.close();
  returnContext(context);
});
