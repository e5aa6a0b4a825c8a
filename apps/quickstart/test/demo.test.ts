import { availableParallelism } from 'node:os';
import { built, runScript } from './children.ts';

const limitMs = 60_000;

test(
  '[CALL-004] [CS-008] [NODE-001] the demo drains and kills servers and nodes, accounts for every call and ends by itself',
  async () => {
    const { code, stdout, stderr } = await runScript(built('main.js'), ['--seconds', '6']).finished;
    expect(stderr).toBe('');
    expect(stdout).not.toContain('\x1b');
    const [shop, mesh] = stdout.split(/^.*A mesh: .*$/m) as [string, string];
    expectShop(shop);
    expectMesh(mesh);
    expect(stdout).not.toContain('MISMATCH');
    const proofs = [...stdout.matchAll(/proof: ([\d,]+) accepted = ([\d,]+) answered \+ ([\d,]+) typed errors\n/g)];
    expect(proofs).toHaveLength(2);
    for (const proof of proofs) {
      const [accepted, answered, failed] = proof.slice(1).map((text) => Number(text.replaceAll(',', '')));
      expect(answered! + failed!).toBe(accepted);
      expect(answered).toBeGreaterThan(100);
      expect(failed).toBeGreaterThan(0); // who is killed always has slow calls in its hands
    }
    expect(code).toBe(0);
    expectGone(stdout);
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

/** Every process that the demo has named is gone. */
function expectGone(stdout: string): void {
  const pids = [...stdout.matchAll(/\(process (\d+)\)/g)].map(([, pid]) => Number(pid));
  expect(pids.length).toBeGreaterThan(2);
  for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
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
    expect(stdout).toMatch(/so far: [\d,]+ accepted = [\d,]+ answered \+ 0 typed errors \+ \d+ in flight\n$/);
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
    expect(stdout).toMatch(/stopped by SIGINT; no process is left\n.*no call was counted yet\n$/);
  },
  limitMs,
);

test(
  '[C25] a demo interrupted in its second act says what the mesh had counted, and leaves no node',
  async () => {
    const demo = runScript(built('main.js'), ['--seconds', '6']);
    await demo.printed(/play-1 ready \d+ %/);
    demo.kill('SIGINT');
    const { code, stdout, stderr } = await demo.finished;
    expect({ code, stderr }).toEqual({ code: 130, stderr: '' });
    expect(stdout).toMatch(/so far: [\d,]+ accepted = [\d,]+ answered \+ 0 typed errors \+ \d+ in flight\n$/);
    expectGone(stdout);
  },
  limitMs,
);

test(
  '[C25] a node that dies on its own ends the demo with its name',
  async () => {
    const demo = runScript(built('main.js'), ['--seconds', '6']);
    const [, pid] = await demo.printed(/play-1 is at \S+ \(process (\d+)\)/);
    process.kill(Number(pid), 'SIGKILL');
    const { code, stdout, stderr } = await demo.finished;
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'demo: node play-1 ended unexpectedly (SIGKILL)\n' });
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
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'demo: server cedar ended unexpectedly (SIGKILL)\n' });
  },
  limitMs,
);

test('[CS-001] a wrong argument is refused with the usage', async () => {
  const { code, stdout, stderr } = await runScript(built('main.js'), ['--seconds', 'many']).finished;
  expect(code).toBe(1);
  expect(stdout).toBe('');
  expect(stderr).toMatch(/^demo: --seconds: "many" is not allowed, allowed: integer 3\.\.50\nusage: /);
});
