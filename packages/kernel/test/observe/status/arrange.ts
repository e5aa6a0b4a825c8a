/** A board over sections that a test changes, with a log on a manual clock. */
import { loopTurns, ManualClock } from '@zlink/testing';
import {
  type Logger,
  type ObservedEvent,
  type ObservedSnapshot,
  RateLimitedLog,
  type SnapshotSections,
  StatusBoard,
} from '../../../src/observe/index.ts';

export interface Rig {
  readonly board: StatusBoard;
  readonly clock: ManualClock;
  readonly lines: { readonly level: keyof Logger; readonly record: Readonly<Record<string, unknown>> }[];
  /** How often sections were asked for. */
  readonly asked: () => number;
  /** Of the host. */
  state: SnapshotSections['host']['state'];
  /** How long it takes to make a snapshot. */
  takesMs: number;
}

export function arrange(given: { logger?: Logger } = {}): Rig {
  const clock = new ManualClock();
  const lines: Rig['lines'][number][] = [];
  const keep = (level: keyof Logger) => (record: object) =>
    void lines.push({ level, record: record as Record<string, unknown> }); // records are plain objects
  const logger = given.logger ?? { debug: keep('debug'), info: keep('info'), warn: keep('warn'), error: keep('error') };
  let asked = 0;
  const rig: Rig = {
    clock,
    lines,
    state: 'serving',
    takesMs: 0,
    asked: () => asked,
    board: new StatusBoard({
      sections: () => {
        asked++;
        clock.stall(rig.takesMs);
        return sectionsOf(rig.state);
      },
      lifecycleGeneration: () => 7n,
      date: () => new Date(1_000),
      clock,
    }),
  };
  rig.board.logTo(new RateLimitedLog(logger, clock));
  return rig;
}

function sectionsOf(state: Rig['state']): SnapshotSections {
  return {
    host: {
      state,
      isReady: state === 'serving',
      lifecycleGeneration: 7n,
      diagnosticsLevel: 'errors',
      jobs: { permitsInUse: 0, max: 8, reserved: 0, queued: 0, pauseAt: 7, resumeAt: 5, flow: 'RUNNING' },
      core: { budgetBytes: 1, queuedBytes: 0 },
      links: { open: 0, sentMessages: 0, sentBytes: 0, receivedMessages: 0, receivedBytes: 0 },
      backlog: { runningHandlers: 0, pendingRequests: 0, openSessions: 0, unitsLeft: 0 },
    },
    routeMeshes: [],
    clientServerChannels: [],
    fanoutChannels: [],
    location: { store: 'not_configured' },
  };
}

export type Snapshots = AsyncIterator<ObservedSnapshot, undefined>;
export type Events = AsyncIterator<ObservedEvent, undefined>;

export function beginSnapshots({ board }: Rig, signal?: AbortSignal): Snapshots {
  return board.observe(signal)[Symbol.asyncIterator]() as Snapshots; // it gives nothing behind its last item
}

export function beginEvents({ board }: Rig, signal?: AbortSignal): Events {
  return board.events(signal)[Symbol.asyncIterator]() as Events; // it gives nothing behind its last item
}

/** The next item, which has to be there. */
export async function nextOf<T>(iterator: AsyncIterator<T, undefined>): Promise<T> {
  const { done, value } = await iterator.next();
  if (done === true) throw new Error('the iteration has ended');
  return value;
}

/** Changes the host of the rig in a turn of its own. */
export async function changeInTurn(rig: Rig): Promise<void> {
  rig.board.changed();
  await loopTurns(2);
}
