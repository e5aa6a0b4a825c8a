/**
 * The sections of a snapshot, put together from what is there.
 *
 * Owns where each number comes from. Leaves a topology's section to its topic, and copies to the board.
 *
 * 1. Everything is read from tables and totals that their owners keep: nothing is made or waited for here (MON-002).
 */
import type { HostState, ShutdownResult } from '../../lifecycle/index.ts';
import type { HostSnapshot, MessageBacklog, SnapshotSections } from '../../observe/index.ts';
import type { Topic, TopologySections } from './host-parts.ts';
import type { Wiring } from './shutdown.ts';

/** What only the host knows of itself. */
export interface HostFacts {
  readonly state: HostState;
  readonly lifecycleGeneration: bigint;
  readonly diagnosticsLevel: HostSnapshot['diagnosticsLevel'];
  /** When the shutdown that runs will end at the latest. */
  readonly deadline: Date | undefined;
  readonly shutdownResult: ShutdownResult | undefined;
}

/** @param wiring - undefined: the start has not come so far */
export function hostSections(facts: HostFacts, topics: readonly Topic[], wiring: Wiring | undefined): SnapshotSections {
  const backlog: MessageBacklog = { running: 0, queued: 0 };
  const sections: Omit<TopologySections, 'backlog'> = { routeMeshes: [], clientServerChannels: [], fanoutChannels: [] };
  const shown: TopologySections = { ...sections, backlog };
  for (const topic of topics) topic.showIn(shown);
  return {
    host: hostSection(facts, backlog, wiring),
    ...sections,
    location: wiring?.stores.snapshot() ?? { store: 'not_configured' },
  };
}

function hostSection(facts: HostFacts, backlog: MessageBacklog, wiring: Wiring | undefined): HostSnapshot {
  const { state, lifecycleGeneration, diagnosticsLevel, deadline, shutdownResult } = facts;
  const { permits, transport } = wiring?.parts ?? {};
  const {
    budgetBytes = 0,
    queuedBytes = 0,
    pendingRequests = 0,
    links: open = 0,
    traffic = NO_TRAFFIC,
  } = transport?.status ?? {};
  const { inUse = 0, max = 0, pauseAt = 0, resumeAt = 0, flow = 'RUNNING' } = permits ?? {};
  const { running, queued } = backlog;
  return {
    state,
    isReady: state === 'serving', // MON-003
    lifecycleGeneration,
    ...(deadline === undefined ? {} : { deadline }),
    ...(shutdownResult === undefined ? {} : { shutdownResult }),
    diagnosticsLevel,
    jobs: { permitsInUse: inUse, max, reserved: Math.max(0, inUse - queued), queued, pauseAt, resumeAt, flow },
    core: { budgetBytes, queuedBytes },
    links: { open, ...traffic },
    backlog: { runningHandlers: running, pendingRequests, openSessions: 0, unitsLeft: 0 },
  };
}

/** Before the start. */
const NO_TRAFFIC = { sentMessages: 0, sentBytes: 0, receivedMessages: 0, receivedBytes: 0 };
