/** Fanout over ZeroMQ passes the same suite as over memory. */
import { type EventHarness, eventTransportSuite } from '@zlink/testing';
import { quietAddress } from '@zlink/testing/internal';
import { closeEngines, engine } from './engines.ts';

/** The marks of both sockets, and what the buffers of the system may hold: some 12 MiB of messages of 64 KiB. */
const keptMessages = { least: 1_000, most: 1_064 + 200 };

const createHarness = async (): Promise<EventHarness> => ({
  quietTurns: 500,
  keptMessages,
  makeTransport: () => engine(),
  address: () => 'tcp://127.0.0.1:0',
  addressToKeep: quietAddress,
  close: closeEngines,
});

for (const { title, run } of eventTransportSuite(createHarness)) test(title, run, 240_000);
