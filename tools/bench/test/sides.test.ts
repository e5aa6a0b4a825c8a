import { expect, jest, test } from '@jest/globals';
import { type CargoSpec, createCargo } from '../src/cargo.ts';
import { calls, flood, pace, stream } from '../src/load.ts';
import { Meter } from '../src/meter.ts';
import { loadSide } from '../src/sides/load-side.ts';
import type { ClientEnd, Work } from '../src/sides/side.ts';

jest.setTimeout(60_000); // tells a hang from a success, also on a machine that has no time for the test

const cargos: readonly CargoSpec[] = [
  { kind: 'bytes', sizeBytes: 64 },
  { kind: 'bytes', sizeBytes: 100_000 },
  { kind: 'json', bodyBytes: [64] },
];
const names = ['zeromq.js', 'node:net', 'link', 'framework', 'framework detailed', 'mesh', 'mesh node'];
const cases = names.flatMap((name) => cargos.map((spec) => [name, spec] as const));

/** Both ends of a side in this process. */
async function onSide(
  name: string,
  verb: Work['verb'],
  spec: CargoSpec,
  act: (client: ClientEnd, work: Work, meter: Meter) => Promise<void>,
): Promise<void> {
  const side = await loadSide(name);
  const work: Work = { verb, cargo: createCargo(spec) };
  const meter = new Meter(() => performance.now());
  const server = await side.openServer(work, meter.tick);
  const client = await side.openClient(work, server.address);
  try {
    await act(client, work, meter);
  } finally {
    await client.close();
    await server.close();
  }
}

test.each(cases)('[CORE-002] %s carries each one-way message of %j exactly once', async (name, spec) => {
  await onSide(name, 'send', spec, async (client, { cargo }, meter) => {
    meter.arm(500);
    await stream(client, cargo, 500);
    await meter.finished();
    expect(meter.seen).toBe(500);
  });
});

test.each(cases)('[CORE-002] %s answers each request of %j with its own content', async (name, spec) => {
  await onSide(name, 'request', spec, async (client, { cargo }, meter) => {
    const { elapsedMs, medianUs } = await calls(client, cargo, { count: 200, callers: 10, alternate: false });
    expect(elapsedMs).toBeGreaterThan(0);
    expect(medianUs).toBeNaN();
    const sent = cargo.make(17);
    expect(await client.request(sent)).toEqual(sent);
    expect(meter.seen).toBe(201);
  });
});

test.each(names)('[CORE-002] %s tells the median round trip of a single caller', async (name) => {
  await onSide(name, 'request', cargos[0]!, async (client, { cargo }) => {
    const { medianUs } = await calls(client, cargo, { count: 20, callers: 1, alternate: false });
    expect(medianUs).toBeGreaterThan(0);
  });
});

test.each(['link', 'framework'])('[CORE-002] %s carries requests and one-way messages by turns', async (name) => {
  const spec: CargoSpec = { kind: 'json', bodyBytes: [64, 1_024, 16_384] };
  await onSide(name, 'request', spec, async (client, { cargo }, meter) => {
    meter.arm(100);
    await calls(client, cargo, { count: 100, callers: 7, alternate: true });
    await meter.finished();
    const paced = pace(client, cargo, 10_000);
    while (meter.seen < 110) await new Promise((resolve) => setImmediate(resolve));
    const { sentCount } = await paced.rest();
    while (meter.seen < 100 + sentCount) await new Promise((resolve) => setImmediate(resolve));
    expect(meter.seen).toBe(100 + sentCount);
  });
});

test('[CORE-004] a flood goes on until it is told to rest, and knows how much it has sent', async () => {
  await onSide('link', 'send', cargos[0]!, async (client, { cargo }, meter) => {
    const flooding = flood(client, cargo);
    while (flooding.sentCount < 50_000) await new Promise((resolve) => setImmediate(resolve));
    const { sentCount } = await flooding.rest();
    while (meter.seen < sentCount) await new Promise((resolve) => setImmediate(resolve));
    expect(meter.seen).toBe(sentCount);
  });
});

test('[CORE-002] a payload of another size than announced ends the run', () => {
  const cargo = createCargo({ kind: 'bytes', sizeBytes: 64 });
  expect(() => cargo.check(new Uint8Array(63))).toThrow('another size');
  expect(() => cargo.inspect(new Uint8Array(64), 1, 64)).toThrow('another size');
  const json = createCargo({ kind: 'json', bodyBytes: [3] });
  expect(() => json.check({ id: 1, name: '', body: 'four' })).toThrow('other fields');
});

test('[CORE-001] an unknown side is an error', async () => {
  await expect(loadSide('carrier pigeon')).rejects.toThrow('no side is called "carrier pigeon"');
});
