/**
 * What applications see of a Channel's messages.
 *
 * Owns the step from an internal dispatch to a public context: getters over a private field, so that nothing internal can
 * be reached and nothing is computed before it is asked for. Node direct will be another surface of the same dispatcher.
 */
import type { Metadata } from '../message/index.ts';
import type { ChannelContext } from './contexts.ts';
import type { DispatchFacts } from './dispatch.ts';
import type { DispatchSurface } from './handler-runner.ts';

class ChannelMessageContext implements ChannelContext {
  readonly #channelName: string;
  readonly #facts: DispatchFacts;

  constructor(channelName: string, facts: DispatchFacts) {
    this.#channelName = channelName;
    this.#facts = facts;
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
}

/** @param meshName - of a RouteMesh Channel only (DISP-007) */
export function channelSurface(channelName: string, meshName: string | undefined): DispatchSurface {
  return {
    dispatchKinds: { send: 'channelSend', request: 'channelRequest' },
    meshName,
    makeContext: (facts) => new ChannelMessageContext(channelName, facts),
  };
}
