/** The link protocol over the memory engine passes the transport suite. */
import { createLinkTransport } from '@zlink/kernel/internal/link';
import { createMemoryEngine, MemoryNetwork, type TransportHarness, transportSuite } from '../src/index.ts';

const ignore = (): void => undefined;
const silent = { debug: ignore, info: ignore, warn: ignore, error: ignore };

const createHarness = async (): Promise<TransportHarness> => {
  const network = new MemoryNetwork();
  return {
    quietTurns: 8,
    sharesMemory: true,
    makeTransport: (overrides) => createLinkTransport(createMemoryEngine(network), { ...overrides, logger: silent }),
    address: () => 'tcp://node:0',
    faults: {
      cut: () => network.cut('*'),
      blackhole: () => network.blackhole('*'),
      restore: () => network.restore(),
    },
    close: async () => undefined,
  };
};

for (const { title, run } of transportSuite(createHarness, { faults: true })) test(title, run, 120_000);
