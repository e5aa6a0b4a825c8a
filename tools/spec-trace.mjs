// Owns: the comparison of docs/requirements.md with the ids in test titles.
// Leaves to others: running the tests (run-tests).
//
// 1. An id in a title that the list does not know fails.
// 2. A requirement that is called covered and has no test fails.
// 3. A title is a string literal that begins with `[ABC-123]` or `[C06]`; several ids may follow one another.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { findFiles, readProjects, root } from './projects.mjs';

const rowPattern = /^\|\s*([A-Z]+-\d{3}|C\d{2})\s*\|\s*(.+?)\s*\|\s*(\S+)\s*\|$/;
const titlePattern = /['"`]((?:\[(?:[A-Z]+-\d+|C\d+)\][ ,]*)+)/g;
const idPattern = /\[([^\]]+)\]/g;

function readRequirements(problems) {
  const requirements = new Map();
  for (const line of readFileSync(join(root, 'docs/requirements.md'), 'utf8').split('\n')) {
    const row = rowPattern.exec(line);
    if (row === null) continue;
    const [, id, statement, status] = row;
    if (requirements.has(id)) problems.push(`${id} is listed twice`);
    if (status !== 'covered' && status !== 'later') problems.push(`${id} has the unknown status ${status}`);
    requirements.set(id, { id, statement, status, tests: [] });
  }
  if (requirements.size === 0) problems.push('docs/requirements.md lists nothing');
  return requirements;
}

function findTestFiles() {
  const isSource = (name) => /\.(ts|mjs|js)$/.test(name);
  const folders = readProjects().map((project) => join(project.path, 'test'));
  return [...folders, join(root, 'packages/testing/src/suites')].flatMap((folder) => findFiles(folder, isSource));
}

/** Every id in a title of this source, with its line. */
function findIds(source) {
  const found = [];
  for (const title of source.matchAll(titlePattern)) {
    const line = source.slice(0, title.index).split('\n').length;
    for (const id of title[1].matchAll(idPattern)) found.push({ id: id[1], line });
  }
  return found;
}

function printTable(requirements) {
  const topics = new Map();
  for (const { id, status, tests } of requirements.values()) {
    const topic = id.includes('-') ? id.split('-')[0] : 'cases';
    const row = topics.get(topic) ?? { covered: 0, tested: 0, later: 0, tests: 0 };
    row[status] += 1;
    row.tests += tests.length;
    if (status === 'covered' && tests.length > 0) row.tested += 1;
    topics.set(topic, row);
  }
  console.log('topic    covered  with test  later  titles');
  for (const [topic, row] of topics) {
    const cells = [String(row.covered).padStart(7), String(row.tested).padStart(9), String(row.later).padStart(5)];
    console.log(`${topic.padEnd(8)} ${cells.join('  ')}  ${String(row.tests).padStart(6)}`);
  }
}

const problems = [];
const requirements = readRequirements(problems);
for (const file of findTestFiles()) {
  for (const { id, line } of findIds(readFileSync(file, 'utf8'))) {
    const place = `${relative(root, file)}:${line}`;
    const requirement = requirements.get(id);
    if (requirement === undefined) problems.push(`${place}: unknown id ${id}`);
    else requirement.tests.push(place);
  }
}
for (const { id, status, statement, tests } of requirements.values()) {
  if (status === 'covered' && tests.length === 0) problems.push(`${id} has no test: ${statement}`);
}

printTable(requirements);
mkdirSync(join(root, '.cache'), { recursive: true });
writeFileSync(join(root, '.cache/spec-trace.json'), `${JSON.stringify([...requirements.values()], undefined, 2)}\n`);
for (const problem of problems) console.error(`spec-trace: ${problem}`);
console.log(`spec-trace: ${requirements.size} requirements, ${problems.length} problems`);
if (problems.length > 0) process.exitCode = 1;
