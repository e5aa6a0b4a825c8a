import { LineReader } from '../src/report/line-reader.ts';
import { hostLine, readHostLine } from '../src/report/report.ts';
import { readRequest, requestLine } from '../src/report/request.ts';
import {
  BEYOND_53_BITS,
  linkedSnapshot,
  sampleHost,
  sampleHostSnapshot,
  sampleReport,
  sampleTraffic,
} from './sample-host.ts';

const sent = (): Record<string, unknown> => {
  const { query } = sampleHost();
  const fields = { pid: 1, name: 'n', uptimeMs: 5, snapshot: query.snapshot(), counters: [], listeners: [] };
  return JSON.parse(hostLine('report', fields)) as Record<string, unknown>;
};

test('[C23] integers travel as decimal text and dates in ISO 8601, and are read as what they were', () => {
  const line = hostLine('report', { pid: 1, snapshot: sampleHost().query.snapshot() });
  expect(line).toContain('"lifecycleGeneration":"9007199254740993"');
  expect(line).toContain('"observedAt":"2026-01-01T12:00:00.000Z"');
  expect(line).toMatch(/^\{"zlink":1,"kind":"report",[^\n]+\}\n$/);
  const { snapshot } = sampleReport();
  expect(snapshot.host.lifecycleGeneration).toBe(BEYOND_53_BITS);
  expect(snapshot.observedAt).toEqual(new Date('2026-01-01T12:00:00.000Z'));
});

test('[C06] traffic is read where a row has some; a host of before there was any is read as well', () => {
  const [peer, server] = [sampleTraffic({ waitingMessages: 5 }), sampleTraffic({ sentBytes: 2 ** 40 })];
  const trafficIn = ({ snapshot }: ReturnType<typeof sampleReport>) => [
    ...snapshot.routeMeshes[0]!.peers.map(({ traffic }) => traffic),
    snapshot.clientServerChannels[0]!.servers[0]!.traffic,
  ];
  expect(trafficIn(sampleReport({ snapshot: linkedSnapshot(peer, server) }))).toEqual([peer, undefined, server]);
  expect(trafficIn(sampleReport())).toEqual([undefined, undefined, undefined]);
  const half = JSON.stringify({ ...sent(), snapshot: linkedSnapshot(peer, server) }, (_, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  ).replaceAll('"windowBytes":4194304,', '');
  expect(() => readHostLine(half)).toThrow('peers[0].traffic.windowBytes is not a number');
});

test('[C06] totals of all links are read where a host has some; a host of before there were any is read as well', () => {
  const links = { open: 2, sentMessages: 1, sentBytes: 2 ** 40, receivedMessages: 3, receivedBytes: 4 };
  const linksIn = (of: typeof links | undefined) =>
    sampleReport({ snapshot: sampleHostSnapshot(of) }).snapshot.host.links;
  expect([linksIn(links), linksIn(undefined)]).toEqual([links, undefined]);
  const { open: _, ...half } = links;
  expect(() => linksIn(half as typeof links)).toThrow('host.links.open is not a number'); // of a strange inspector
});

test.each<[string, unknown, RegExp]>([
  ['another version', { ...sent(), zlink: 2 }, /version 2, this program version 1/],
  ['an unknown kind', { zlink: 1, kind: 'secret' }, /kind is not known/],
  ['no version', { kind: 'report' }, /line\.zlink is not a number/],
  ['a field of another type', { ...sent(), pid: '1' }, /report\.pid is not a number/],
  ['a missing section', { ...sent(), snapshot: {} }, /report\.snapshot\.sequence is not a text/],
  ['no integer', { ...sent(), snapshot: { ...(sent()['snapshot'] as object), sequence: '1e3' } }, /is no integer/],
  ['no date', { ...sent(), snapshot: { ...(sent()['snapshot'] as object), observedAt: 'noon' } }, /is no date/],
  ['no list', { ...sent(), counters: {} }, /report\.counters is no list/],
  ['null', null, /line is no object/],
  ['a list', [], /line is no object/],
])('[C06] a line with %s is refused with its place', (_, value, text) => {
  expect(() => readHostLine(JSON.stringify(value))).toThrow(text);
});

test('[C05] a line that nests too deeply is refused, in a field that is not known as well; one that does not is read', () => {
  const line = (depth: number): string =>
    JSON.stringify(sent()).replace('{', `{"x":${'['.repeat(depth)}${']'.repeat(depth)},`);
  expect(() => readHostLine(line(200_000))).toThrow('it nests deeper than 32 levels');
  expect(() => readHostLine(line(32))).toThrow('it nests deeper than 32 levels');
  expect(readHostLine(line(31))).toMatchObject({ kind: 'report' });
});

test('[C05] of a reason to refuse only the beginning is kept', () => {
  const refusal = (reason: string): unknown => readHostLine(hostLine('refused', { reason }));
  expect(refusal('x'.repeat(1_000_000))).toEqual({ kind: 'refused', reason: `${'x'.repeat(199)}…` });
  expect(refusal('x'.repeat(200))).toEqual({ kind: 'refused', reason: 'x'.repeat(200) });
});

test('[C06] a line that is no JSON is refused', () => {
  expect(() => readHostLine('HTTP/1.1 400 Bad Request')).toThrow('it sends what is no JSON');
});

test('[C24] keys that aim at the prototype are counted like any other and change nothing', () => {
  const row = { owner: 'o', surface: 'node', verb: 'send', accepted: 1, handled: 0, failed: 0, running: 0, queued: 0 };
  const value = JSON.stringify({ ...sent(), counters: [{ ...row, dropped: {} }] }).replace(
    '"dropped":{}',
    '"dropped":{"__proto__":1}',
  );
  const line = readHostLine(value);
  expect(line).toMatchObject({ kind: 'report' });
  if (line.kind === 'report') expect([...line.report.counters[0]!.dropped]).toEqual([['__proto__', 1]]);
  expect(Object.prototype).not.toHaveProperty('owner');
});

test('[C06] a request is one object with the version and an allowed interval', () => {
  expect(readRequest(requestLine(250).trim())).toBe(250);
  const others = [
    '',
    'null',
    '[]',
    '{}',
    '{"zlink":1}',
    '{"zlink":2,"intervalMs":1000}',
    '{"zlink":1,"intervalMs":"1000"}',
  ];
  const intervals = [99, 3_600_001, 1_000.5, -1].map((intervalMs) => JSON.stringify({ zlink: 1, intervalMs }));
  expect([...others, ...intervals].map(readRequest)).toEqual(Array(11).fill(undefined));
});

test('[C22] lines are whole wherever chunks are cut, within a character as well', () => {
  const bytes = Buffer.from('größe 一\n\nzwei\nrest', 'utf8');
  for (let cut = 0; cut <= bytes.length; cut++) {
    const reader = new LineReader(64);
    const lines = [bytes.subarray(0, cut), bytes.subarray(cut)].flatMap((chunk) => reader.push(chunk));
    expect(lines).toEqual(['größe 一', '', 'zwei']);
  }
});

test('[C05] a line that is too long is refused before it is complete, a longest one is not', () => {
  expect(new LineReader(4).push(Buffer.from('1234\n12'))).toEqual(['1234']);
  expect(new LineReader(4).push(Buffer.from('12345'))).toBeUndefined();
  const reader = new LineReader(4);
  expect(reader.push(Buffer.from('123'))).toEqual([]);
  expect(reader.push(Buffer.from('45\n'))).toBeUndefined();
});
