/** The link protocol over ZeroMQ passes the same suite as over memory. */
import { createLinkTransport } from '@zlink/kernel/internal/link';
import { type TransportHarness, transportSuite } from '@zlink/testing';
import { quietAddress } from '@zlink/testing/internal';
import { closeEngines, engine } from './engines.ts';
import { ThreadProbes } from './thread-probes.ts';

const ignore = (): void => undefined;
const silent = { debug: ignore, info: ignore, warn: ignore, error: ignore };

const createHarness = async (): Promise<TransportHarness> => {
  const threads = new ThreadProbes();
  return {
    quietTurns: 500,
    threadsCaughtUp: () => threads.caughtUp(),
    sharesMemory: false,
    makeTransport: (overrides) => {
      const made = engine();
      threads.add(made);
      return createLinkTransport(made, { ...overrides, logger: silent });
    },
    address: () => 'tcp://127.0.0.1:0',
    addressToKeep: quietAddress,
    close: closeEngines,
  };
};

for (const { title, run } of transportSuite(createHarness, { faults: false })) test(title, run, 240_000);
