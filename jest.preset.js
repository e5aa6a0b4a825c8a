// Shared by every project's jest.config.js: real ESM, sources instead of dist, a leak check after each file.
import { fileURLToPath } from 'node:url';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

export default {
  testEnvironment: here('tools/jest-leak-guard.mjs'),
  testEnvironmentOptions: { customExportConditions: ['@zlink/source', 'node', 'node-addons'] },
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  reporters: ['default', here('tools/jest-counts-reporter.mjs')],
  transform: { '^.+\\.ts$': ['ts-jest', { useESM: true, tsconfig: here('tsconfig.test.json') }] },
};
