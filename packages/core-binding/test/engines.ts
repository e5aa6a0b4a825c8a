/** Engines of a test file, all closed after each test, and how long a test with engines may take. */
import { jest } from '@jest/globals';
import { createZmqEngine, type ZmqEngine, type ZmqEngineOptions } from '../src/index.ts';

jest.setTimeout(120_000); // tells a hang from a success, also on a machine that has no time for the test

const open: ZmqEngine[] = [];

export function engine(options?: ZmqEngineOptions): ZmqEngine {
  const made = createZmqEngine(options);
  open.push(made);
  return made;
}

export async function closeEngines(): Promise<void> {
  await Promise.all(open.splice(0).map((each) => each.close()));
}
