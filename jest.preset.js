// Shared by every project's jest.config.js: real ESM, sources instead of dist, a leak check after each file.
import { fileURLToPath } from 'node:url';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

export default {
  testEnvironment: here('tools/jest-leak-guard.mjs'),
  testEnvironmentOptions: { customExportConditions: ['@zlink/source', 'node', 'node-addons'] },
  // A hang guard, not a speed limit, hooks included: projects test side by side, so any one may be starved for seconds.
  testTimeout: 60_000,
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  reporters: ['default', here('tools/jest-counts-reporter.mjs')],
  transform: { '^.+\\.ts$': ['ts-jest', { useESM: true, tsconfig: here('tsconfig.test.json') }] },
};
