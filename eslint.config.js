// Lint rules for the whole workspace; what a project may import comes from its own package.json.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import js from '@eslint/js';
import { defineConfig } from 'eslint/config';
import ts from 'typescript-eslint';

const scriptGlobals = Object.fromEntries(
  [
    'AbortController',
    'AbortSignal',
    'Buffer',
    'clearInterval',
    'clearTimeout',
    'console',
    'performance',
    'process',
    'setImmediate',
    'setInterval',
    'setTimeout',
    'URL',
  ].map((name) => [name, 'readonly']),
);

const projects = ['packages', 'apps', 'tools'].flatMap((folder) =>
  existsSync(folder)
    ? readdirSync(folder)
        .map((name) => `${folder}/${name}`)
        .filter((path) => existsSync(`${path}/package.json`))
    : [],
);

/** Sources may import declared workspace packages only, and never another project's files. */
function importRules(path) {
  const manifest = JSON.parse(readFileSync(`${path}/package.json`, 'utf8'));
  const allowed = Object.keys(manifest.dependencies ?? {}).filter((name) => name.startsWith('@zlink/'));
  const group = ['@zlink/*', '@zlink/*/**', ...allowed.flatMap((name) => [`!${name}`, `!${name}/**`])];
  return {
    files: [`${path}/src/**/*.ts`],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            { group, message: 'not a dependency of this package' },
            { group: ['**/dist/**', '**/../src/**'], message: 'import the package, not its files' },
          ],
        },
      ],
    },
  };
}

export default defineConfig(
  { ignores: ['**/dist/**', '**/coverage/**', '.nx/**', '.cache/**', '**/.test-results/**'] },
  js.configs.recommended,
  { files: ['**/*.{js,mjs}'], languageOptions: { globals: scriptGlobals } },
  {
    files: ['**/*.ts'],
    extends: [ts.configs.recommendedTypeChecked],
    rules: {
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      // A method of a contract may have to be async for others and need no await here.
      '@typescript-eslint/require-await': 'off',
    },
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
  },
  {
    files: ['packages/*/src/**/*.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        { selector: 'ExportAllDeclaration', message: 'list what is exported' },
        { selector: 'ExportDefaultDeclaration', message: 'export by name' },
      ],
    },
  },
  {
    // Time and randomness are injected; only their ports ask the platform.
    files: ['packages/*/src/**/*.ts'],
    ignores: ['packages/kernel/src/internal/time/**'],
    rules: {
      'no-restricted-globals': ['error', 'setTimeout', 'setInterval'],
      'no-restricted-properties': [
        'error',
        { object: 'Date', property: 'now', message: 'ask the injected clock' },
        { object: 'Math', property: 'random', message: 'ask the injected source' },
      ],
    },
  },
  ...projects.map(importRules),
);
