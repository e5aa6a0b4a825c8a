/**
 * `npm run demo`: three server processes and a client, a drain, a kill, and a summary that has to add up.
 *
 * Owns the exit code: 0 everything adds up, 1 something does not or failed, 130 interrupted. Leaves events to `script`.
 *
 * M1 However it ends, no child process is left and the terminal is as it was.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type DemoOptions, readArguments, usage } from './arguments.ts';
import { Processes } from './processes.ts';
import { Script } from './script.ts';
import { summarize } from './summary.ts';
import { createView } from './view.ts';

const interrupted = new Error('interrupted');

async function main(): Promise<number> {
  const options = readOptions();
  if (typeof options === 'number') return options;
  const { promise: trouble, report: reportTrouble } = createTrouble();
  const view = createView(process.stdout, process.env);
  const processes = new Processes(reportTrouble);
  followSignals(() => {
    reportTrouble(interrupted);
    return processes;
  });
  process.stdout.on('error', reportTrouble); // whoever read it is gone, as in `npm run demo | head`
  try {
    const { lines, problems } = summarize(await new Script(options, view, processes, trouble).play());
    view.close(['', ...lines]);
    return problems.length === 0 ? 0 : 1;
  } catch (error) {
    view.close([]);
    if (error === interrupted) return 130;
    console.error(`demo: ${error instanceof Error ? error.message : String(error)}`);
    return 1;
  } finally {
    await processes.endAll(); // M1
  }
}

/** The options, or the exit code where there is nothing to play. */
function readOptions(): DemoOptions | number {
  try {
    const options = readArguments(process.argv.slice(2));
    if (options === 'help') {
      console.log(usage);
      return 0;
    }
    if (isBuilt()) return options;
    console.error('demo: not everything is built: run "npm run build" first ("npm run demo" does both)');
  } catch (error) {
    console.error(`demo: ${(error as Error).message}\n${usage}`); // readArguments throws nothing else
  }
  return 1;
}

function isBuilt(): boolean {
  const files = [import.meta.resolve('@zlink/framework'), ...['./server.js', './client.js'].map(besideThis)];
  return files.every((file) => existsSync(fileURLToPath(file)));
}

function besideThis(name: string): string {
  return new URL(name, import.meta.url).href;
}

interface Trouble {
  readonly promise: Promise<never>;
  /** Only the first report counts: it explains the others. */
  readonly report: (error: Error) => void;
}

function createTrouble(): Trouble {
  let report!: (error: Error) => void; // set before the constructor returns
  const promise = new Promise<never>((_, reject) => {
    report = reject;
  });
  promise.catch(() => undefined); // the script may be over when trouble comes
  return { promise, report };
}

/** The first signal ends the demo in order, the second one at once. */
function followSignals(interrupt: () => Processes): void {
  let count = 0;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      const processes = interrupt();
      if (++count > 1) processes.killAll();
    });
  }
}

process.exitCode = await main();
