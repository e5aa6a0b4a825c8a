// Owns: who may depend on whom, between packages and between the kernel's folders.
// Leaves to others: how code looks (ESLint), what is unused (knip).
//
// 1. A dependency lies in a lower layer. The one exception is @zlink/testing as a devDependency.
// 2. What a project imports it declares; a test may also use what the root declares.
// 3. Only core-binding and bench touch `zeromq`, of all sources only telemetry's `@opentelemetry/api`; no package depends on
//    the framework.
// 4. The kernel has no dependency, no `node:` import and no root export, and its folders form a DAG.
// 5. TypeScript's project references equal the workspace dependencies.
// 6. The framework composes and does little else: its sources, without what options mean, stay under a fixed number of lines.
import { existsSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, relative, resolve, sep } from 'node:path';
import ts from 'typescript';
import { findFiles, readProjects, root } from './projects.mjs';

const kernel = '@zlink/kernel';
const testing = '@zlink/testing';
const framework = '@zlink/framework';
const frameworkLines = 900;
const frameworkOptions = 'options'; // a folder of its sources: beside composition, and as long as there are options
const zeromqUsers = new Set(['@zlink/core-binding', '@zlink/bench']);
const telemetry = '@zlink/telemetry';
const telemetryApi = '@opentelemetry/api'; // tests and applications use it as well

/**
 * From the bottom up: a folder imports from earlier rows and from its own. Inside a row, what is loaded at run time forms
 * no circle; types may.
 */
const kernelRows = [
  ['errors', 'internal/time', 'identity'],
  ['message', 'internal/completion', 'internal/options', 'lifecycle'],
  ['observe'],
  ['codec', 'internal/wire', 'internal/transport', 'internal/execution'],
  ['internal/link', 'dispatch', 'internal/selection', 'call', 'location'],
  ['internal/discovery'],
  ['internal/host'],
];

const problems = [];
const report = (place, text) => problems.push(`${place}: ${text}`);
const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'));
const runtimeNames = ({ dependencies, peerDependencies, optionalDependencies }) =>
  Object.keys({ ...dependencies, ...peerDependencies, ...optionalDependencies });

const projects = readProjects();
const byName = new Map(projects.map((project) => [project.name, project]));
const rootNames = Object.keys(readJson(join(root, 'package.json')).devDependencies);

function layerOf(project) {
  const layers = (project.manifest.nx?.tags ?? []).filter((tag) => /^layer:\d+$/.test(tag));
  return layers.length === 1 ? Number(layers[0].slice('layer:'.length)) : undefined;
}

function checkManifest(project) {
  const { manifest, folder } = project;
  const layer = layerOf(project);
  if (layer === undefined) return report(folder, 'needs exactly one tag layer:N');
  const runtime = runtimeNames(manifest);
  for (const name of runtime) {
    const other = byName.get(name);
    if (other !== undefined && layerOf(other) >= layer)
      report(folder, `depends on ${name}, which is not in a lower layer`);
  }
  for (const name of Object.keys(manifest.devDependencies ?? {})) {
    const other = byName.get(name);
    if (other === undefined || name === testing) continue;
    if (layerOf(other) >= layer) report(folder, `devDependency ${name} is not in a lower layer`);
  }
  if (folder.startsWith('packages/') && runtime.includes(framework))
    report(folder, 'only apps and tools use the framework');
  if (runtime.includes('zeromq') && !zeromqUsers.has(project.name)) report(folder, 'may not depend on zeromq');
  if (folder.startsWith('packages/') && runtime.includes(telemetryApi) && project.name !== telemetry)
    report(folder, `may not depend on ${telemetryApi}`);
  if (project.name === kernel) checkKernelManifest(project, runtime);
}

function checkKernelManifest({ manifest, folder }, runtime) {
  const all = [...runtime, ...Object.keys(manifest.devDependencies ?? {})];
  if (all.length > 0) report(folder, `the kernel has no dependencies, found ${all.join(', ')}`);
  if (manifest.exports['.'] !== undefined) report(folder, 'the kernel has no root export');
}

function checkReferences(project) {
  const config = readJson(join(project.path, 'tsconfig.build.json'));
  const references = (config.references ?? []).map(({ path }) => relative(root, dirname(resolve(project.path, path))));
  const wanted = runtimeNames(project.manifest).flatMap((name) => byName.get(name)?.folder ?? []);
  for (const folder of wanted) {
    if (!references.includes(folder)) report(project.folder, `tsconfig.build.json lacks the reference to ${folder}`);
  }
  for (const folder of references) {
    if (!wanted.includes(folder))
      report(project.folder, `tsconfig.build.json refers to ${folder}, which is no dependency`);
  }
}

function checkRootReferences() {
  const { references } = readJson(join(root, 'tsconfig.build.json'));
  const folders = references.map(({ path }) => relative(root, dirname(resolve(root, path))));
  for (const { folder } of projects) {
    if (!folders.includes(folder)) report('tsconfig.build.json', `lacks the reference to ${folder}`);
  }
}

function checkExports({ manifest, folder, path }) {
  for (const [subpath, target] of Object.entries(manifest.exports ?? {})) {
    if (typeof target === 'string') continue;
    if (!existsSync(join(path, target['@zlink/source']))) report(folder, `export ${subpath} has no source file`);
  }
}

/** Every import of a file; `isType` means that nothing of it is left at run time. */
function readImports(file) {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest);
  const found = [];
  const add = (node, literal, isType) => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
    found.push({ specifier: literal.text, place: `${relative(root, file)}:${line + 1}`, isType });
  };
  const visit = (node) => {
    const isFrom = ts.isImportDeclaration(node) || ts.isExportDeclaration(node);
    if (isFrom && node.moduleSpecifier !== undefined) add(node, node.moduleSpecifier, isTypeOnly(node));
    else if (ts.isImportTypeNode(node)) add(node, node.argument.literal, true);
    else if (ts.isCallExpression(node) && isLoad(node)) add(node, node.arguments[0], false);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function isTypeOnly(node) {
  const clause = ts.isImportDeclaration(node) ? node.importClause : node;
  return clause?.isTypeOnly ?? false; // `import { type A }` still loads the module
}

function isLoad({ expression, arguments: [first] }) {
  const loads = expression.kind === ts.SyntaxKind.ImportKeyword || expression.escapedText === 'require';
  return loads && first !== undefined && ts.isStringLiteralLike(first);
}

const packageNameOf = (specifier) =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

/** `kind` is the project's subfolder: `src` answers to stricter rules than tests and examples. */
function checkImport(project, kind, file, { specifier, place }) {
  if (specifier.startsWith('.')) return checkRelative(project, kind, file, specifier, place);
  if (isBuiltin(specifier)) {
    if (kind === 'src' && project.name === kernel) report(place, `the kernel may not import ${specifier}`);
    else if (!specifier.startsWith('node:')) report(place, `write node:${specifier}`);
    return;
  }
  const name = packageNameOf(specifier);
  if (name === 'zeromq' && !zeromqUsers.has(project.name)) return report(place, 'may not import zeromq');
  if (runtimeNames(project.manifest).includes(name)) return;
  if (kind === 'src') return report(place, `${name} is not among the dependencies of ${project.name}`);
  // An example is an application: it composes packages of the same layer, installed from their tarballs.
  if (kind === 'examples' && projects.some((other) => other.name === name)) return;
  const forTests = [project.name, ...Object.keys(project.manifest.devDependencies ?? {}), ...rootNames];
  // The kernel cannot declare testing: the build graph would be a circle.
  if (project.name === kernel) forTests.push(testing);
  if (!forTests.includes(name)) report(place, `${name} is not declared by ${project.name}`);
}

function checkRelative(project, kind, file, specifier, place) {
  const target = resolve(dirname(file), specifier);
  const fence = kind === 'src' ? join(project.path, 'src') : project.path;
  if (!target.startsWith(fence + sep)) report(place, `${specifier} leaves ${relative(root, fence)}`);
  if (!/\.(ts|mjs|js|json)$/.test(specifier)) report(place, `${specifier} lacks its file extension`);
}

function checkKernelFolders(project) {
  const source = join(project.path, 'src');
  const folders = kernelRows.flat();
  const rowOf = (folder) => kernelRows.findIndex((row) => row.includes(folder));
  const folderOf = (file) => {
    const path = relative(source, file).split(sep).join('/');
    return folders.find((folder) => path.startsWith(`${folder}/`));
  };
  const edges = new Map(folders.map((folder) => [folder, new Map()]));
  for (const file of findFiles(source, (name) => name.endsWith('.ts'))) {
    const from = folderOf(file);
    if (from === undefined) {
      report(relative(root, file), 'lies in no known folder of the kernel');
      continue;
    }
    for (const { specifier, place, isType } of readImports(file)) {
      const to = specifier.startsWith('.') ? folderOf(resolve(dirname(file), specifier)) : undefined;
      if (to === undefined || to === from) continue;
      if (rowOf(to) > rowOf(from)) report(place, `${from} may not import from ${to}, which is above it`);
      else if (!isType) edges.get(from).set(to, place);
    }
  }
  reportCircles(edges);
}

function reportCircles(edges) {
  const done = new Set();
  const visit = (folder, trail) => {
    const at = trail.indexOf(folder);
    if (at >= 0)
      return report(edges.get(trail.at(-1)).get(folder), `circle: ${[...trail.slice(at), folder].join(' > ')}`);
    if (done.has(folder)) return;
    for (const next of edges.get(folder).keys()) visit(next, [...trail, folder]);
    done.add(folder);
  };
  for (const folder of edges.keys()) visit(folder, []);
}

function checkSize({ folder, path }) {
  const source = join(path, 'src');
  const options = join(source, frameworkOptions) + sep;
  const files = findFiles(source, (name) => name.endsWith('.ts')).filter((file) => !file.startsWith(options));
  const lines = files.reduce((sum, file) => sum + readFileSync(file, 'utf8').split('\n').length - 1, 0);
  const what = `lines of source beside ${frameworkOptions}`;
  if (lines >= frameworkLines) report(folder, `has ${lines} ${what}, allowed: under ${frameworkLines}`);
}

for (const project of projects) {
  checkManifest(project);
  checkReferences(project);
  checkExports(project);
  for (const kind of ['src', 'test', 'examples']) {
    for (const file of findFiles(join(project.path, kind), (name) => /\.(ts|mjs|js)$/.test(name))) {
      for (const found of readImports(file)) checkImport(project, kind, file, found);
    }
  }
  if (project.name === kernel) checkKernelFolders(project);
  if (project.name === framework) checkSize(project);
}
checkRootReferences();

for (const problem of problems) console.error(`check-layers: ${problem}`);
console.log(`check-layers: ${projects.length} projects, ${problems.length} problems`);
if (problems.length > 0) process.exitCode = 1;
