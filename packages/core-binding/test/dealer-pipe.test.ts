import type { Dealer } from 'zeromq';
import { until } from '@zlink/testing';
import type { DialTargets } from '../src/addresses.ts';
import { returnContext, takeContext } from '../src/contexts.ts';
import { type DealerHost, DealerPipe } from '../src/dealer-pipe.ts';
import { openDealer } from '../src/socket-options.ts';
import { closeEngines, engine } from './engines.ts';
import { bytesOf, listen, newRecorder } from './pipe-recorder.ts';

const context = takeContext(1);
const gone: Promise<void>[] = [];
const faults: unknown[] = [];

beforeEach(() => faults.splice(0));
afterEach(closeEngines);
afterAll(async () => {
  await Promise.all(gone);
  returnContext(context);
});

const refusing = ['tcp://127.0.0.1:1', 'tcp://127.0.0.1:2'] as const;

/** A pipe to a name with the given addresses. */
function dialName(...addresses: [string, ...string[]]) {
  return dialThrough((socket) => socket, ...addresses);
}

/** @param prepare - sees each socket before the pipe does */
function dialThrough(prepare: (socket: Dealer) => Dealer, ...addresses: [string, ...string[]]) {
  const host: DealerHost = {
    dialProblem: undefined,
    resolve: async (): Promise<DialTargets> => ({ ok: true, addresses }),
    openSocket: (maxPartBytes, connectTimeoutMs) =>
      prepare(openDealer(context, maxPartBytes, connectTimeoutMs, undefined)),
    nowMs: () => performance.now(),
    onSocket: (ended) => gone.push(ended),
    onClosed: () => undefined,
    onFault: (_, error) => faults.push(error),
  };
  const recorder = newRecorder();
  return { recorder, pipe: new DealerPipe({ address: 'tcp://name:7000', maxPartBytes: 0 }, recorder, host) };
}

test('[CORE-009] a name is tried address by address', async () => {
  const server = await listen(engine());
  const { pipe, recorder } = dialName(...refusing, server.address);
  await until(() => recorder.opened > 0, 'open');
  pipe.send([bytesOf('found')]);
  await until(() => server.recorders[0]?.texts[0] === 'found', 'message');
  pipe.close(0);
  expect([recorder.opened, recorder.closed]).toEqual([1, []]);
});

test('[CORE-009] a name of which no address answers ends the pipe once', async () => {
  const { recorder } = dialName(...refusing);
  expect(await recorder.end()).toBe('no connection: nobody listens there or it cannot be reached');
  expect([recorder.opened, recorder.closed.length]).toEqual([0, 1]);
});

test('[CORE-009] an address that refuses access is an answer, the others are not tried', async () => {
  const closing = await listen(engine());
  const open = await listen(engine());
  await closing.listener.unbind();
  const { recorder } = dialName(closing.address, open.address);
  expect(await recorder.end()).toBe('the other side refused access');
  expect(open.recorders).toEqual([]);
});

test('[CORE-009] nothing can be sent before the pipe is open', async () => {
  const { pipe, recorder } = dialName(...refusing);
  expect(() => pipe.send([bytesOf('early')])).toThrow('[InvalidOperation] pipe to tcp://name:7000 is not open yet');
  await recorder.end();
  pipe.send([bytesOf('late')]);
  expect(recorder.closed).toHaveLength(1);
});

test.each(['onPipeOpen', 'onPipeMessage', 'onPipeClosed'] as const)(
  '[WIRE-003] an owner that throws in %s ends its own pipe, once, and nothing else',
  async (callback) => {
    const server = await listen(engine());
    const { pipe, recorder } = dialName(server.address);
    const closed: string[] = [];
    const original = recorder[callback].bind(recorder) as (...given: unknown[]) => void;
    recorder[callback] = (...given: unknown[]): void => {
      if (callback === 'onPipeClosed') closed.push(String(given[0]));
      else original(...given);
      throw new Error('owner is broken');
    };
    await until(() => recorder.opened > 0, 'open');
    if (callback === 'onPipeMessage') {
      pipe.send([bytesOf('hello')]);
      await until(() => server.pipes.length === 1, 'accepted');
      server.pipes[0]!.send([bytesOf('answer')]);
    }
    if (callback === 'onPipeClosed') await server.listener.close();
    await until(() => faults.length > 0 && recorder.closed.length + closed.length === 1, 'end');
    expect([...recorder.closed, ...closed]).toEqual([
      callback === 'onPipeClosed' ? 'connection lost' : 'internal fault of this side',
    ]);
    expect(faults).toEqual([expect.objectContaining({ message: 'owner is broken' })]);
    await gone.at(-1);
  },
);

test.each([
  ['EMFILE', 'too many open connections or files'],
  ['EFAULT', 'internal fault of this side'],
])('[WIRE-003] a receive that fails with %s ends the pipe with a fixed text', async (code, text) => {
  const server = await listen(engine());
  const receive = (): Promise<never> => Promise.reject(Object.assign(new Error('native text'), { code }));
  const failing = (socket: Dealer): Dealer =>
    new Proxy(socket, {
      get: (target, name) => {
        const value: unknown = name === 'receive' ? receive : Reflect.get(target, name, target);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value; // native methods want their own object
      },
      set: (target, name, value) => Reflect.set(target, name, value, target),
    });
  const { recorder } = dialThrough(failing, server.address);
  expect(await recorder.end()).toBe(text);
  expect(faults).toHaveLength(1);
  await gone.at(-1);
});
