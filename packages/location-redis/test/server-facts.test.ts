/** What a server must be. */
import { checkServer, parseInfo } from '../src/server-facts.ts';

const info = (lines: Record<string, string>): string =>
  ['# Server', ...Object.entries({ ...good, ...lines }).map(([name, value]) => `${name}:${value}`), ''].join('\r\n');

const good = {
  redis_version: '7.0.15',
  role: 'master',
  run_id: 'r1',
  master_replid: 'p1',
  maxmemory_policy: 'noeviction',
};

function judge(lines: Record<string, string>): { error: unknown; warnings: string[] } {
  const warnings: string[] = [];
  try {
    checkServer(parseInfo(info(lines)), (text) => warnings.push(text));
    return { error: undefined, warnings };
  } catch (error) {
    return { error, warnings };
  }
}

test('[REDIS-005] INFO is read by name', () => {
  expect(parseInfo(info({}))).toEqual({
    version: '7.0.15',
    role: 'master',
    runId: 'r1',
    replicationId: 'p1',
    evictionPolicy: 'noeviction',
  });
});

test.each(['6.2.0', '6.2.14', '7.0.15', '8.0.1', '10.0.0'])('[REDIS-005] version %s is new enough', (version) => {
  expect(judge({ redis_version: version })).toEqual({ error: undefined, warnings: [] });
});

test.each(['6.0.16', '6.1.9', '5.0.14', '2.8.0', ''])('[REDIS-005] version "%s" is incompatible', (version) => {
  expect(judge({ redis_version: version }).error).toMatchObject({ code: 'incompatible', outcome: 'notApplied' });
});

test.each(['allkeys-lru', 'allkeys-lfu', 'allkeys-random'])('[REDIS-005] policy %s is incompatible', (policy) => {
  expect(judge({ maxmemory_policy: policy }).error).toMatchObject({ code: 'incompatible', outcome: 'notApplied' });
});

test.each(['volatile-lru', 'volatile-ttl'])('[REDIS-005] policy %s is warned of', (policy) => {
  const { error, warnings } = judge({ maxmemory_policy: policy });
  expect(error).toBeUndefined();
  expect(warnings).toEqual([expect.stringContaining(policy)]);
});

test('[REDIS-006] a replica is no place to write', () => {
  expect(judge({ role: 'slave' }).error).toMatchObject({ code: 'unavailable', outcome: 'notApplied' });
});
