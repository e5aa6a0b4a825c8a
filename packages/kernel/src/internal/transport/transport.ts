/**
 * The transport port: links and intents as topics see them.
 *
 * Owns the vocabulary between topics and links. Topics get a `Transport` from their composer and never know the engine.
 */
import type { ErrorKindName } from '../../errors/index.ts';
import type { NodeIdentity } from '../../identity/index.ts';
import type { LinkTraffic, TrafficTotals } from '../../observe/index.ts';
import type { Descriptor, EndpointKind } from '../wire/hello.ts';
import type { LinkSink, OutboundRecord, OutboundRequest } from './records.ts';

/** Facts about the other side of a link, verified at admission. */
export interface PeerFacts extends NodeIdentity {
  /** MeshName or ChannelName. */
  readonly scope: string;
  /** Where the peer can be dialled, or empty. */
  readonly endpoint: string;
  /** CURVE public key of the peer, proven; undefined on unsecured links. */
  readonly securityIdentity: string | undefined;
  /** Largest payload plus metadata in bytes that the peer takes in one message; 0: no limit. */
  readonly maxMessageBytes: number;
}

/** What the ids of requests on a link begin with, the same at both of its ends. */
export interface CorrelationScope {
  /** Of requests of this side. */
  readonly own: string;
  /** Of requests of the peer. */
  readonly peer: string;
}

export type LinkPhase = 'open' | 'finishing' | 'closed';

/** One admitted connection to one peer. Ids are never reused; a link ends exactly once, with a reason. */
export interface Link {
  readonly id: number;
  readonly peer: PeerFacts;
  readonly correlationScope: CorrelationScope;
  readonly descriptor: Descriptor;
  readonly phase: LinkPhase;
  /** For leak checks: bytes submitted by this side and not yet returned as credit by the peer. */
  readonly outstandingBytes: number;
  /** For leak checks: records waiting for credit. */
  readonly waitingRecords: number;
  /** For leak checks: written requests whose reply is still to come. */
  readonly pendingRequests: number;
  /** For leak checks: requests received on this link and not yet answered. */
  readonly unansweredRequests: number;
  /** As it is now; made, and frozen, when it is asked for. */
  readonly traffic: LinkTraffic;

  /**
   * Submits a record.
   * @returns true: written into the batch now; false: it waits for credit and one of its callbacks will say how it ended
   * @throws ZLinkError `Unavailable` (link takes no new work), `CapacityExceeded` (too many waiting or pending here),
   *   `InvalidOperation` (too large for the peer), or what its encoding threw; the record is then nowhere
   */
  submit(record: OutboundRecord): boolean;
  /** Takes a record back that still waits for credit. False: it was already written. */
  withdraw(record: OutboundRecord): boolean;
  /** Ends the waiting for a request's reply; with `notify` the peer is told that nobody waits (C12). */
  abandon(request: OutboundRequest, notify: boolean): void;
  /** A received request will get no reply record (its time has run out): closes its account. */
  forgo(): void;
  /**
   * Stops new work; the link closes by itself when all accepted work has ended on both sides (CORE-010, CORE-011).
   * Sends and requests that wait for credit are refused with `Unavailable`.
   */
  finish(): void;
  /** For the suites: ends the link now. Waiting records and pending requests fail with `Unavailable`. */
  fail(reason: string): void;
}

export interface ListenOptions {
  readonly kind: EndpointKind;
  readonly scope: string;
  readonly identity: NodeIdentity;
  /** `tcp://host:port`, port 0 takes a free one. */
  readonly bindAddress: string;
  /** Host in the advertised endpoint; default: the bound one. */
  readonly advertiseHost?: string;
  readonly maxMessageBytes: number;
  readonly descriptor: Descriptor;
  /** Which links to one peer live side by side. */
  readonly group: LinkGroup;
  /** Kinds of endpoints that may dial in. */
  readonly accepts: EndpointKind;
}

export interface Listener {
  /** Advertised endpoint with the real port. */
  readonly endpoint: string;
  /** Bound endpoint with the real port. */
  readonly boundAddress: string;
  /** For leak checks. */
  readonly links: ReadonlySet<Link>;
  /** Publishes a descriptor with a higher revision to every link. */
  update(descriptor: Descriptor): void;
  /** Accepts no new connections any more, finishes all links within `lingerMs`, then releases the socket. */
  close(lingerMs: number): Promise<void>;
}

export interface DialOptions {
  readonly kind: EndpointKind;
  readonly scope: string;
  readonly identity: NodeIdentity;
  readonly descriptor: Descriptor;
  readonly address: string;
  /** Only this RID is admitted; undefined: any. */
  readonly expectedRid?: string;
  /** Only this generation is admitted; undefined: any. */
  readonly expectedGeneration?: bigint;
  readonly expects: EndpointKind;
  readonly group: LinkGroup;
  /** RouteMesh: dial as the node that listens there; the link counts among the listener's. */
  readonly through?: Listener;
  readonly onState: (intent: Intent) => void;
}

export type IntentState =
  'connecting' | 'admitted' | 'rejected' | 'notRequired' | 'resting' | 'reconnecting' | 'closed';

/** The wish to be connected to one address: dials, and dials again with backoff, until withdrawn (CORE-009). */
export interface Intent {
  readonly address: string;
  readonly state: IntentState;
  /** Why it is not connected, for people. */
  readonly reason: string | undefined;
  /** While it is `rejected`: what kind of error that is. */
  readonly refusal?: ErrorKindName | undefined;
  /** RID that answered at this address last. */
  readonly rid: string | undefined;
  readonly link: Link | undefined;
  /** Withdraws the intent and finishes its link within `lingerMs`; what is left then fails with `ShuttingDown`. */
  close(lingerMs: number): Promise<void>;
}

/**
 * What several links to the same peer mean (CORE-010).
 * - `every`: each link stands for itself (ClientServer server: the clients decide)
 * - `firstAdmitted`: the first link to a RID and generation stays, others rest (ClientServer client)
 * - `smallerRid`: the link initiated by the smaller RID stays (RouteMesh)
 */
export type DuplicatePolicy = 'every' | 'firstAdmitted' | 'smallerRid';

export interface LinkGroup {
  readonly policy: DuplicatePolicy;
  /** Called once per admitted link. */
  open(link: Link): LinkSink;
  /** Topic's own admission check; a text refuses the peer with that reason. */
  refuse?(peer: PeerFacts, descriptor: Descriptor): string | undefined;
  /** Somebody else has the RID of this side, at every attempt that ends so (NET-003). */
  onRidConflict?(): void;
}

/** Sums over all links, made when they are asked for. */
export interface TransportStatus {
  /** What all peers together may have under way to this host. */
  readonly budgetBytes: number;
  readonly grantedBytes: number;
  /** Received, and not yet given back to the peers. */
  readonly queuedBytes: number;
  /** Requests of this host whose reply is still to come. */
  readonly pendingRequests: number;
  /** Open ones. */
  readonly links: number;
  /** What has gone over all links, those that have ended included: it never goes back. */
  readonly traffic: TrafficTotals;
  /** Connections refused before admission, and links ended as the peer broke the protocol, by reason label. */
  readonly refused: Readonly<Record<string, number>>;
}

export interface Transport {
  listen(options: ListenOptions): Promise<Listener>;
  dial(options: DialOptions): Intent;
  readonly status: TransportStatus;
  /** Closes what is still open; afterwards nothing of the transport keeps the process alive. */
  close(): Promise<void>;
}
