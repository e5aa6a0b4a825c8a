import { until } from '@zlink/testing';
import type { DialTargets } from '../src/addresses.ts';
import { returnContext, takeContext } from '../src/contexts.ts';
import { type DealerHost, DealerPipe } from '../src/dealer-pipe.ts';
import { openDealer } from '../src/socket-options.ts';
import { closeEngines, engine } from './engines.ts';
import { bytesOf, listen, newRecorder } from './pipe-recorder.ts';

const context = takeContext(1);
const gone: Promise<void>[] = [];

afterEach(closeEngines);
afterAll(async () => {
  await Promise.all(gone);
  returnContext(context);
});

const refusing = ['tcp://127.0.0.1:1', 'tcp://127.0.0.1:2'] as const;

/** A pipe to a name with the given addresses. */
function dialName(...addresses: [string, ...string[]]) {
  const host: DealerHost = {
    dialProblem: undefined,
    resolve: async (): Promise<DialTargets> => ({ ok: true, addresses }),
    openSocket: (maxPartBytes, connectTimeoutMs) => openDealer(context, maxPartBytes, connectTimeoutMs, undefined),
    nowMs: () => performance.now(),
    onSocket: (ended) => gone.push(ended),
    onClosed: () => undefined,
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
