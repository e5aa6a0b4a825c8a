/**
 * `npm run conformance`: hosts in processes of their own, and what they must do together.
 *
 * Owns the process: arguments, signals and the exit code.
 */
import { readArguments, type RunOptions, usage } from './arguments.ts';
import { catalogue } from './catalogue.ts';
import { runConformance } from './conformance.ts';

function readOptions(): RunOptions | undefined {
  try {
    const options = readArguments(process.argv.slice(2));
    if (options !== 'help') return options;
    console.log(usage);
    process.exitCode = 0;
  } catch (error) {
    console.error(`conformance: ${(error as Error).message}\n${usage}`); // readArguments throws nothing else
    process.exitCode = 1;
  }
  return undefined;
}

const options = readOptions();
if (options !== undefined) {
  const interruption = new AbortController();
  // What a failed scenario has begun and did not await fails when its processes go.
  const strays: unknown[] = [];
  process.on('unhandledRejection', (reason) => strays.push(reason));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interruption.abort());
  process.exitCode = await runConformance(catalogue, options, {
    print: (line) => console.log(line),
    progress: (line) => console.error(line),
    signal: interruption.signal,
  });
  if (process.exitCode === 0 && strays.length > 0) {
    console.error('conformance: nobody awaited what failed:', ...strays);
    process.exitCode = 1;
  }
  process.removeAllListeners('SIGINT').removeAllListeners('SIGTERM').removeAllListeners('SIGHUP');
}
