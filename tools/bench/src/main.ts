/**
 * The bench: measures what was asked for, prints it, and judges it.
 *
 * Owns the run from command line to exit code. Leaves measuring to the scenarios.
 *
 * 1. A scenario that cannot be measured fails the run: there is no figure that would say so.
 */
import { writeFileSync } from 'node:fs';
import { type CommandLine, parseCommandLine, UsageError } from './command-line.ts';
import { readMachine } from './machine.ts';
import { countVerdicts, hasFailed, reportOf, type RunReport, type ScenarioReport } from './report.ts';
import { catalogue } from './scenarios/catalogue.ts';
import { closingLine, headerLine, listLines, machineLines, scenarioLines } from './table.ts';

const print = (...lines: readonly string[]): void => {
  for (const line of lines) console.log(line);
};

async function run({ quick, strict, conditions, scenarios, json }: CommandLine): Promise<void> {
  const machine = readMachine();
  const takenAt = new Date().toISOString();
  print(...machineLines(machine), '', headerLine);
  const reports: ScenarioReport[] = [];
  for (const scenario of scenarios) {
    const report = reportOf(scenario, await scenario.measure(conditions)); // 1
    reports.push(report);
    print(...scenarioLines(report));
  }
  const counts = countVerdicts(reports);
  print('', closingLine(counts));
  if (json !== undefined) {
    const report: RunReport = { takenAt, mode: quick ? 'quick' : 'full', conditions, machine, scenarios: reports };
    writeFileSync(json, `${JSON.stringify(report, undefined, 2)}\n`);
  }
  if (hasFailed(counts, { quick, strict })) process.exitCode = 1;
}

try {
  const commandLine = parseCommandLine(process.argv.slice(2), catalogue);
  if (commandLine.list) print(...commandLine.scenarios.flatMap(listLines));
  else await run(commandLine);
} catch (error) {
  console.error(error instanceof UsageError ? error.message : error);
  process.exitCode = 2;
}
