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

test(
  '[C25] an interrupted demo ends its processes and says so by its exit code',
  async () => {
    const demo = runScript(built('main.js'), ['--seconds', '50']);
    await demo.printed(/calls\/s/);
    demo.kill('SIGINT');
    const { code, stderr } = await demo.finished;
    expect({ code, stderr }).toEqual({ code: 130, stderr: '' });
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
