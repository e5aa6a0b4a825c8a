import { availableParallelism } from 'node:os';
import { built, runScript } from './children.ts';

const limitMs = 60_000;

test(
  '[CALL-004] [CS-008] the demo drains and kills servers, accounts for every call and ends by itself',
  async () => {
    const { code, stdout, stderr } = await runScript(built('main.js'), ['--seconds', '4']).finished;
    expect(stderr).toBe('');
    expect(stdout).not.toContain('\x1b');
    for (const phase of ['1  All three serve', '2  ash is drained', '3  birch is killed', '4  No new calls']) {
      expect(stdout).toContain(phase);
    }
    expect(stdout).toMatch(/\[ash left [\d.]+ %, birch killed [\d.]+ %, cedar ready [\d.]+ %\]\n/);
    expect(stdout).not.toContain('reconnecting'); // what became of a server is known
    expect(stdout).toContain(
      `share ${availableParallelism() === 1 ? 'the one core' : `the ${availableParallelism()} cores`}`,
    );
    expect(stdout).not.toContain('MISMATCH');
    const proof = /proof: ([\d,]+) accepted = ([\d,]+) answered \+ ([\d,]+) typed errors\n$/.exec(stdout);
    const [accepted, answered, failed] = proof!.slice(1).map((text) => Number(text.replaceAll(',', '')));
    expect(answered! + failed!).toBe(accepted);
    expect(answered).toBeGreaterThan(100);
    expect(failed).toBeGreaterThan(0); // birch always has invoices in its hands
    expect(code).toBe(0);
  },
  limitMs,
);

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
    const pids = [...stdout.matchAll(/\(process (\d+)\)/g)].map(([, pid]) => Number(pid));
    expect(pids).toHaveLength(3);
    for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
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
