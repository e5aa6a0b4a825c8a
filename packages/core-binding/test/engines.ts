/** Engines of a test file, all closed after each test. */
import type { PipeEngine } from '@zlink/kernel/internal/transport';
import { createZmqEngine, type ZmqEngineOptions } from '../src/index.ts';

const open: PipeEngine[] = [];

export function engine(options?: ZmqEngineOptions): PipeEngine {
  const made = createZmqEngine(options);
  open.push(made);
  return made;
}

export async function closeEngines(): Promise<void> {
  await Promise.all(open.splice(0).map((each) => each.close()));
}
