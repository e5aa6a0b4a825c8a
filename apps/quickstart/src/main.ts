/**
 * `npm run demo`: plays acts, whose summaries have to add up.
 *
 * Owns the exit code: 0 everything adds up, 1 something does not or failed, 128 + N after signal N, so 130 after Ctrl-C.
 * Leaves events, pictures and proofs to the acts.
 *
 * M1 However it ends, nothing that acts have started is left and the terminal is as it was.
 */
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Act, Stage } from './act.ts';
import { type DemoOptions, readArguments, usage } from './arguments.ts';
import { createDiscoveryAct } from './discovery/act.ts';
import { Endings } from './endings.ts';
import { createMeshAct } from './mesh/act.ts';
import { Processes } from './processes.ts';
import { createShopAct } from './shop/act.ts';
import { createView } from './view.ts';

/** How many acts share the time that calls go on; the last one takes as long as what it shows. */
const timedActs = 2;

const endingSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

type EndingSignal = (typeof endingSignals)[number];

class Interruption extends Error {
  readonly signal: EndingSignal;

  constructor(signal: EndingSignal) {
    super(`interrupted by ${signal}`);
    this.signal = signal;
  }
}

async function main(): Promise<number> {
  const options = readOptions();
  if (typeof options === 'number') return options;
  const { promise: trouble, report: reportTrouble } = createTrouble();
  const processes = new Processes(reportTrouble);
  const view = createView(process.stdout, process.env);
  followSignals(reportTrouble, processes);
  process.stdout.on('error', reportTrouble); // whoever read it is gone, as in `npm run demo | head`
  const endings = new Endings();
  const endAll = async (): Promise<void> => {
    await processes.endAll();
    await endings.run();
  };
  const stage: Stage = {
    processes,
    view,
    wait: (result) => Promise.race([result, trouble]),
    atEnd: (end) => endings.add(end),
  };
  const share = { ...options, seconds: options.seconds / timedActs };
  let exitCode = 0;
  try {
    for (const act of [createShopAct(share), createMeshAct(share), createDiscoveryAct()]) {
      const { code, goOn } = await play(act, stage, endAll);
      exitCode ||= code;
      if (!goOn) break;
    }
    return exitCode;
  } finally {
    await endAll(); // M1
  }
}

interface Played {
  readonly code: number;
  /** Whether the next act may follow. */
  readonly goOn: boolean;
}

async function play(act: Act, stage: Stage, endAll: () => Promise<void>): Promise<Played> {
  const { processes, view } = stage;
  try {
    const { lines, problems } = await act.play(stage);
    view.close(['', ...lines]);
    return { code: problems.length === 0 ? 0 : 1, goOn: true };
  } catch (error) {
    if (error instanceof Interruption) {
      const soFar = act.soFar(); // before calls fail for want of who is ended
      await endAll(); // M1: said only when it is true
      view.close(['', `stopped by ${error.signal}; no process is left`, ...soFar]);
      return { code: 128 + constants.signals[error.signal], goOn: false };
    }
    view.close([]);
    await endAll();
    const cause: unknown = processes.cause ?? error;
    console.error(`demo: ${cause instanceof Error ? cause.message : String(cause)}`);
    return { code: 1, goOn: false };
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
  const files = [
    ...['framework', 'location-redis', 'testing'].map((name) => import.meta.resolve(`@zlink/${name}`)),
    ...['shop/server', 'shop/client', 'mesh/node', 'discovery/host-process', 'discovery/caller-process'].map(
      besideThis,
    ),
  ];
  return files.every((file) => existsSync(fileURLToPath(file)));
}

function besideThis(name: string): string {
  return new URL(`./${name}.js`, import.meta.url).href;
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
  promise.catch(() => undefined); // the act may be over when trouble comes
  return { promise, report };
}

/** The first signal ends the demo in order, the second one at once. */
function followSignals(reportTrouble: Trouble['report'], processes: Processes): void {
  let count = 0;
  for (const signal of endingSignals) {
    process.on(signal, () => {
      reportTrouble(new Interruption(signal));
      if (++count > 1) processes.killAll();
    });
  }
}

process.exitCode = await main();
