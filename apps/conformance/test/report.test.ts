import { jsonReport } from '../src/report/json.ts';
import { junitReport } from '../src/report/junit.ts';
import { summarize } from '../src/report/summary.ts';
import { closingLine, failureLines, tableLines } from '../src/report/table.ts';
import { failed, passed } from './outcomes.ts';

const outcomes = [
  passed(['MSG-001'], {}, 'foundation'),
  passed(['WRR-001', 'CS-001']),
  failed('line one\nline "two" & <more>\u0001', ['CS-001'], { store: 'redis' }),
  passed(['CS-001'], { store: 'redis' }),
];
const at = new Date('2024-05-06T07:08:09.123Z');

test('[CALL-004] a requirement fails in a column if one of its scenarios does', () => {
  const summary = summarize(outcomes);
  expect(summary.columns).toEqual(['manual', 'redis']);
  expect(tableLines(summary)).toEqual([
    'foundation  manual  redis',
    'MSG-001     ok      ·',
    '',
    'channels    manual  redis',
    'CS-001      ok      FAIL',
    'WRR-001     ok      ·',
  ]);
  expect(closingLine(summary, 65_432)).toBe(
    'conformance: 3 runs passed, 1 failed; 2 requirements hold, 1 do not; 65.4 s',
  );
});

test('[CALL-004] columns stand below their names, however long a topic is called', () => {
  const lines = tableLines(summarize([passed(['MSG-001']), passed(['MON-001'], { store: 'redis' }, 'observability')]));
  expect(lines).toEqual([
    'channels       manual  redis',
    'MSG-001        ok      ·',
    '',
    'observability  manual  redis',
    'MON-001        ·       ok',
  ]);
});

test('[CALL-004] a failure is shown with its text and with what the roles logged', () => {
  const lines = failureLines(summarize(outcomes).failed);
  expect(lines).toContain('FAIL [CS-001] about CS-001 (redis, 567 ms)');
  expect(lines).toContain('  line one');
  expect(lines).toContain('    host warn {"eventId":"a<b"}');
});

test('[CALL-004] the JSON report has every run and every requirement', () => {
  const report = JSON.parse(jsonReport(summarize(outcomes), outcomes, at, 1_000)) as Record<string, unknown>;
  expect(report).toMatchObject({ version: 1, passed: 3, failed: 1, columns: ['manual', 'redis'] });
  expect(report['requirements']).toContainEqual({
    topic: 'channels',
    id: 'CS-001',
    verdicts: { manual: 'ok', redis: 'failed' },
  });
  expect(report['runs']).toHaveLength(4);
});

test('[CALL-004] the JUnit report counts, escapes and keeps to the characters of XML', () => {
  const xml = junitReport(outcomes, at, 1_000);
  expect(xml).toContain('<testsuites name="conformance" tests="4" failures="1" errors="0" skipped="0" time="1.000">');
  expect(xml).toContain(
    '<testsuite name="channels redis" tests="2" failures="1" errors="0" skipped="0" time="1.801" timestamp="2024-05-06T07:08:09">',
  );
  expect(xml).toContain('<testcase classname="channels manual" name="[WRR-001 CS-001] about WRR-001 and CS-001" time="1.234"/>'); // prettier-ignore
  expect(xml).toContain('<failure message="line one">line one&#10;line &quot;two&quot; &amp; &lt;more&gt;?</failure>');
  expect(xml).toContain('<system-out>host warn {&quot;eventId&quot;:&quot;a&lt;b&quot;}</system-out>');
  expect(xml.match(/<testcase/g)).toHaveLength(4);
});
