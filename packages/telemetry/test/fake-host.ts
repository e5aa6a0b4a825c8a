/** A host to read metrics from, whose snapshot a test writes. */
import type { MeteredHost } from '@zlink/telemetry';
import { type MessageCounters, type RuntimeSnapshot, type SnapshotSections, StatusBoard } from '@zlink/kernel/observe';

type Mesh = RuntimeSnapshot['routeMeshes'][number];
type Peer = Mesh['peers'][number];
type Server = RuntimeSnapshot['clientServerChannels'][number]['servers'][number];

export const mesh = (meshName: string, peers: readonly Peer[], channels: Mesh['channels'] = []): Mesh => ({
  meshName,
  nodeRid: 'node-1',
  lifecycleGeneration: 1n,
  objectRole: 'none',
  state: 'ready',
  reasons: [],
  peers,
  channels,
  placement: {
    isAvailable: false,
    weight: 0,
    actors: { active: 0, pending: 0, limit: 0 },
    spots: { active: 0, pending: 0, limit: 0 },
    types: [],
    activations: { active: 0, pending: 0, limit: 0 },
  },
});

export const peer = (rid: string, state: Peer['state'], source: Peer['source']): Peer => ({
  endpoint: `tcp://127.0.0.1:1#${rid}`,
  routingId: rid,
  state,
  channels: [],
  draining: false,
  source,
});

export const server = (rid: string, state: Server['state']): Server => ({
  endpoint: `tcp://127.0.0.1:1#${rid}`,
  serverRid: rid,
  state,
  weight: 100,
  draining: false,
  local: false,
});

export const counters = (
  owner: string,
  surface: MessageCounters['surface'],
  meshName: string | undefined,
  counted: Partial<MessageCounters>,
): MessageCounters => ({
  owner,
  surface,
  ...(meshName === undefined ? {} : { meshName }),
  verb: 'send',
  accepted: 0,
  handled: 0,
  failed: 0,
  dropped: {},
  running: 0,
  queued: 0,
  ...counted,
});

export class FakeHost implements MeteredHost {
  sections: SnapshotSections = {
    host: {
      state: 'serving',
      isReady: true,
      lifecycleGeneration: 1n,
      diagnosticsLevel: 'errors',
      jobs: { permitsInUse: 5, max: 64, reserved: 3, queued: 2, pauseAt: 51, resumeAt: 38, flow: 'RUNNING' },
      core: { budgetBytes: 1_000, queuedBytes: 10 },
      links: { open: 0, sentMessages: 0, sentBytes: 0, receivedMessages: 0, receivedBytes: 0 },
      backlog: { runningHandlers: 0, pendingRequests: 0, openSessions: 0, unitsLeft: 0 },
    },
    routeMeshes: [],
    clientServerChannels: [],
    fanoutChannels: [],
    location: { store: 'not_configured' },
  };
  countersNow: readonly MessageCounters[] = [];
  flow = { droppedRecords: 0 };
  log = { dropped: 0 };
  readonly board = new StatusBoard({
    sections: () => this.sections,
    lifecycleGeneration: () => 1n,
    date: () => new Date(0),
  });

  readonly counters = (): readonly MessageCounters[] => this.countersNow;

  become(state: RuntimeSnapshot['host']['state']): void {
    this.sections = { ...this.sections, host: { ...this.sections.host, state } };
  }
}
