import type { RuntimeSnapshot } from '@zlink/framework';
import { printable, printableJson, columnsOf, fit } from '../src/view/printable.ts';
import { byteRate, bytes, duration, rate } from '../src/view/figures.ts';
import { render, type Room } from '../src/view/render.ts';
import type { HostView } from '../src/watch/host-watch.ts';
import { ratesBetween } from '../src/watch/rates.ts';
import {
  linkedSnapshot,
  liveView,
  sampleCounters,
  sampleHostSnapshot,
  sampleLinks,
  sampleReport,
  sampleSnapshot,
  sampleTraffic,
} from './sample-host.ts';

const wide: Room = { columns: Infinity, rows: Infinity, isColoured: false };
const now = new Date(2026, 0, 1, 12, 0, 5);

function draw(hosts: readonly HostView[], room: Partial<Room> = {}, nowMs = 1_500): readonly string[] {
  return render({ hosts, intervalMs: 1_000, now, nowMs }, { ...wide, ...room });
}

const before = sampleReport({ uptimeMs: 3_723_000 });
const after = sampleReport({
  uptimeMs: 3_725_000,
  counters: [sampleCounters({ accepted: 3_408, handled: 3_386, failed: 2 })],
});
const live = liveView(after, ratesBetween(before, after));

test('[MON-001] a host shows its state, its load, its rates, what was dropped and whom it reaches', () => {
  const lease = new Date('2026-01-01T12:00:15.000Z').toTimeString().slice(0, 8);
  expect(draw([live])).toEqual([
    'zlink-top  12:00:05  1 host  every 1 s',
    '',
    'billing  pid 4242  serving  up 1 h 2 min  generation 9007199254740993',
    '  jobs     12 of 4,096 permits  RUNNING  queued 3  reserved 1  handlers 9  own requests 2',
    '  memory   12 KiB of 64 MiB wait in links',
    `  store    ready  lease until ${lease}`,
    '  listens  tcp://10.0.0.4:7200  client server billing',
    '  links    12 open  0 out/s  0 B/s  0 in/s  0 B/s',
    '  messages          in/s  handled/s  failed/s  dropped/s  running  queued',
    '  billing request  1,204      1,203       0.5          0        9       3  channel  so far: failed 2, DeadlineExceeded 4, reply 3',
    '  mesh game  node play-1  degraded: no_ready_peer',
    '    channel orders  server  weight 100  members 0 of 0 ready',
    '    peer  tcp://10.0.0.2:7300  connecting    manual                 -',
    '    peer  tcp://10.0.0.3:7300  ready         automatic, orders 100  play-3',
    '  channel billing  client and server  ready',
    '    server  tcp://10.0.0.4:7200  ready  draining  weight 100  billing-4',
    '  fanout prices  subscriber  ready',
    '    publisher  tcp://10.0.0.5:7400  ready    missed 2  ticker',
  ]);
});

const peer = sampleTraffic({ sentMessages: 3_408, sentBytes: 341_000, waitingMessages: 5 });
const linkedBefore = sampleReport({ uptimeMs: 3_723_000, snapshot: linkedSnapshot(sampleTraffic(), sampleTraffic()) });
const linkedAfter = sampleReport({ uptimeMs: 3_725_000, snapshot: linkedSnapshot(peer, sampleTraffic()) });

test('[MON-001] a peer and a server with a link show what goes over it and how full its window is', () => {
  const lines = draw([liveView(linkedAfter, ratesBetween(linkedBefore, linkedAfter))]);
  expect(lines.filter((line) => /^ +(peer|server) /.test(line))).toEqual([
    '    peer  tcp://10.0.0.2:7300  connecting                                                                         manual                 -',
    '    peer  tcp://10.0.0.3:7300  ready       1,204 out/s  118 KiB/s  0 in/s  0 B/s  window 12 KiB of 4 MiB, 5 wait  automatic, orders 100  play-3',
    '    server  tcp://10.0.0.4:7200  ready  draining  0 out/s  0 B/s  0 in/s  0 B/s  window 12 KiB of 4 MiB  weight 100  billing-4',
  ]);
});

test('[MON-001] a host shows its links together, those of its clients as well, as far as its inspector says', () => {
  const [from, to] = [sampleLinks(), sampleLinks({ open: 1_200, sentMessages: 11_408, sentBytes: 1_141_000 })].map(
    (links, at) => sampleReport({ uptimeMs: 3_723_000 + at * 2_000, snapshot: sampleHostSnapshot(links) }),
  );
  const older = { ...linkedAfter.snapshot, host: { ...linkedAfter.snapshot.host, links: undefined } };
  const linksLine = (...view: Parameters<typeof liveView>) =>
    draw([liveView(...view)]).filter((line) => line.startsWith('  links '));
  expect(linksLine(to, ratesBetween(from!, to!))).toEqual([
    '  links    1,200 open  1,204 out/s  118 KiB/s  0 in/s  0 B/s',
  ]);
  expect(linksLine(from)).toEqual(['  links    12 open  - out/s  -  - in/s  -']);
  expect(linksLine({ ...linkedAfter, snapshot: older }, ratesBetween(linkedBefore, linkedAfter))).toEqual([]);
});

test('[MON-001] what goes over the links of one list stands below each other', () => {
  const { routeMeshes, ...rest } = linkedSnapshot(sampleTraffic(), undefined);
  const [mesh] = routeMeshes;
  const [linked] = mesh!.peers;
  const peers = [linked!, { ...linked!, routingId: 'play-4', traffic: sampleTraffic({ outstandingBytes: 0 }) }];
  const snapshot = { ...rest, routeMeshes: [{ ...mesh!, peers }] };
  const later = sampleReport({ uptimeMs: 3_725_000, snapshot });
  const [first, second] = draw([liveView(later, ratesBetween(linkedBefore, later))]).filter((line) =>
    line.includes('peer '),
  );
  expect(first).toContain('ready  0 out/s  0 B/s  0 in/s  0 B/s  window 12 KiB of 4 MiB  automatic');
  expect(second).toContain('ready  - out/s      -  - in/s      -  window 0 B of 4 MiB     automatic'); // new: no rate yet
});

test('[MON-001] before the second report rates are open, and a host that says nothing more is called silent', () => {
  const view = liveView();
  expect(draw([view]).join('\n')).toMatch(/billing request +- +- +- +- +9 +3/);
  expect(draw([view], {}, 3_900)[2]).not.toContain('silent');
  expect(draw([view], {}, 4_100)[2]).toMatch(/silent for 3 s$/);
});

test('[MON-001] a draining host shows how long that may take', () => {
  const deadline = new Date('2026-01-01T12:00:30.000Z');
  const host = { ...sampleSnapshot().host, state: 'draining' as const, deadline };
  const view = liveView(sampleReport({ snapshot: sampleSnapshot({ host }) }));
  expect(draw([view])[2]).toContain('draining for 30 s at most');
});

test('[MON-001] hosts without a report say why', () => {
  const path = '/run/1.sock';
  const views: HostView[] = [
    { kind: 'connecting', path },
    { kind: 'failed', path, reason: 'there is no such socket' },
    { kind: 'ended', path, report: sampleReport() },
    { kind: 'lost', path, report: undefined },
  ];
  expect(
    draw(views)
      .slice(2)
      .filter((line) => line !== ''),
  ).toEqual([
    '/run/1.sock  no answer yet',
    '/run/1.sock  there is no such socket',
    'billing  pid 4242  ended',
    '/run/1.sock  ended without a word: killed, or crashed',
  ]);
});

const hostile = [
  '\x1b[2J\x1b]0;owned\x07',
  '\x9b31m\x9d0;owned\x9c',
  'a\r\nb\tc\0\x7f\b',
  '\u202eevil\u2066\u200b\u2028',
  '\ud800',
  '\u0301'.repeat(5_000),
  'x'.repeat(100_000),
  '終'.repeat(300),
];
const controls = /[\p{Cc}\p{Cs}\u200b\u2028\u202e\u2066]/u;

/** Every text of a snapshot is that one. */
function withTexts(snapshot: RuntimeSnapshot, text: string): RuntimeSnapshot {
  const isKept = (key: string): boolean => ['sequence', 'lifecycleGeneration'].includes(key);
  const replaced = JSON.stringify(snapshot, (key, value: unknown) => {
    if (typeof value === 'bigint') return value.toString();
    return typeof value === 'string' && !isKept(key) && !/^\d{4}-/.test(value) ? text : value;
  });
  return JSON.parse(replaced) as RuntimeSnapshot; // of the same shape; what is sent has these texts instead of dates
}

test.each(hostile)('[C22] no text of another process reaches the terminal as more than text: %j', (text) => {
  const report = sampleReport({
    name: text,
    snapshot: withTexts(sampleSnapshot(), text),
    counters: [sampleCounters({ owner: text, verb: text, dropped: { [text]: 1 } })],
  });
  for (const columns of [Infinity, 200, 40, 7]) {
    for (const view of [liveView(report), { kind: 'failed', path: text, reason: text } as const]) {
      for (const line of draw([view, view], { columns })) {
        expect(line).not.toMatch(controls);
        expect(columnsOf(line)).toBeLessThanOrEqual(columns);
        expect(line.length).toBeLessThan(20_000);
      }
    }
  }
  expect(printableJson({ text })).not.toMatch(controls);
  expect(JSON.parse(printableJson({ text }))).toEqual({ text });
});

test('[C22] with colours nothing but colours is added, and every line ends without', () => {
  const report = sampleReport({ snapshot: withTexts(sampleSnapshot(), '\x1b[2J') });
  for (const columns of [Infinity, 100, 30, 3]) {
    const plain = draw([liveView(report)], { columns });
    const coloured = draw([liveView(report)], { columns, isColoured: true });
    // eslint-disable-next-line no-control-regex -- colours are what is looked for
    expect(coloured.map((line) => line.replace(/\x1b\[(?:1|22|3[123]|90|39)m/g, '').trimEnd())).toEqual(plain);
    // eslint-disable-next-line no-control-regex -- a colour that is left on is what is looked for
    for (const line of coloured) expect(line).not.toMatch(/\x1b\[(?:1|3[123]|90)m[^\x1b]*$/);
    if (columns > 3) expect(coloured.join('')).toContain('\x1b[');
  }
});

test('[MON-001] a narrow and low terminal gets what fits, and is told of the rest', () => {
  for (const columns of [120, 60, 20, 5, 1]) {
    for (const rows of [40, 12, 5, 1]) {
      const lines = draw([live, live], { columns, rows });
      expect(lines.length).toBeLessThanOrEqual(rows);
      for (const line of lines) expect(columnsOf(line)).toBeLessThanOrEqual(columns);
    }
  }
  expect(draw([live], { columns: 30, rows: 5 })).toEqual([
    'zlink-top  12:00:05  1 host  …',
    '',
    'billing  pid 4242  serving  u…',
    '  jobs     12 of 4,096 permit…',
    '… 14 more lines',
  ]);
});

test('[MON-001] hosts stand beside each other where there is room', () => {
  const lines = draw([live, live, live], { columns: 190 });
  expect(lines[2]).toMatch(/^billing {2}pid 4242 .* │ billing {2}pid 4242 /);
  expect(new Set(lines.slice(2, 18).map((line) => line.indexOf('│'))).size).toBe(1);
  expect(lines[19]).toMatch(/^billing {2}pid 4242 [^│]*│?$/);
  expect(draw([live, live], { columns: 120 })[2]).not.toContain('│');
});

test('[C22] text is measured in columns', () => {
  expect(['abc', '終了', 'e\u0301', '🚀', ''].map(columnsOf)).toEqual([3, 4, 1, 2, 0]);
  expect(['終了した', 'abcdef', 'abc'].map((text) => fit(text, 4))).toEqual(['終…', 'abc…', 'abc']);
  expect(printable('a\x1bb')).toBe('a·b');
});

test('[MON-001] figures read well', () => {
  expect([undefined, 0, 0.2, 1_536.1].map(byteRate)).toEqual(['-', '0 B/s', '1 B/s', '1.5 KiB/s']);
  expect([0, 0.04, 1.25, 9.96, 12.5, 1_234.5].map(rate)).toEqual(['0', '<0.1', '1.3', '10.0', '13', '1,235']);
  expect([0, 1_023, 1_536, 67_108_864, 2 ** 40, 2 ** 52].map(bytes)).toEqual([
    '0 B',
    '1,023 B',
    '1.5 KiB',
    '64 MiB',
    '1 TiB',
    '4,096 TiB',
  ]);
  expect([-5, 59_999, 60_000, 3_600_000, 90_061_000].map(duration)).toEqual([
    '0 s',
    '59 s',
    '1 min 0 s',
    '1 h 0 min',
    '1 d 1 h',
  ]);
});
