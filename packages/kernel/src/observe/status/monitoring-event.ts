/**
 * What happened to a host and its topologies: a union of typed events (MON-020, MON-021).
 *
 * Owns the shapes. Each is told at the one place where it happens, through `Monitor`.
 *
 * 1. No payload, metadata, object id, token or frame; none per message (MON-022).
 */
import type { ErrorKindName } from '../../errors/index.ts';
import type { HostState, ShutdownResult } from '../../lifecycle/index.ts';
import type { EventError } from './event-error.ts';
import type {
  LocationSnapshot,
  MeshChannelSnapshot,
  PeerSnapshot,
  PublisherSnapshot,
  ServerSnapshot,
  TopologyStatus,
} from './snapshot.ts';

/** What is told; the board adds when, and in which order. */
export type MonitoringFact =
  | { readonly type: 'zlink.runtime.host.state_changed'; readonly state: HostState }
  | ({ readonly type: 'zlink.runtime.host.termination_changed' } & ShutdownResult)
  | ({ readonly type: 'zlink.runtime.mesh_node.state_changed'; readonly meshName: string } & TopologyStatus)
  | {
      readonly type: 'zlink.runtime.mesh_node.peer_changed';
      readonly meshName: string;
      readonly peer: PeerSnapshot;
    }
  | {
      readonly type: 'zlink.runtime.mesh_node.channel_changed';
      readonly meshName: string;
      readonly channelName: string;
      readonly channel: MeshChannelSnapshot;
    }
  | {
      readonly type: 'zlink.runtime.mesh_node.routing_id_conflict';
      readonly meshName: string;
      readonly nodeRid: string;
    }
  | ({ readonly type: 'zlink.runtime.client_server.state_changed'; readonly channelName: string } & TopologyStatus)
  | {
      readonly type: 'zlink.runtime.client_server.server_changed';
      readonly channelName: string;
      readonly server: ServerSnapshot;
      readonly serverRid?: string;
    }
  | {
      readonly type: 'zlink.runtime.fanout.publisher_changed';
      readonly channelName: string;
      readonly publisher: PublisherSnapshot;
    }
  | { readonly type: 'zlink.runtime.location.store_changed'; readonly location: LocationSnapshot };

/** What kind of thing it happened to. */
export type SourceKind = 'host' | 'mesh_node' | 'client_server' | 'fanout' | 'location';

export type MonitoringEvent = MonitoringFact & {
  readonly sourceKind: SourceKind;
  /** Of the host. */
  readonly lifecycleGeneration: bigint;
  readonly at: Date;
  /** Grows by one per event of a host. */
  readonly sequence: bigint;
  readonly error?: EventError;
};

/** What is said beside a fact. */
export interface EventNote {
  readonly error?: unknown;
  /** Of an error that is none of ours; default `InternalFailure`. */
  readonly kind?: ErrorKindName;
  /** What it is about, if this side knows it otherwise than by its own word: it then has log lines of its own. */
  readonly subject?: string | undefined;
}

/** Where the parts of a host tell what happened. Cheap, and never throws. */
export interface Monitor {
  /** Something that snapshots show has changed; without an event of its own. */
  changed(): void;
  /** As `changed`, and observers of events are told. Of `fact` a copy is made if there are any: what takes work may be a getter. */
  tell(fact: MonitoringFact, note?: EventNote): void;
}
