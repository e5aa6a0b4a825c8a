/** Where a suite registers its cases: any test runner, or a list that a test of the suite makes of them. */

export interface SuiteRunner {
  describe(title: string, register: () => void): void;
  test(title: string, run: () => Promise<void>): void;
}

/** The runner of the test file that calls, as Jest, Vitest and others put it into the global scope. */
export function globalRunner(): SuiteRunner {
  const { describe, test } = globalThis as Partial<SuiteRunner>; // where a runner puts them, if it does
  if (describe === undefined || test === undefined)
    throw new Error('there is no global describe and test; give the suite a runner');
  return { describe, test };
}
