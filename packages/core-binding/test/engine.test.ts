import { JobPermits } from '@zlink/kernel/internal/execution';
import { returnContext, takeContext } from '../src/contexts.ts';
import { createZmqEngine, createZmqTransport } from '../src/index.ts';
import { listen } from './pipe-recorder.ts';

const openTransports = (): Set<unknown> =>
  (globalThis as { __zlinkOpenTransports?: Set<unknown> }).__zlinkOpenTransports ?? new Set();

test('[CORE-011] an engine is in the list of open transports until it has closed', async () => {
  const engine = createZmqEngine();
  await listen(engine);
  expect(openTransports().has(engine)).toBe(true);
  await Promise.all([engine.close(), engine.close()]);
  expect(openTransports().has(engine)).toBe(false);
});

test('[CORE-011] pipes that their owners have not closed hear that the engine is', async () => {
  const engine = createZmqEngine();
  const server = await listen(engine);
  const closed: string[] = [];
  engine.connect(
    { address: server.address, maxPartBytes: 0 },
    { onPipeOpen: () => undefined, onPipeMessage: () => undefined, onPipeClosed: (reason) => closed.push(reason) },
  );
  await engine.close();
  expect(closed).toEqual(['engine is closed']);
});

test('[CORE-013] a context serves one engine at a time, and again once that has closed', () => {
  const contexts = [takeContext(1), takeContext(1), takeContext(2)];
  expect(new Set(contexts).size).toBe(3);
  for (const context of contexts) returnContext(context);
  const again = [takeContext(2), takeContext(1), takeContext(1)];
  expect(new Set(again)).toEqual(new Set(contexts));
  expect(again.map(({ ioThreads }) => ioThreads)).toEqual([2, 1, 1]);
});

test.each([0, 1.5, 33, Number.NaN])('[CORE-013] ioThreads %p is a configuration error', (ioThreads) => {
  expect(() => createZmqEngine({ ioThreads })).toThrow(/^ioThreads: .* is not allowed, allowed: 1\.\.32$/);
});

test('[CORE-013] an engine with several I/O threads works', async () => {
  const engine = createZmqEngine({ ioThreads: 2 });
  await listen(engine);
  await engine.close();
});

test('[CORE-013] a transport has as many I/O threads as its host asks for', async () => {
  const permits = new JobPermits({ max: 1, pauseThresholdPercent: 80, resumeThresholdPercent: 60 });
  const memory = { budgetBytes: 1_048_576, maxWindowBytes: 1_048_576 };
  const quiet = (): void => undefined;
  const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };
  const transportOf = (ioThreads: number) => createZmqTransport({ permits, memory, logger, ioThreads });
  expect(() => transportOf(33)).toThrow(/^ioThreads: 33 is not allowed, allowed: 1\.\.32$/);
  const spare = takeContext(3);
  returnContext(spare);
  const transport = transportOf(3);
  const other = takeContext(3);
  expect(other).not.toBe(spare); // which the transport has got
  await transport.close();
  expect(takeContext(3)).toBe(spare);
  for (const context of [spare, other]) returnContext(context);
});

test('[SEC-002] a rate that is no number above 0 is a configuration error', () => {
  const attemptRate = { burstCount: 0, perSecond: -1 };
  expect(() => createZmqEngine({ attemptRate })).toThrow(
    /2 problems[^]*attemptRate\.burstCount: 0[^]*attemptRate\.perSecond: -1/,
  );
});
