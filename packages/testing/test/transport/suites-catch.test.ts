/** The suites of transports: that they notice broken ones. */
import { createLinkTransport } from '@zlink/kernel/internal/link';
import type { EventTransport, Transport } from '@zlink/kernel/internal/transport';
import {
  createMemoryEngine,
  createMemoryEventTransport,
  eventTransportSuite,
  MemoryNetwork,
  type SuiteCase,
  type TransportHarness,
  transportSuite,
} from '../../src/index.ts';
import { type BrokenEventTransport, brokenEventTransports } from './broken-event-transports.ts';
import { type BrokenTransport, brokenTransports } from './broken-transports.ts';

const MARK = 100;
/** How long is waited for what has to happen, on a busy machine too. */
const patientMs = 30_000;
/** Many times what a case takes: what never happens is not waited for longer. */
const impatientMs = 1_000;
const limitMs = 120_000;
const ignore = (): void => undefined;
const silent = { debug: ignore, info: ignore, warn: ignore, error: ignore };

function linkCases({ engine, transport }: Partial<BrokenTransport>, giveUpMs: number): readonly SuiteCase[] {
  const createHarness = async (): Promise<TransportHarness> => {
    const network = new MemoryNetwork();
    const made: Transport[] = []; // what a broken one leaves open is closed here
    return {
      quietTurns: 8,
      sharesMemory: true,
      giveUpMs,
      makeTransport: (overrides) => {
        const memory = createMemoryEngine(network);
        const inner = createLinkTransport(engine?.(memory) ?? memory, { ...overrides, logger: silent });
        made.push(inner);
        return transport?.(inner, overrides) ?? inner;
      },
      address: () => 'tcp://node:0',
      close: async () => void (await Promise.all(made.map((each) => each.close()))),
    };
  };
  return transportSuite(createHarness, { faults: false });
}

function eventCases(
  { alter, markCount = MARK }: Partial<BrokenEventTransport>,
  giveUpMs: number,
): readonly SuiteCase[] {
  return eventTransportSuite(async () => {
    const network = new MemoryNetwork();
    const made: EventTransport[] = [];
    return {
      quietTurns: 8,
      keptMessages: { least: MARK, most: MARK },
      giveUpMs,
      makeTransport: () => {
        const inner = createMemoryEventTransport(network, { markCount });
        made.push(inner);
        return alter?.(inner) ?? inner;
      },
      address: () => 'tcp://node:0',
      close: async () => void (await Promise.all(made.map((each) => each.close()))),
    };
  });
}

/** The name of what the first case of that title fails with. */
async function failureOf(cases: readonly SuiteCase[], beginning: string): Promise<string> {
  const found = cases.find(({ title }) => title.startsWith(beginning));
  if (found === undefined) throw new Error(`no case begins with ${beginning}`);
  try {
    await found.run();
    return 'none';
  } catch (error) {
    const { name, message } = error as Error; // of another realm, perhaps
    return name === 'AssertionError' || message.startsWith('did not happen') ? 'a judgement' : `${name}: ${message}`;
  }
}

test.each(brokenTransports)(
  '[CORE-001] the suite catches a transport that $what',
  async (broken) => {
    expect(await failureOf(linkCases({}, patientMs), broken.caughtBy)).toBe('none');
    expect(await failureOf(linkCases(broken, impatientMs), broken.caughtBy)).toBe('a judgement');
  },
  limitMs,
);

test.each(brokenEventTransports)(
  '[FAN-004] the suite catches an event transport that $what',
  async (broken) => {
    expect(await failureOf(eventCases({}, patientMs), broken.caughtBy)).toBe('none');
    expect(await failureOf(eventCases(broken, impatientMs), broken.caughtBy)).toBe('a judgement');
  },
  limitMs,
);
