/** What an application sees of its host, and how the host is asked for it. */
import type {
  MessageCounters,
  ObservedEvent,
  ObservedSnapshot,
  RuntimeSnapshot,
  StatusBoard,
} from '../../observe/index.ts';
import type { ReceiveFlow } from '../execution/index.ts';
import type { ListenerStatus, Topic } from './host-parts.ts';
import type { Wiring } from './shutdown.ts';

export interface RuntimeQuery {
  /** Every bound listener with its advertised endpoint. @see NET-002 */
  listeners(): readonly ListenerStatus[];
  /**
   * accepted = handled + failed + dropped + running + queued, per owner and verb: `send` and `request` of a channel that is
   * served here and, under its name, of a mesh (direct messages); `stray` of a mesh or a channel that is called from here
   * (late replies and what else no request waited for). `send` of a fanout channel: events received here, once per handler.
   */
  counters(): readonly MessageCounters[];
  /** How full the job queue is. @see JOBQ-005 */
  inboundDispatch(): { readonly permitsInUse: number; readonly max: number; readonly flow: ReceiveFlow };
  /** What is so now: frozen, the caller's own, in every state of the host. @see MON-001, MON-002 */
  snapshot(): RuntimeSnapshot;
  /**
   * The current snapshot, then a new one after every turn in which something has changed, each with a higher `sequence`. Who
   * reads slowly gets the newest and the count of those in between; so do all if making them would take more than a twentieth
   * of the time. Ends behind the snapshot of the stopped host.
   *
   * @param signal - ends the iterations
   * @throws ZLinkError `InvalidOperation` if it is no signal
   * @see MON-010, MON-012
   */
  observe(signal?: AbortSignal): AsyncIterable<ObservedSnapshot>;
  /**
   * What happens from the beginning of an iteration on. Of more than 1,024 that were not read the oldest are dropped and
   * counted. Ends when the host has stopped.
   *
   * @param signal - ends the iterations
   * @throws ZLinkError `InvalidOperation` if it is no signal
   * @see MON-011, MON-012, MON-021
   */
  events(signal?: AbortSignal): AsyncIterable<ObservedEvent>;
}

interface QuerySource {
  readonly topics: readonly Topic[];
  readonly board: StatusBoard;
  /** Undefined before the host has made its parts. */
  readonly wiring: () => Wiring | undefined;
  /** Whether nothing is bound any more. */
  readonly isOver: () => boolean;
}

export function queryOf({ topics, board, wiring, isOver }: QuerySource): RuntimeQuery {
  return Object.freeze({
    listeners: () => (isOver() ? [] : topics.flatMap((topic) => topic.listeners())),
    counters: () => topics.flatMap((topic) => topic.counters()),
    inboundDispatch: () => {
      const permits = wiring()?.parts.permits;
      return { permitsInUse: permits?.inUse ?? 0, max: permits?.max ?? 0, flow: permits?.flow ?? 'RUNNING' };
    },
    snapshot: () => board.snapshot(),
    observe: (signal?: AbortSignal) => board.observe(signal),
    events: (signal?: AbortSignal) => board.events(signal),
  });
}
