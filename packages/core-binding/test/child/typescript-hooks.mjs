// Lets a child process of a test run the TypeScript sources: Node.js 20 cannot by itself.
// Owns loading .ts files. Types are dropped, not checked; the type check of the project does that.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const compilerOptions = {
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.ESNext,
  verbatimModuleSyntax: true,
  inlineSourceMap: true,
};

export async function load(url, context, nextLoad) {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return nextLoad(url, context);
  const fileName = fileURLToPath(url);
  const source = await readFile(fileName, 'utf8');
  return {
    format: 'module',
    shortCircuit: true,
    source: ts.transpileModule(source, { fileName, compilerOptions }).outputText,
  };
}
