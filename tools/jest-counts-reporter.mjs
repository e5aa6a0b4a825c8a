// Owns: the result file of one project's test run, `.test-results/jest.json`, and that the run comes to an end.
// Leaves to others: adding projects up (run-tests), naming what a suite left open (jest-leak-guard).
//
// 1. A suite that failed without a failed test (syntax error, leak, no tests) counts as one failure.
// 2. The run id tells a fresh result from one that a cache replayed.
// 3. A process that cannot exit by itself after the last suite is a failure, counted unless a suite already failed.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const exitGraceMs = 5_000;

export default class CountsReporter {
  #watching;
  #folder;

  constructor(globalConfig) {
    this.#watching = globalConfig.watch || globalConfig.watchAll;
    this.#folder = join(globalConfig.rootDir, '.test-results');
  }

  onRunComplete(_contexts, results) {
    const brokenSuites = results.testResults.filter((suite) => suite.failureMessage && suite.numFailingTests === 0);
    const counts = {
      runId: process.env.ZLINK_TEST_RUN_ID ?? '',
      passed: results.numPassedTests,
      failed: results.numFailedTests + brokenSuites.length,
      skipped: results.numPendingTests + results.numTodoTests,
    };
    this.#write(counts);
    if (this.#watching) return;
    // Does not hold the process itself, so it fires only where something else does.
    setTimeout(() => {
      this.#write({ ...counts, failed: Math.max(counts.failed, 1) });
      console.error('leak: something still holds the process after the last suite; ending it');
      process.exit(1);
    }, exitGraceMs).unref();
  }

  #write(counts) {
    mkdirSync(this.#folder, { recursive: true });
    writeFileSync(join(this.#folder, 'jest.json'), `${JSON.stringify(counts)}\n`);
  }
}
