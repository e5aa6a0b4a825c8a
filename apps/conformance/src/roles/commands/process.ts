/** What the driver asks of the process that a host lives in. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

export class ProcessCommands {
  /** Nothing else runs in this process for so long. */
  block(ms: number): void {
    const endsAtMs = performance.now() + ms;
    while (performance.now() < endsAtMs);
  }

  memory(): { readonly rssBytes: number } {
    return { rssBytes: process.memoryUsage().rss };
  }

  /** What is in use once everything that nobody holds is gone, and the time that processors have spent on this process. */
  use(): { readonly heldBytes: number; readonly cpuMs: number } {
    const { user, system } = process.cpuUsage();
    collectGarbage();
    return { heldBytes: process.memoryUsage().heapUsed, cpuMs: (user + system) / 1_000 };
  }
}

/** Without a flag on the command line, which forked processes would need from their start. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void; // what the flag names
  collect();
}
