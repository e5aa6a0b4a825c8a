/**
 * What applications see of the messages of one owner: a Channel, a node itself, or a fanout channel.
 *
 * Owns the step from an internal dispatch to a public context: getters over a private field, so that nothing internal can
 * be reached and nothing is computed before it is asked for. Leaves calling handlers to the handler runner.
 *
 * 1. A context names the logical facts of its kind and no others (DISP-003).
 */
import type { Metadata } from '../message/index.ts';
import {
  clientServerPlace,
  fanoutPlace,
  type Flow,
  type FlowPlace,
  meshChannelPlace,
  nodePlace,
} from '../observe/index.ts';
import type { ChannelContext, FanoutContext, NodeContext } from './contexts.ts';
import type { Verb } from './counters.ts';
import type { DispatchFacts } from './dispatch.ts';
import type { DispatchKind } from './filter-chain.ts';

/** What handlers and filters of one owner see. */
export interface DispatchSurface {
  readonly dispatchKinds: Readonly<Record<Verb, DispatchKind>>;
  /** What filters are told; undefined outside of a mesh (DISP-007). */
  readonly meshName: string | undefined;
  /** Where its messages arrive, for records. */
  readonly place: FlowPlace;
  readonly makeContext: (facts: DispatchFacts) => ChannelContext | NodeContext | FanoutContext;
}

/**
 * @param ownRid - of the server, or of the node that serves the channel
 * @param meshName - of a RouteMesh Channel only; filters see it, handlers do not (DISP-003)
 */
export function channelSurface(channelName: string, ownRid: string, meshName?: string): DispatchSurface {
  return {
    place:
      meshName === undefined
        ? clientServerPlace('target', channelName, ownRid)
        : meshChannelPlace('target', meshName, channelName, ownRid),
    dispatchKinds: { send: 'channelSend', request: 'channelRequest' },
    meshName,
    makeContext: (facts) => new ChannelMessageContext(facts, channelName),
  };
}

/** @param targetNodeRid - of the node that the messages are addressed to: this one */
export function nodeSurface(meshName: string, targetNodeRid: string): DispatchSurface {
  return {
    place: nodePlace('target', meshName, targetNodeRid),
    dispatchKinds: { send: 'nodeSend', request: 'nodeRequest' },
    meshName,
    makeContext: (facts) => new NodeMessageContext(facts, meshName, targetNodeRid),
  };
}

/** Of events, which are sends that nobody is answered to. */
export function fanoutSurface(channelName: string): DispatchSurface {
  return {
    place: fanoutPlace(channelName),
    dispatchKinds: { send: 'fanout', request: 'fanout' }, // there are no requests
    meshName: undefined,
    makeContext: (facts) => new EventContext(facts, channelName),
  };
}

// The seven facts that the contexts of messages have are written twice: one is made per message, and deriving them from one class makes
// a whole dispatch a fifth slower (measured: private fields of two classes), a part of its own one object larger (DISP-010).

class ChannelMessageContext implements ChannelContext {
  readonly #facts: DispatchFacts;
  readonly #channelName: string;

  constructor(facts: DispatchFacts, channelName: string) {
    this.#facts = facts;
    this.#channelName = channelName;
  }

  get channelName(): string {
    return this.#channelName;
  }

  get kind(): 'send' | 'request' {
    return this.#facts.verb;
  }

  get packetName(): string {
    return this.#facts.packetName;
  }

  get contentType(): string {
    return this.#facts.contentType;
  }

  get metadata(): Metadata {
    return this.#facts.messageMetadata;
  }

  get correlationId(): string | undefined {
    return this.#facts.correlationId;
  }

  get signal(): AbortSignal {
    return this.#facts.signal;
  }

  get flow(): Flow | undefined {
    return this.#facts.handlerFlow;
  }
}

class NodeMessageContext implements NodeContext {
  readonly #facts: DispatchFacts;
  readonly #meshName: string;
  readonly #targetNodeRid: string;

  constructor(facts: DispatchFacts, meshName: string, targetNodeRid: string) {
    this.#facts = facts;
    this.#meshName = meshName;
    this.#targetNodeRid = targetNodeRid;
  }

  get meshName(): string {
    return this.#meshName;
  }

  get sourceNodeRid(): string {
    return this.#facts.link!.peer.rid; // came over a link, and is proven at admission, whatever the message says
  }

  get targetNodeRid(): string {
    return this.#targetNodeRid;
  }

  get kind(): 'send' | 'request' {
    return this.#facts.verb;
  }

  get packetName(): string {
    return this.#facts.packetName;
  }

  get contentType(): string {
    return this.#facts.contentType;
  }

  get metadata(): Metadata {
    return this.#facts.messageMetadata;
  }

  get correlationId(): string | undefined {
    return this.#facts.correlationId;
  }

  get signal(): AbortSignal {
    return this.#facts.signal;
  }

  get flow(): Flow | undefined {
    return this.#facts.handlerFlow;
  }
}

class EventContext implements FanoutContext {
  readonly #facts: DispatchFacts;
  readonly #channelName: string;
  #topic: Uint8Array | undefined = undefined;

  constructor(facts: DispatchFacts, channelName: string) {
    this.#facts = facts;
    this.#channelName = channelName;
  }

  get channelName(): string {
    return this.#channelName;
  }

  get topic(): Uint8Array {
    return (this.#topic ??= Uint8Array.from(this.#facts.topic ?? [])); // other handlers and events share the bytes
  }

  get topicText(): string {
    return topicDecoder.decode(this.#facts.topic);
  }

  get packetName(): string {
    return this.#facts.packetName;
  }

  get signal(): AbortSignal {
    return this.#facts.signal;
  }

  get flow(): Flow | undefined {
    return this.#facts.handlerFlow;
  }
}

const topicDecoder = new TextDecoder('utf-8', { ignoreBOM: true });
