import { once } from 'node:events';
import { connect } from 'node:net';
import { availableParallelism } from 'node:os';
import { quietPort, runScript } from '@zlink/testing/internal';
import { built } from './paths.ts';

const limitMs = 300_000; // tells a hang from a success, also on a machine that has no time for the demo
const withoutRedis = { REDIS_SERVER_BIN: 'none' };

test(
  '[CALL-004] [CS-008] [NODE-001] the demo drains and kills servers and nodes, accounts for every call and ends by itself',
  async () => {
    const port = String(await quietPort()); // its two neighbours above are used, too, and one node takes its own again
    const { code, stdout, stderr } = await runScript(built('main.js'), ['--seconds', '6', '--port', port]).finished;
    expect(stderr).toBe('');
    expect(stdout).not.toContain('\x1b');
    const [shop, mesh, fleet] = stdout.split(/^.*(?:A mesh|Discovery): .*$/m) as [string, string, string];
    expectShop(shop);
    expectMesh(mesh);
    expectFleet(fleet);
    expect(stdout).not.toContain('MISMATCH');
    const proofs = [...stdout.matchAll(/proof: ([\d,]+) accepted = ([\d,]+) answered \+ ([\d,]+) typed errors\n/g)];
    expect(proofs).toHaveLength(3);
    let failures = 0;
    for (const proof of proofs) {
      const [accepted, answered, failed] = proof.slice(1).map((text) => Number(text.replaceAll(',', '')));
      expect(answered! + failed!).toBe(accepted);
      expect(answered).toBeGreaterThan(100);
      failures += failed!;
    }
    expect(failures).toBeGreaterThan(0); // who is killed has slow calls in its hands, unless the others stand still
    expect(code).toBe(0);
    expectGone(stdout);
    await expectRedisGone(stdout);
  },
  limitMs,
);

test(
  '[MESH-003] [LOC-006] without a redis-server hosts find each other in one process, and the demo says why',
  async () => {
    const { code, stdout, stderr } = await runScript(built('main.js'), ['--seconds', '3'], { env: withoutRedis })
      .finished;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [, fleet] = stdout.split(/^.*Discovery: .*$/m) as [string, string];
    expect(fleet).toContain('all of them in this one process, over a store in memory');
    expect(fleet).toContain('("none" does not run here; with Redis 6.2 or newer');
    expect(fleet).toContain('No host is killed here: one process cannot lose a part of itself.');
    expect(fleet).not.toContain('(process ');
    expectDiscoveries(fleet, 'the store');
    expect(fleet).not.toContain('MISMATCH');
    const [, accepted, answered, failed] = /proof: ([\d,]+) accepted = ([\d,]+) answered \+ ([\d,]+) typed errors\n$/
      .exec(fleet)!
      .map(numberIn);
    expect(answered! + failed!).toBe(accepted);
    expect(answered).toBeGreaterThan(100);
  },
  limitMs,
);

function expectShop(stdout: string): void {
  for (const phase of ['1  All three serve', '2  ash is drained', '3  birch is killed', '4  No new calls']) {
    expect(stdout).toContain(phase);
  }
  expect(stdout).toMatch(/\[ash left [\d.]+ %, birch killed [\d.]+ %, cedar ready [\d.]+ %\]\n/);
  expect(stdout).not.toContain('reconnecting'); // what became of a server is known
  expect(stdout).toContain(
    `share ${availableParallelism() === 1 ? 'the one core' : `the ${availableParallelism()} cores`}`,
  );
}

function expectMesh(stdout: string): void {
  const phases = [
    '1  Every node dials',
    '2  lobby calls',
    '3  play-2 is killed',
    '4  play-2 starts',
    '5  No new calls',
  ];
  for (const phase of phases) expect(stdout).toContain(phase);
  expect(stdout).toContain('The first four calls went to play-2, play-1, play-2, play-2.');
  expect(stdout).toContain('Direct calls to each RID from both other nodes: 6 answered.');
  expect(stdout).toMatch(/\[play-1 ready [\d.]+ %, play-2 killed [\d.]+ %\]/);
  expect(stdout).toMatch(/Direct calls to and from play-2 were answered [\d.]+ s later/);
  const [, one, three] = /weights {3}100 : 300 shared out ([\d,]+) : ([\d,]+) calls/.exec(stdout) ?? [];
  expect(Number(one?.replaceAll(',', '')) * 3).toBe(Number(three?.replaceAll(',', '')));
}

function expectFleet(stdout: string): void {
  expect(stdout).toMatch(/all that they know is the address of Redis: redis:\/\/127\.0\.0\.1:\d+/);
  expect(stdout).toContain('They are crane (process ');
  expectDiscoveries(stdout, 'Redis');
  const [, leftOut, gone] =
    /ibis: connections gone after [\d.]+ m?s, left out after ([\d.]+) s, what it had published gone after ([\d.]+) s/.exec(
      stdout,
    ) ?? [];
  expect(Number(gone)).toBeGreaterThan(Number(leftOut) + 3); // the life of a lease
}

const introductions = {
  rides: 'rides go over a mesh',
  loads: 'loads over a channel',
  Shares: 'Shares count both',
  'left out': 'left out when',
  forgotten: 'forgotten when',
};

function expectDiscoveries(stdout: string, store: string): void {
  for (const [word, introduction] of Object.entries(introductions))
    expect([word, stdout.indexOf(word)]).toEqual([word, stdout.indexOf(introduction)]); // where it appears first
  expect(stdout).toMatch(/found {5}all three hosts, seen by the caller [\d.]+ m?s after the last one had started/);
  expect(stdout).toMatch(/joined {4}kite, seen [\d.]+ m?s after it had started/);
  expect(stdout).toMatch(/weight {4}crane's, from 100 to 300, seen [\d.]+ m?s later/);
  const [, away, answered] =
    /away {6}(.+), for (?:[2-9]|\d{2,})\.\d s: ([\d,]+) calls answered meanwhile, 0 failed/.exec(stdout) ?? [];
  expect(away).toBe(store);
  expect(numberIn(answered!)).toBeGreaterThan(100);
  expect(stdout).toMatch(/left {6}heron: no new calls [\d.]+ m?s after it was told, what it had published gone after /);
}

function numberIn(text: string): number {
  return Number(text.replaceAll(',', ''));
}

/** Nobody answers at the address of the redis-server that the demo has named. */
async function expectRedisGone(stdout: string): Promise<void> {
  const [, port] = /redis:\/\/127\.0\.0\.1:(\d+)/.exec(stdout)!;
  const socket = connect(Number(port), '127.0.0.1');
  const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException];
  expect(error.code).toBe('ECONNREFUSED');
}

/** Every process that the demo has named is gone. */
function expectGone(stdout: string): void {
  const pids = [...stdout.matchAll(/\(process (\d+)\)/g)].map(([, pid]) => Number(pid));
  expect(pids.length).toBeGreaterThan(2);
  for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
}

/** What is said last adds up. A busy machine interrupts late: calls may have failed if `cause` was printed before. */
function expectAccount(stdout: string, cause: RegExp): void {
  const account =
    /so far: ([\d,]+) accepted = ([\d,]+) answered \+ ([\d,]+) typed errors \+ ([\d,]+) in flight\n$/.exec(stdout) ??
    [];
  const [accepted, answered = NaN, failed = NaN, inFlight = NaN] = account
    .slice(1)
    .map((text) => Number(text.replaceAll(',', '')));
  expect(accepted).toBe(answered + failed + inFlight);
  if (!cause.test(stdout)) expect(failed).toBe(0);
}

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)(
  '[C25] a demo ended by %s ends its processes, says what it had counted, and exits with %i',
  async (signal, expected) => {
    const demo = runScript(built('main.js'), ['--seconds', '50']);
    await demo.printed(/calls\/s/);
    demo.kill(signal);
    const { code, stdout, stderr } = await demo.finished;
    expect({ code, stderr }).toEqual({ code: expected, stderr: '' });
    expect(stdout).toContain(`stopped by ${signal}; no process is left\n`);
    expectAccount(stdout, /is drained|is killed/);
    expectGone(stdout);
  },
  limitMs,
);

test(
  '[C25] a demo interrupted before its first call says so',
  async () => {
    const demo = runScript(built('main.js'), ['--seconds', '50']);
    await demo.printed(/ZLink quickstart/);
    demo.kill('SIGINT');
    const { code, stdout, stderr } = await demo.finished;
    expect({ code, stderr }).toEqual({ code: 130, stderr: '' });
    expect(stdout).toContain('stopped by SIGINT; no process is left\n');
    // A busy machine interrupts late: the shop may have begun, and calls be counted.
    const isLate = stdout.includes('1  All three serve') && stdout.includes('so far: ');
    if (isLate) expectAccount(stdout, /is drained|is killed/);
    else expect(stdout).toMatch(/no process is left\n.*no call was counted yet\n$/);
  },
  limitMs,
);

test(
  '[C25] a demo interrupted in its second act says what the mesh had counted, and leaves no node',
  async () => {
    const demo = runScript(built('main.js'), ['--seconds', '16']); // time enough to be interrupted in it
    await demo.printed(/play-1 ready \d+ %/);
    demo.kill('SIGINT');
    const { code, stdout, stderr } = await demo.finished;
    expect({ code, stderr }).toEqual({ code: 130, stderr: '' });
    expectAccount(stdout, /play-2 is killed/);
    expectGone(stdout);
  },
  limitMs,
);

test.each<[string, NodeJS.ProcessEnv, RegExp]>([
  ['while Redis is away', {}, /Redis is away: [^]*calls\/s/],
  ['while the store in memory is away', withoutRedis, /the store is away: [^]*calls\/s/],
])(
  '[C25] a demo interrupted in its third act, %s, says what the fleet had counted, and leaves nothing',
  async (_when, env, sign) => {
    const demo = runScript(built('main.js'), ['--seconds', '3'], { env });
    await demo.printed(sign);
    demo.kill('SIGINT');
    const { code, stdout, stderr } = await demo.finished;
    expect({ code, stderr }).toEqual({ code: 130, stderr: '' });
    expectAccount(stdout, /ibis is killed|heron leaves/);
    expectGone(stdout);
    if (env !== withoutRedis) await expectRedisGone(stdout);
  },
  limitMs,
);

test(
  '[C25] [LOC-006] a redis-server ends with a demo that is killed',
  async () => {
    const demo = runScript(built('main.js'), ['--seconds', '3']);
    await demo.printed(/Redis is away: /);
    demo.kill('SIGKILL');
    const { stdout } = await demo.finished;
    const [, port] = /redis:\/\/127\.0\.0\.1:(\d+)/.exec(stdout)!;
    await refused(Number(port));
  },
  limitMs,
);

/** Connects until nobody listens at that port any more. */
async function refused(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, '127.0.0.1');
    const isOpen = await new Promise((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    socket.destroy();
    if (!isOpen) return;
  }
}

test(
  '[C25] a node that dies on its own ends the demo with its name',
  async () => {
    const demo = runScript(built('main.js'), ['--seconds', '6']);
    const [, pid] = await demo.printed(/play-1 is at \S+ \(process (\d+)\)/);
    process.kill(Number(pid), 'SIGKILL');
    const { code, stdout, stderr } = await demo.finished;
    expect(stderr).toMatch(/^demo: node play-1 ended unexpectedly \(SIGKILL\)\n(\{.*\}\n)*$/); // and its last records
    expect(code).toBe(1);
    expectGone(stdout);
  },
  limitMs,
);

test(
  '[C25] a server that dies on its own ends the demo with its name',
  async () => {
    const demo = runScript(built('main.js'), ['--seconds', '50']);
    const [, pid] = await demo.printed(/cedar serves at \S+ with weight 100 \(process (\d+)\)/);
    process.kill(Number(pid), 'SIGKILL');
    const { code, stderr } = await demo.finished;
    expect(stderr).toMatch(/^demo: server cedar ended unexpectedly \(SIGKILL\)\n(\{.*\}\n)*$/);
    expect(code).toBe(1);
  },
  limitMs,
);

test('[CS-001] a wrong argument is refused with the usage', async () => {
  const { code, stdout, stderr } = await runScript(built('main.js'), ['--seconds', 'many']).finished;
  expect(code).toBe(1);
  expect(stdout).toBe('');
  expect(stderr).toMatch(/^demo: --seconds: "many" is not allowed, allowed: integer 3\.\.50\nusage: /);
});
