// Owns: the result file of one project's test run, `.test-results/jest.json`, and that the run comes to an end.
// Leaves to others: adding projects up and showing failures (run-tests), naming what a suite left open (jest-leak-guard).
//
// 1. A suite that failed without a failed test (syntax error, leak, no tests) counts as one failure.
// 2. The run id tells a fresh result from one that a cache replayed.
// 3. A process that cannot exit by itself after the last suite is a failure, counted unless a suite already failed.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

const exitGraceMs = 30_000; // Jest still writes its caches, which a busy machine delays
/** Enough for what was expected, what came and the place in the test. */
const messageLines = 14;

/** What failed and how it said so; a suite that failed as a whole stands for itself. */
function failuresOf(suite, rootDir) {
  const file = relative(rootDir, suite.testFilePath);
  const failure = (title, message) => {
    const lines = stripVTControlCharacters(message).split('\n');
    return { file, title, message: lines.slice(0, messageLines).join('\n').trimEnd() };
  };
  const tests = suite.testResults.filter((test) => test.status === 'failed');
  if (tests.length > 0) return tests.map((test) => failure(test.fullName, test.failureMessages.join('\n')));
  return suite.failureMessage ? [failure('the suite itself', suite.failureMessage)] : [];
}

export default class CountsReporter {
  #watching;
  #rootDir;

  constructor(globalConfig) {
    this.#watching = globalConfig.watch || globalConfig.watchAll;
    this.#rootDir = globalConfig.rootDir;
  }

  onRunComplete(_contexts, results) {
    const failures = results.testResults.flatMap((suite) => failuresOf(suite, this.#rootDir));
    const counts = {
      runId: process.env.ZLINK_TEST_RUN_ID ?? '',
      passed: results.numPassedTests,
      failed: failures.length,
      skipped: results.numPendingTests + results.numTodoTests,
      failures,
    };
    this.#write(counts);
    if (this.#watching) return;
    // Does not hold the process itself, so it fires only where something else does.
    setTimeout(() => {
      const message = 'leak: something still holds the process after the last suite; ending it';
      if (failures.length === 0) failures.push({ file: '', title: 'the end of the run', message });
      this.#write({ ...counts, failed: failures.length });
      console.error(message);
      process.exit(1);
    }, exitGraceMs).unref();
  }

  #write(counts) {
    const folder = join(this.#rootDir, '.test-results');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'jest.json'), `${JSON.stringify(counts)}\n`);
  }
}
