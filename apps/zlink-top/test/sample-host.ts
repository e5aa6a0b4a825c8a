/** A host that shows what a test wants, without being one. */
import type { HostSnapshot, LinkTraffic, MessageCounters, RuntimeSnapshot } from '@zlink/framework';
import { hostLine, readHostLine, type Report } from '../src/report/report.ts';
import type { Inspectable } from '../src/inspector/report-source.ts';
import type { HostView } from '../src/watch/host-watch.ts';

export const BEYOND_53_BITS = 9_007_199_254_740_993n;

export function sampleSnapshot(overrides: Partial<RuntimeSnapshot> = {}): RuntimeSnapshot {
  const capacity = { active: 0, pending: 0, limit: 0 };
  return {
    sequence: 7n,
    observedAt: new Date('2026-01-01T12:00:00.000Z'),
    host: {
      state: 'serving',
      isReady: true,
      lifecycleGeneration: BEYOND_53_BITS,
      diagnosticsLevel: 'errors',
      jobs: { permitsInUse: 12, max: 4096, reserved: 1, queued: 3, pauseAt: 3277, resumeAt: 2458, flow: 'RUNNING' },
      core: { budgetBytes: 67_108_864, queuedBytes: 12_288 },
      links: { open: 12, sentMessages: 9_000, sentBytes: 900_000, receivedMessages: 8_000, receivedBytes: 800_000 },
      backlog: { runningHandlers: 9, pendingRequests: 2, openSessions: 0, unitsLeft: 0 },
    },
    routeMeshes: [
      {
        meshName: 'game',
        nodeRid: 'play-1',
        lifecycleGeneration: BEYOND_53_BITS,
        objectRole: 'none',
        state: 'degraded',
        reasons: ['no_ready_peer'],
        peers: [
          {
            endpoint: 'tcp://10.0.0.3:7300',
            routingId: 'play-3',
            state: 'ready',
            channels: [{ name: 'orders', weight: 100 }],
            draining: false,
            lifecycleGeneration: 5n,
            source: 'automatic',
          },
          { endpoint: 'tcp://10.0.0.2:7300', state: 'connecting', channels: [], draining: false, source: 'manual' },
        ],
        channels: [{ channelName: 'orders', role: 'server', weight: 100, readyMembers: 0, members: [] }],
        placement: {
          isAvailable: false,
          weight: 0,
          actors: capacity,
          spots: capacity,
          types: [],
          activations: capacity,
        },
      },
    ],
    clientServerChannels: [
      {
        channelName: 'billing',
        role: 'client_and_server',
        state: 'ready',
        reasons: [],
        servers: [
          {
            endpoint: 'tcp://10.0.0.4:7200',
            serverRid: 'billing-4',
            state: 'ready',
            weight: 100,
            draining: true,
            local: false,
          },
        ],
      },
    ],
    fanoutChannels: [
      {
        channelName: 'prices',
        state: 'ready',
        reasons: [],
        publishers: [
          { publisherRid: 'ticker', endpoint: 'tcp://10.0.0.5:7400', intent: 'open', state: 'ready', missedEvents: 2 },
        ],
      },
    ],
    location: { store: 'ready', leaseValidUntil: new Date('2026-01-01T12:00:15.000Z') },
    ...overrides,
  };
}

export function sampleTraffic(overrides: Partial<LinkTraffic> = {}): LinkTraffic {
  return {
    sentMessages: 1_000,
    sentBytes: 100_000,
    receivedMessages: 500,
    receivedBytes: 50_000,
    outstandingBytes: 12_288,
    windowBytes: 4_194_304,
    waitingMessages: 0,
    ...overrides,
  };
}

/** The only linked peer of the mesh, and the only server, show these; undefined: none. */
export function linkedSnapshot(peer: LinkTraffic | undefined, server: LinkTraffic | undefined): RuntimeSnapshot {
  const snapshot = sampleSnapshot();
  const withTraffic = (traffic: LinkTraffic | undefined) => (traffic === undefined ? {} : { traffic });
  return {
    ...snapshot,
    routeMeshes: snapshot.routeMeshes.map((mesh) => ({
      ...mesh,
      peers: mesh.peers.map((row) => ({ ...row, ...(row.state === 'ready' ? withTraffic(peer) : {}) })),
    })),
    clientServerChannels: snapshot.clientServerChannels.map((channel) => ({
      ...channel,
      servers: channel.servers.map((row) => ({ ...row, ...withTraffic(server) })),
    })),
  };
}

/** A host whose links are these; undefined: its inspector is of before there were any. */
export function sampleHostSnapshot(links: HostSnapshot['links'] | undefined): RuntimeSnapshot {
  const { host, ...rest } = sampleSnapshot();
  const { links: _, ...unlinked } = host;
  return { ...rest, host: { ...unlinked, ...(links === undefined ? {} : { links }) } as HostSnapshot }; // as it was then
}

export function sampleLinks(overrides: Partial<HostSnapshot['links']> = {}): HostSnapshot['links'] {
  return { ...sampleSnapshot().host.links, ...overrides };
}

export function sampleCounters(overrides: Partial<MessageCounters> = {}): MessageCounters {
  return {
    owner: 'billing',
    surface: 'channel',
    verb: 'request',
    accepted: 1_000,
    handled: 980,
    failed: 1,
    dropped: { DeadlineExceeded: 4, reply: 3 },
    running: 9,
    queued: 3,
    ...overrides,
  };
}

export function sampleHost(
  snapshot: () => RuntimeSnapshot = sampleSnapshot,
  counters: () => readonly MessageCounters[] = () => [sampleCounters()],
): Inspectable {
  const since = new Date('2026-01-01T11:00:00.000Z');
  const listener = { kind: 'CLIENT_SERVER' as const, name: 'billing', endpoint: 'tcp://10.0.0.4:7200', since };
  return { query: { snapshot, counters, listeners: () => [listener] } };
}

export interface SampleReport {
  readonly uptimeMs?: number;
  readonly pid?: number;
  readonly name?: string;
  readonly snapshot?: RuntimeSnapshot;
  readonly counters?: readonly MessageCounters[];
}

/** What that host sends. */
export function sampleLine(fields: SampleReport = {}): string {
  const { query } = sampleHost();
  return hostLine('report', {
    pid: 4242,
    name: 'billing',
    uptimeMs: 3_725_000,
    snapshot: query.snapshot(),
    counters: query.counters(),
    listeners: query.listeners(),
    ...fields,
  });
}

/** What a client reads of that. */
export function sampleReport(fields: SampleReport = {}): Report {
  const line = readHostLine(sampleLine(fields));
  if (line.kind !== 'report') throw new Error('no report was read');
  return line.report;
}

export function liveView(
  report: Report = sampleReport(),
  rates?: Extract<HostView, { kind: 'live' }>['rates'],
): HostView {
  return { kind: 'live', path: '/run/4242.sock', report, raw: {}, rates, receivedAtMs: 1_000 };
}
