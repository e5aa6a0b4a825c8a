/** The programs of docs/discovery.md that need a Redis, and its table of options; docs.test.ts runs the one that needs none. */
import { Problems } from '@zlink/kernel/errors';
import { type RedisServer, startRedisServer } from '@zlink/testing';
import { quietPort } from '@zlink/testing/internal';
import { resolveLocation } from '../src/options/location-options.ts';
import { readDoc, runProgram, writePrograms } from './doc-programs.ts';

const limitMs = 180_000;
let redis: RedisServer | undefined;
afterEach(async () => {
  await redis?.close();
  redis = undefined;
});

test(
  '[CS-002] [LOC-055] [LOC-064] the client of docs/discovery.md follows servers that come and go, and needs no Redis for its calls',
  async () => {
    redis = await startRedisServer();
    const folder = writePrograms('discovery.md');
    const environment = { REDIS_URL: redis.url };
    const client = runProgram(folder, 'client.mjs', [], environment);
    const servers = ['server.mjs', 'server.mjs'].map((file) => runProgram(folder, file, [], environment));
    const processIds = await Promise.all(
      servers.map(async (server) => (await server.printed(/^process (\d+) serves\n$/))[1] ?? ''),
    );
    const [first = '', second = ''] = processIds;
    for (const by of [first, second]) await client.printed(new RegExp(`\norder \\d+ charged by ${by}\n`));
    servers[0]?.stop();
    expect(await servers[0]?.ended).toMatchObject({ code: 0 });
    const afterwards = new RegExp(`(?:order \\d+ charged by ${second}\n){3}$`); // while it lived, both took turns
    await client.printed(afterwards);
    await redis.stop();
    const answered = (await client.printed(/order (\d+) charged by \d+\n$/))[1];
    await client.printed(new RegExp(`order ${Number(answered) + 2} charged by ${second}\n`));
    await redis.start();
    for (const run of [client, servers[1]]) {
      run?.stop();
      expect(await run?.ended).toMatchObject({ code: 0 });
    }
  },
  limitMs,
);

test(
  '[HOST-008] [LOC-004] the pod of docs/discovery.md is ready when it serves, not before, and stops in order',
  async () => {
    redis = await startRedisServer();
    await redis.stop();
    const port = await quietPort();
    const pod = runProgram(writePrograms('discovery.md'), 'pod.mjs', [], {
      REDIS_URL: redis.url,
      POD_IP: '127.0.0.1',
      HEALTH_PORT: String(port),
    });
    const health = async (): Promise<string> => {
      const response = await fetch(`http://127.0.0.1:${port}/healthz`, { headers: { connection: 'close' } });
      return `${response.status} ${await response.text()}`;
    };
    expect(await untilAnswered(health)).toBe('503 starting');
    await redis.start();
    await pod.printed(/^serving at tcp:\/\/127\.0\.0\.1:\d+\n$/);
    expect(await health()).toBe('200 serving');
    pod.stop();
    await pod.printed(/\nstopped\n$/);
    expect(await pod.ended).toMatchObject({ code: 0 });
  },
  limitMs,
);

test('[LOC-050] [LOC-061] docs/discovery.md agrees with the code about the options of discovery', () => {
  const rows = [...readDoc('discovery.md').matchAll(/^\| `(\w+)` +\| +([\d,]+) \| .{20}/gm)];
  const documented = rows.map(([, name, value = '']) => [name, Number(value.replaceAll(',', ''))]);
  const defaults = Object.entries(resolveLocation(undefined, new Problems()));
  expect(documented).toEqual(defaults.filter(([name]) => /^(?:ownerLease|polling|storeFailure)/.test(name)));
});

/** Asks until somebody listens there; the test's time bounds it. */
async function untilAnswered(ask: () => Promise<string>): Promise<string> {
  for (;;) {
    const answer = await ask().catch(() => undefined);
    if (answer !== undefined) return answer;
  }
}
