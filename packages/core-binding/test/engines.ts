/** Engines of a test file, all closed after each test. */
import { createZmqEngine, type ZmqEngine, type ZmqEngineOptions } from '../src/index.ts';

const open: ZmqEngine[] = [];

export function engine(options?: ZmqEngineOptions): ZmqEngine {
  const made = createZmqEngine(options);
  open.push(made);
  return made;
}

export async function closeEngines(): Promise<void> {
  await Promise.all(open.splice(0).map((each) => each.close()));
}
