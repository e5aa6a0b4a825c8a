// Owns: one run of the framework beside other frameworks: requests with the same JSON, 100 in flight.
// Leaves to others: measuring (the bench, built before), each framework's own code (sides/).
//
// 1. What is compared with is no part of the workspace: it is installed here, on demand, by hand.
// 2. A framework that cannot be opened is left out and named; nothing is claimed about it.
import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const here = (path) => new URL(path, import.meta.url);
const usage = `node tools/bench/peers/compare.mjs [--rounds N] [--slice MS] [--body BYTES]... [--only NAME]... [--json FILE]

Before the first run:
  npm run build
  npm install --prefix tools/bench/peers --no-package-lock
NATS also needs nats-server in the path or its path in NATS_SERVER_BIN (Debian: apt-get install nats-server).`;

const peers = [
  { name: 'gRPC unary', side: here('./sides/grpc.mjs').href },
  { name: 'Moleculer TCP', side: here('./sides/moleculer-tcp.mjs').href },
  { name: 'NestJS TCP', side: here('./sides/nest-tcp.mjs').href },
  { name: 'NATS request', side: here('./sides/nats.mjs').href },
];
const ours = { name: 'framework', side: 'framework' };
const raw = { name: 'zeromq.js', side: 'zeromq.js' };

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    slice: { type: 'string', default: '500' },
    body: { type: 'string', multiple: true, default: ['64', '1024'] },
    only: { type: 'string', multiple: true, default: [] },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

function requirePrepared() {
  if (!values.help && existsSync(here('./node_modules')) && existsSync(here('../dist/main.js'))) return;
  console.log(usage);
  process.exit(values.help ? 0 : 1);
}

function natsIsMissing() {
  return spawnSync(process.env.NATS_SERVER_BIN ?? 'nats-server', ['--version']).error !== undefined;
}

function chosenPeers() {
  const chosen = peers.filter(
    ({ name }) =>
      values.only.length === 0 || values.only.some((part) => name.toLowerCase().includes(part.toLowerCase())),
  );
  if (!chosen.some(({ name }) => name === 'NATS request') || !natsIsMissing()) return chosen;
  console.log('NATS request is left out: there is no nats-server');
  return chosen.filter(({ name }) => name !== 'NATS request');
}

/** Opens what can be opened; the framework itself must be. */
async function openAll(Duo, contestants, bodyBytes) {
  const duos = new Map();
  for (const { name, side } of contestants) {
    try {
      const duo = await Duo.open(side, { kind: 'json', bodyBytes: [bodyBytes] }, { kind: 'calls', callers: 100 });
      duos.set(name, duo);
      await duo.warmUp(Number(values.slice) * 2);
    } catch (error) {
      console.log(`${name} is left out: ${error.cause?.message ?? error.message}`);
      await duos.get(name)?.end();
      duos.delete(name);
      if (name === ours.name) throw error;
    }
  }
  return duos;
}

async function compare(bench, bodyBytes, contestants) {
  const duos = await openAll(bench.Duo, contestants, bodyBytes);
  try {
    const measured = [...duos].map(([name, duo]) => ({ name, measure: () => duo.measure(Number(values.slice)) }));
    const figures = await bench.interleave(measured, Number(values.rounds));
    const references = [...duos.keys()].filter((name) => name !== ours.name);
    const comparisons = references.map((reference) => ({ subject: ours.name, reference }));
    return bench.reportOf({ name: `requests-${bodyBytes}B`, says: usage, unit: 'perSecond', comparisons }, figures);
  } finally {
    for (const duo of duos.values()) await duo.end();
  }
}

requirePrepared();
const load = (name) => import(here(`../dist/${name}.js`).href);
const bench = { ...(await load('duo')), ...(await load('interleave')), ...(await load('report')) };
const { headerLine, machineLines, scenarioLines } = await load('table');
const machine = (await load('machine')).readMachine();
const contestants = [ours, raw, ...chosenPeers()];

for (const line of [...machineLines(machine), '', headerLine]) console.log(line);
const reports = [];
for (const body of values.body) {
  const report = await compare(bench, Number(body), contestants);
  reports.push(report);
  for (const line of scenarioLines(report)) console.log(line);
}
if (values.json !== undefined) {
  writeFileSync(values.json, `${JSON.stringify({ machine, scenarios: reports }, undefined, 2)}\n`);
  console.log(`written: ${fileURLToPath(new URL(values.json, `file://${process.cwd()}/`))}`);
}
