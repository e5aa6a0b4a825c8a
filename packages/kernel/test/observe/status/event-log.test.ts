import type { MonitoringFact, PeerSnapshot, TopologyState } from '../../../src/observe/index.ts';
import { StatusBoard } from '../../../src/observe/index.ts';
import { RateLimitedLog } from '../../../src/observe/rate-limited-log.ts';
import { arrange, type Rig } from './arrange.ts';

function become(rig: Rig, state: TopologyState): void {
  rig.board.tell({ type: 'zlink.runtime.client_server.state_changed', channelName: 'orders', state, reasons: [] });
  rig.clock.advance(1_000);
}

function levels({ lines }: Rig): string[] {
  return lines.map(({ level, record }) => `${level} ${String(record['state'])}`);
}

test('[MON-021] each event is logged once, under its type', () => {
  const rig = arrange();
  rig.board.tell({ type: 'zlink.runtime.host.state_changed', state: 'draining' });
  rig.board.tell({ type: 'zlink.runtime.host.termination_changed', outcome: 'forceStopped', reason: 'teardownFailed' });
  const peer = { endpoint: 'tcp://a:1', state: 'ready', channels: [], draining: false, source: 'manual' } as const;
  rig.board.tell({ type: 'zlink.runtime.mesh_node.peer_changed', meshName: 'game', peer });
  expect(rig.lines).toEqual([
    { level: 'info', record: { eventId: 'zlink.runtime.host.state_changed', state: 'draining' } },
    {
      level: 'warn',
      record: {
        eventId: 'zlink.runtime.host.termination_changed',
        outcome: 'forceStopped',
        reason: 'teardownFailed',
      },
    },
    { level: 'info', record: { eventId: 'zlink.runtime.mesh_node.peer_changed', meshName: 'game', ...peer } },
  ]);
});

test('[MON-021] what was told before there was a log is logged once there is one', () => {
  const rig = arrange();
  const board = new StatusBoard({
    sections: () => ({ ...rig.board.snapshot() }),
    lifecycleGeneration: () => 0n,
    date: () => new Date(0),
  });
  board.tell({ type: 'zlink.runtime.host.state_changed', state: 'starting' });
  expect(rig.lines).toEqual([]);
  const keep = (record: object): void => void rig.lines.push({ level: 'info', record: record as { eventId: string } });
  board.logTo(new RateLimitedLog({ debug: keep, info: keep, warn: keep, error: keep }, rig.clock));
  expect(rig.lines).toMatchObject([{ record: { eventId: 'zlink.runtime.host.state_changed', state: 'starting' } }]);
});

test('[MON-021] trouble is a warning, and so is its end; a topology that nobody was connected to yet is none', () => {
  const rig = arrange();
  for (const state of ['degraded', 'ready', 'degraded', 'ready', 'stopping', 'stopped'] as const) become(rig, state);
  expect(levels(rig)).toEqual([
    'info degraded',
    'info ready',
    'warn degraded',
    'warn ready',
    'info stopping',
    'info stopped',
  ]);
});

test('[MON-021] a mesh that gets to know its first peer is in no trouble, one that loses its last peer is', () => {
  const rig = arrange();
  const meshIs = (state: TopologyState): void => {
    rig.board.tell({ type: 'zlink.runtime.mesh_node.state_changed', meshName: 'game', state, reasons: [] });
    rig.clock.advance(1_000);
  };
  const peerIs = (state: PeerSnapshot['state']): void => {
    const peer = { endpoint: 'tcp://a:1', state, channels: [], draining: false, source: 'manual' } as const;
    rig.board.tell({ type: 'zlink.runtime.mesh_node.peer_changed', meshName: 'game', peer }, { subject: 'a' });
  };
  meshIs('ready'); // it knows nobody
  peerIs('connecting');
  meshIs('degraded');
  peerIs('ready');
  meshIs('ready');
  peerIs('reconnecting');
  meshIs('degraded');
  peerIs('ready');
  meshIs('ready');
  const told = rig.lines.filter(({ record }) => record.eventId === 'zlink.runtime.mesh_node.state_changed');
  expect(levels({ ...rig, lines: told })).toEqual([
    'info ready',
    'info degraded',
    'info ready',
    'warn degraded',
    'warn ready',
  ]);
});

test('[MON-021] a mesh that a peer has joined unasked is in trouble when it loses it', () => {
  const rig = arrange();
  const meshName = 'game';
  const peer = { endpoint: 'tcp://a:1', state: 'ready', channels: [], draining: false, source: 'automatic' } as const;
  rig.board.tell({ type: 'zlink.runtime.mesh_node.state_changed', meshName, state: 'ready', reasons: [] });
  rig.board.tell({ type: 'zlink.runtime.mesh_node.peer_changed', meshName, peer }, { subject: 'a' }); // it dialled
  rig.board.tell({ type: 'zlink.runtime.mesh_node.state_changed', meshName, state: 'degraded', reasons: [] });
  expect(levels(rig)).toEqual(['info ready', 'info ready', 'warn degraded']);
});

test('[MON-021] events of strangers share one line per second, those of configured peers have their own', () => {
  const rig = arrange();
  const tell = (endpoint: string, subject?: string): void => {
    const peer = { endpoint, state: 'ready', channels: [], draining: false, source: 'automatic' } as const;
    const fact: MonitoringFact = { type: 'zlink.runtime.mesh_node.peer_changed', meshName: 'game', peer };
    rig.board.tell(fact, { subject });
  };
  for (let count = 0; count < 100; count++) tell(`tcp://stranger:${count}`);
  tell('tcp://a:1', 'a');
  tell('tcp://b:1', 'b');
  expect(rig.lines.map(({ record }) => record['endpoint'])).toEqual(['tcp://stranger:0', 'tcp://a:1', 'tcp://b:1']);
  rig.clock.advance(1_000);
  expect(rig.lines.at(-1)?.record).toMatchObject({ endpoint: 'tcp://stranger:99', suppressed: 99 });
});
