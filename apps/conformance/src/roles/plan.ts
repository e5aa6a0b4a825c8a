/**
 * What the driver tells a process about the hosts that it plays: plain data that passes through IPC.
 *
 * Owns the vocabulary of parts, calls and their ends. Leaves to the parts what a plan becomes.
 */
import type { Flow, HostOptions } from '@zlink/framework';
import type { RedisConnectionOptions } from '@zlink/location-redis';
import type { PacketLabel, Payload } from '../contracts.ts';

export type CodecKind = 'json' | 'protobuf' | 'msgpack';

/** Options that are data. Logger, services and the like are the role's own. */
export type PlainHostOptions = Omit<HostOptions, 'logger' | 'services' | 'onUnhandled' | 'telemetry' | 'testing'>;

export type StorePlan =
  /** One backend for all hosts of the process. */
  { readonly kind: 'memory' } | RedisPlan;

interface RedisPlan {
  readonly kind: 'redis';
  /** `{ url }` of one server, or what Sentinels and Clusters are reached by. */
  readonly connection: RedisConnectionOptions;
  readonly keyPrefix: string;
  readonly replicaAcks?: number;
  /** Whether the host has a Relocation Store there, too. */
  readonly relocation?: boolean;
}

export interface HostPlan {
  /** Replies and logs carry it. */
  readonly name: string;
  readonly options?: PlainHostOptions;
  readonly store?: StorePlan;
  readonly codec?: CodecKind;
  readonly parts: readonly PartPlan[];
}

export interface ServerPlan {
  readonly role: 'server';
  readonly channel?: string;
  readonly port?: number;
  readonly bindHost?: string;
  readonly advertiseHost?: string;
  readonly weight?: number;
  readonly concurrency?: number;
  readonly maxMessageSize?: number;
  readonly routingId?: string;
}

export interface ClientPlan {
  readonly role: 'client';
  readonly channel?: string;
  readonly connect?: readonly string[];
  readonly sendTimeoutMs?: number;
  readonly requestTimeoutMs?: number;
}

export interface NodePlan {
  readonly role: 'node';
  readonly mesh?: string;
  readonly rid?: string;
  readonly prefix?: string;
  readonly connect?: readonly (string | readonly [rid: string, endpoint: string])[];
  /** A channel without weight is called only. */
  readonly channels?: readonly { readonly name?: string; readonly weight?: number; readonly concurrency?: number }[];
  readonly concurrency?: number;
  readonly mailbox?: { readonly messages?: number; readonly bytes?: number };
  readonly sendTimeoutMs?: number;
  readonly requestTimeoutMs?: number;
}

export interface PublisherPlan {
  readonly role: 'publisher';
  readonly channel?: string;
}

export interface SubscriberPlan {
  readonly role: 'subscriber';
  readonly channel?: string;
  /** Without it publishers are found by discovery. */
  readonly connect?: readonly string[];
  /** How many handlers hear each event; 1 by default. */
  readonly handlers?: number;
}

/** Journals what is asked of it; may call another host while it starts, or fail. */
export interface ServicePlan {
  readonly role: 'service';
  readonly name: string;
  readonly fails?: 'start' | 'requestStop' | 'stop';
  readonly holds?: 'start' | 'stop';
  readonly callsAtStart?: CallPlan;
}

/**
 * Journals its passing, in and out.
 * - `pass`: goes on; `stop`: never does; `twice`: goes on twice and journals how the second time ends; `throw`: throws
 *   before; `override`: goes on and returns something of its own
 */
export interface FilterPlan {
  readonly role: 'filter';
  readonly name: string;
  readonly behaviour: 'pass' | 'stop' | 'twice' | 'throw' | 'override';
  /** A class of its own instance per dispatch, with what the scope gives. */
  readonly asClass?: boolean;
}

/** A ClientServer server whose handlers are classes with a scope, or are declared by classes. */
interface ClassServerPlan {
  readonly role: 'classServer';
}

/** W3C trace context by a propagator of the application, which writes these headers in place of its own. */
export interface PropagatorPlan {
  readonly traceparent?: string;
  readonly tracestate?: string;
}

/** No role: what the host measures and records is kept in its process, to be asked for. */
export interface TelemetryPlan {
  readonly role: 'telemetry';
  /** `failing`: whatever a provider is asked for, it throws. */
  readonly metrics?: 'kept' | 'failing';
  readonly spans?: 'kept' | 'failing';
  /** Records of messages. `failing`: the logger throws on every line; `slow`: each takes it a millisecond. */
  readonly records?: 'kept' | 'failing' | 'slow';
  readonly propagator?: PropagatorPlan;
  /** Whether the process has a context manager while the host lives. */
  readonly hasContext?: boolean;
}

/** Calls builder methods one after another, as JavaScript may: for mistakes that no typed plan can make. */
export interface ChainPlan {
  readonly role: 'chain';
  readonly steps: readonly (readonly unknown[])[];
}

export type PartPlan =
  | ServerPlan
  | ClientPlan
  | NodePlan
  | PublisherPlan
  | SubscriberPlan
  | ServicePlan
  | FilterPlan
  | ClassServerPlan
  | TelemetryPlan
  | ChainPlan;

/** What a chain writes where a packet or a handler belongs. */
export const tokens = {
  packet: (label: PacketLabel) => ({ $packet: label }),
  handler: { $handler: true },
} as const;

/** Under a name that no host has heard of. */
interface UnknownPacket {
  readonly name: string;
}

export interface CallPlan {
  readonly to: { readonly channel: string } | { readonly rid: string; readonly mesh?: string };
  /** Default: `request`. */
  readonly verb?: 'send' | 'request';
  /** Default: that of the verb. */
  readonly packet?: PacketLabel | UnknownPacket;
  readonly payload?: Partial<Payload>;
  readonly metadata?: readonly (readonly [key: string, value: string])[];
  readonly timeoutMs?: number;
}

export interface ReplyFacts {
  readonly mark: string;
  readonly by: string;
  readonly text: string;
  readonly bytes?: Uint8Array | string;
}

export interface ErrorFacts {
  /** Of the class. */
  readonly name: string;
  readonly isZLinkError: boolean;
  readonly isConfigurationError: boolean;
  readonly kind?: string;
  readonly submitted?: boolean;
  readonly message: string;
  readonly problems?: readonly string[];
  readonly hasCause: boolean;
  /** Names of what is set on the error itself. */
  readonly keys: readonly string[];
}

export type CallEnd =
  | { readonly ok: true; readonly reply: ReplyFacts | undefined; readonly ms: number }
  | { readonly ok: false; readonly error: ErrorFacts; readonly ms: number };

/** How many calls ended in which way, and who answered, in the order in which the calls were made. */
export interface BurstEnd {
  /** `ok`, the kind of the error, or its name. */
  readonly ends: Readonly<Record<string, number>>;
  readonly by: readonly string[];
  readonly firstError?: ErrorFacts;
  /** Of requests: replies that were those of another request. */
  readonly mixedUp: number;
}

export interface PublishPlan {
  readonly topic?: string | Uint8Array;
  readonly packet?: PacketLabel;
  readonly payload?: Partial<Payload>;
}

/** One thing that happened in a process, in order. */
export interface JournalEntry {
  /** Whose handler, filter or service: `server`, `node`, `channel`, `subscriber`, `filter NAME`, `service NAME`. */
  readonly owner: string;
  readonly what: string;
  readonly mark: string;
  readonly text: string;
  readonly payload?: Payload;
  /** Of the span that is active there. */
  readonly activeSpanId?: string;
  readonly context?: ContextFacts;
}

/** What a handler or filter could see. */
export interface ContextFacts {
  readonly keys: readonly string[];
  readonly isFrozen: boolean;
  readonly kind?: string;
  readonly packetName?: string;
  readonly contentType?: string;
  readonly correlationId?: string;
  readonly channelName?: string;
  readonly meshName?: string;
  readonly sourceNodeRid?: string;
  readonly targetNodeRid?: string;
  readonly topicText?: string;
  readonly topic?: Uint8Array;
  readonly metadata?: readonly (readonly [string, string])[];
  readonly flow?: Flow;
  readonly hasSignal: boolean;
  readonly dispatchKind?: string;
}
