import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { whyNoRedis } from '../../src/discovery/venue.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'zlink-venue-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

function serverThatSays(text: string, code = 0): string {
  const path = join(folder, 'redis-server');
  writeFileSync(path, `#!/bin/sh\necho '${text}'\nexit ${code}\n`);
  chmodSync(path, 0o755);
  return path;
}

test.each(['6.2.0', '7.0.15', '10.0.1'])('[LOC-006] the act is played over a redis-server %s', (version) => {
  expect(whyNoRedis(serverThatSays(`Redis server v=${version} sha=00000000:0`))).toBeUndefined();
});

test('[LOC-006] without a redis-server that works the act is played in memory, and says why', () => {
  expect(whyNoRedis(join(folder, 'nowhere'))).toBe(`"${folder}/nowhere" does not run here`);
  expect(whyNoRedis('')).toBe('"" does not run here');
  expect(whyNoRedis(serverThatSays('broken', 1))).toBe(`"${folder}/redis-server" does not run here`);
  expect(whyNoRedis(serverThatSays('something else'))).toMatch(/does not say which version it is$/);
  expect(whyNoRedis(serverThatSays('Redis server v=6.0.16 sha=0'))).toMatch(
    /is version 6\.0, 6\.2 is the oldest that works$/,
  );
  expect(whyNoRedis(serverThatSays('Redis server v=5.3.0 sha=0'))).toMatch(/is version 5\.3, /);
  expect(whyNoRedis('redis-server', 'win32')).toBe('the demo starts no redis-server on Windows');
});
