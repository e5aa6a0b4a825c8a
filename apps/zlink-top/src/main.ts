#!/usr/bin/env node
/**
 * `zlink-top`: what ZLink hosts on this machine are doing, in a terminal.
 *
 * Owns the process: arguments, signals, streams and the exit code.
 *
 * 1. The terminal is given back however the process ends, except by SIGKILL.
 * 2. Whoever reads the output may stop: that is an orderly end.
 */
import { readArguments, type TopOptions, usage } from './arguments.ts';
import { type Display, jsonDisplay, lineDisplay, screenDisplay } from './display.ts';
import { removeIfDead } from './socket/probe.ts';
import { currentSurroundings, findPaths, foldersOf } from './socket/socket-places.ts';
import { type ExitCode, runTop } from './top.ts';
import { printable } from './view/printable.ts';

const { stdin, stdout, stderr, env } = process;

const print = (text: string): void => void stdout.write(text);
const complain = (text: string): void => void stderr.write(`zlink-top: ${text}\n`);

function readOptions(): TopOptions | ExitCode {
  try {
    const options = readArguments(process.argv.slice(2));
    if (options !== 'help') return options;
    print(`${usage}\n`);
    return 0;
  } catch (error) {
    complain(`${printable((error as Error).message)}\n${usage}`); // readArguments throws nothing else
    return 2;
  }
}

async function findHosts(): Promise<readonly string[]> {
  const surroundings = currentSurroundings();
  const found: string[] = [];
  for (const path of await findPaths(surroundings)) {
    if ((await removeIfDead(path)) !== 'dead') found.push(path);
  }
  if (found.length > 0) return found;
  const where = surroundings.platform === 'win32' ? 'pipes' : (await foldersOf(surroundings)).join(' and ');
  complain(
    `no host found: no process of this user has an inspector (looked in ${where}).\n` +
      `A host has one with host.addHostedService(inspector(host)), from the package zlink-top.`,
  );
  return found;
}

function chooseDisplay({ plain, json, once }: TopOptions, top: { redraw(): void; quit(): void }): Display {
  if (json) return jsonDisplay(print);
  const isTerminal = stdout.isTTY && env['TERM'] !== 'dumb' && !plain;
  if (!isTerminal) return lineDisplay(print, Infinity, false);
  const isColoured = (env['NO_COLOR'] ?? '') === ''; // set but empty means unset (no-color.org)
  if (once) return lineDisplay(print, stdout.columns, isColoured);
  const display = screenDisplay(
    { output: stdout, input: stdin, onResize: () => top.redraw(), onQuit: () => top.quit() },
    isColoured,
  );
  // 1: an error that nobody catches is printed behind the monitor, and shall be seen
  for (const event of ['exit', 'uncaughtExceptionMonitor'] as const) process.once(event, () => display.close());
  return display;
}

async function main(options: TopOptions): Promise<ExitCode> {
  const areNamed = options.paths.length > 0;
  const paths = areNamed ? options.paths : await findHosts();
  if (paths.length === 0) return 1;
  const interruption = new AbortController();
  const interrupt = (): void => interruption.abort();
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, interrupt);
  stdout.on('error', interrupt); // 2
  const code = await runTop(
    {
      options,
      paths,
      areNamed,
      display: (top) => chooseDisplay(options, top),
      complain,
      nowMs: () => performance.now(),
      date: () => new Date(),
    },
    interruption.signal,
  );
  for (const signal of signals) process.off(signal, interrupt);
  return code;
}

const options = readOptions();
process.exitCode = typeof options === 'number' ? options : await main(options);
