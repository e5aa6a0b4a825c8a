/** The run as people start it: real processes, exit codes and files. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type RunningScript, runScript } from '@zlink/testing/internal';

const main = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const peer = fileURLToPath(new URL('../dist/echo-peer.js', import.meta.url));
const ownChapters = fileURLToPath(new URL('./fixtures/own-chapters.mjs', import.meta.url));
const limitMs = 120_000; // tells a hang from a success, also on a machine that has no time

const start = (script: string, ...args: readonly string[]): RunningScript => runScript(script, args);

let out: string;
beforeEach(() => (out = mkdtempSync(join(tmpdir(), 'zlink-conformance-'))));
afterEach(() => rmSync(out, { recursive: true, force: true }));

const reportOf = (name: string): string => readFileSync(join(out, name), 'utf8');

test(
  '[MSG-003] a part of the catalogue passes, and both reports are written',
  async () => {
    const { code, stdout } = await start(main, '--only', 'MSG-003', '--matrix', 'manual', '--out', out).finished;
    expect(stdout).toMatch(/^foundation +manual$/m);
    expect(stdout).toMatch(/^MSG-003 +ok$/m);
    expect(stdout).toMatch(/^conformance: \d+ runs passed, 0 failed; /m);
    expect(code).toBe(0);
    expect(JSON.parse(reportOf('report.json'))).toMatchObject({ failed: 0 });
    expect(reportOf('junit.xml')).toMatch(/^<\?xml version="1\.0" encoding="UTF-8"\?>\n<testsuites .* failures="0"/);
  },
  limitMs,
);

test(
  '[CALL-004] a list starts nothing, and what there is not is a mistake',
  async () => {
    const list = await start(main, '--list', '--only', 'WRR').finished;
    expect(list.stdout).toMatch(/^ {2}\[WRR-001 /m);
    expect(list.stdout).toMatch(/\d+ scenarios, \d+ runs, \d+ requirements\n$/);
    expect(list.code).toBe(0);
    const topic = await start(main, '--list', '--topic', 'lifecycle').finished;
    expect(topic.stdout).toMatch(/^lifecycle\n(?: {2}\[.*\n)+\d+ scenarios, \d+ runs, \d+ requirements\n$/);
    const unknown = await start(main, '--only', 'XYZ-9', '--out', out).finished;
    expect(unknown).toMatchObject({ code: 1 });
    expect(unknown.stdout).toContain('XYZ-9');
    const nothing = await start(main, '--only', 'WRR-002', '--matrix', 'msgpack', '--out', out).finished;
    expect(nothing).toMatchObject({ code: 1 });
    expect(nothing.stdout).toContain('nothing to run');
    const wrong = await start(main, '--matrix', 'xml').finished;
    expect(wrong.code).toBe(1);
    expect(wrong.stderr).toContain('--matrix: "xml" is not allowed');
    expect((await start(main, '--help').finished).code).toBe(0);
  },
  limitMs,
);

test(
  '[CALL-004] a scenario that fails fails the run, and shows what the roles logged',
  async () => {
    const { code, stdout } = await start(ownChapters, 'fails', out).finished;
    expect(code).toBe(1);
    expect(stdout).toContain('FAIL [MSG-001] it fails (manual, ');
    expect(stdout).toContain('what should be');
    expect(stdout).toMatch(/what the roles logged:\n(.*\n)*.*server warn .*zlink\.dispatch_error/);
    expect(reportOf('junit.xml')).toContain('failures="1"');
    expect(JSON.parse(reportOf('report.json'))).toMatchObject({ passed: 0, failed: 1 });
  },
  limitMs,
);

test(
  '[CALL-004] a scenario that passes passes the run, one that takes too long fails it, and so does a role that dies or stays',
  async () => {
    const [passes, late, dies, stays] = await Promise.all([
      start(ownChapters, 'passes', join(out, 'passes')).finished,
      start(ownChapters, 'late', join(out, 'late')).finished,
      start(ownChapters, 'dies', join(out, 'dies')).finished,
      start(ownChapters, 'stays', join(out, 'stays')).finished,
    ]);
    expect(passes.code).toBe(0);
    expect(late.code).toBe(1);
    expect(late.stdout).toContain('took longer than 4000 ms');
    expect(dies.code).toBe(1);
    expect(dies.stdout).toContain('ended by itself (code 3)');
    expect(stays.code).toBe(1);
    expect(stays.stdout).toContain('does not end by itself');
  },
  limitMs,
);

test(
  '[CALL-004] an interrupted run ends at once, fails, and leaves no role behind',
  async () => {
    const run = start(ownChapters, 'waits', out);
    const [, pid] = await run.printed(/role (\d+)\n/);
    const endedAtMs = performance.now();
    run.kill('SIGTERM');
    expect((await run.finished).code).toBe(1);
    expect(performance.now() - endedAtMs).toBeLessThan(30_000); // the scenario alone would have gone on for 60 s
    expect(() => process.kill(Number(pid), 0)).toThrow(/ESRCH/);
  },
  limitMs,
);

test(
  '[CALL-004] [CS-006] scenarios that need a peer only run against one that is there already',
  async () => {
    const echo = start(peer);
    const [endpoint = ''] = await echo.printed(/tcp:\S+/);
    const { code, stdout } = await start(main, '--against', endpoint, '--only', 'CS-006,ERR-001', '--out', out)
      .finished;
    expect(stdout).toMatch(/^conformance: [1-9]\d* runs passed, 0 failed; /m);
    expect(code).toBe(0);
    echo.kill('SIGTERM');
    expect((await echo.finished).code).toBe(0);
  },
  limitMs,
);
