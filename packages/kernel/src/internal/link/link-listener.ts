/**
 * A listening endpoint: greets who connects and keeps the links that came of it.
 *
 * Owns the engine's listener and this endpoint's facts. Leaves admission to `link-factory`.
 *
 * N1 Connections in their handshake are bounded; one more is refused at once (SEC-002).
 * N2 A link that was admitted with an older descriptor gets the current one (WIRE-001 update).
 */
import { advertisedEndpoint } from '../transport/advertised-endpoint.ts';
import { settleWithin } from '../time/index.ts';
import type { Pipe, PipeEngine, PipeListener, PipeSink } from '../transport/engine.ts';
import type { Link, Listener, ListenOptions } from '../transport/transport.ts';
import { type DecodedHello, type Descriptor, RejectReason, type Rejection } from '../wire/hello.ts';
import { FLUSH_BYTES, HANDSHAKE_LIMIT } from '../wire/limits.ts';
import type { PeerDigest } from '../wire/peer-digest.ts';
import { RecordKind } from '../wire/record.ts';
import { Handshake, sendRecord } from './handshake.ts';
import type { EndpointFacts, LinkFactory } from './link-factory.ts';
import type { PhysicalLink } from './physical-link.ts';
import type { RefusalLog } from './refusal-log.ts';

export class LinkListener implements Listener {
  readonly facts: EndpointFacts;
  readonly #factory: LinkFactory;
  readonly #refusals: RefusalLog;
  readonly #handshakes = new Set<Handshake>();
  readonly #links = new Set<PhysicalLink>();
  /** Set once the engine listens, before the first connection. */
  #listener: PipeListener | undefined;
  readonly #onClosed: (listener: LinkListener) => void;
  #closing = false;
  /** Who waits for the last link to end; `close` may be called again, with less patience. */
  readonly #onLastClosed = new Set<() => void>();

  private constructor(
    facts: EndpointFacts,
    factory: LinkFactory,
    refusals: RefusalLog,
    onClosed: (listener: LinkListener) => void,
  ) {
    this.facts = facts;
    this.#factory = factory;
    this.#refusals = refusals;
    this.#onClosed = onClosed;
  }

  static async open(
    options: ListenOptions,
    engine: PipeEngine,
    factory: LinkFactory,
    refusals: RefusalLog,
    onClosed: (listener: LinkListener) => void,
  ): Promise<LinkListener> {
    const facts = { ...listenerFacts(options), endpoint: '' };
    const listener = new LinkListener(facts, factory, refusals, onClosed);
    listener.#listener = await engine.listen(
      {
        address: options.bindAddress,
        maxPartBytes: largestPartBytes(options.maxMessageBytes),
        onRefused: (reason) => refusals.count(reason, options.bindAddress),
      },
      (pipe) => listener.#accept(pipe),
    );
    facts.endpoint = advertisedEndpoint(listener.#listener.address, options.advertiseHost);
    return listener;
  }

  get endpoint(): string {
    return this.facts.endpoint;
  }

  get boundAddress(): string {
    return this.#listener!.address;
  }

  get links(): ReadonlySet<Link> {
    return this.#links;
  }

  update(descriptor: Descriptor): void {
    this.facts.descriptor = descriptor;
    for (const link of this.#links) link.update(descriptor);
  }

  async close(lingerMs: number): Promise<void> {
    this.#closing = true;
    await this.#listener!.unbind();
    for (const handshake of this.#handshakes) handshake.cancel();
    this.#handshakes.clear();
    for (const link of this.#links) link.finish('ShuttingDown');
    if (this.#links.size > 0) {
      const allClosed = new Promise<void>((resolve) => this.#onLastClosed.add(resolve));
      await settleWithin(allClosed, lingerMs, this.#factory.settings.clock);
    }
    for (const link of this.#links) link.giveUp();
    await this.#listener!.close();
    this.#onClosed(this);
  }

  /** A link of this listener that was dialled from here; `announced` was in its hello. */
  adopt(link: PhysicalLink, announced: Descriptor): void {
    if (link.phase === 'closed') return;
    this.#links.add(link);
    if (this.facts.descriptor !== announced) link.update(this.facts.descriptor); // N2
  }

  release(link: PhysicalLink): void {
    this.#links.delete(link);
    if (this.#links.size > 0) return;
    for (const resolve of this.#onLastClosed) resolve();
    this.#onLastClosed.clear();
  }

  #accept(pipe: Pipe): PipeSink {
    const { wheel, clock } = this.#factory.settings;
    const handshake: Handshake = new Handshake(
      {
        onGreeting: (decoded, _, { correlation, aux }) => {
          this.#handshakes.delete(handshake);
          return this.#admit(decoded, pipe, { rid: correlation, generation: aux });
        },
        onFailed: (rejection) => {
          this.#handshakes.delete(handshake);
          this.#refusals.reject(rejection, pipe.address);
        },
      },
      undefined,
      wheel,
      clock,
    );
    handshake.attach(pipe);
    if (this.#handshakes.size < HANDSHAKE_LIMIT) this.#handshakes.add(handshake);
    else handshake.refuse({ reason: RejectReason.busy, text: `${HANDSHAKE_LIMIT} connections are being admitted` }); // N1
    return handshake;
  }

  #admit(decoded: DecodedHello, pipe: Pipe, asked: PeerDigest): PipeSink | Rejection {
    if (this.#closing) return { reason: RejectReason.stopping, text: 'this endpoint takes no new connections' };
    const admission = this.#factory.admit({
      decoded,
      pipe,
      dialed: false,
      linkNumber: 0,
      asked,
      endpoint: this.facts,
      prepare: (peer, id, link) => {
        const window = this.#factory.openWindow(link);
        const admit = this.#factory.greeting(this.facts, window, peer.securityIdentity);
        sendRecord(pipe, RecordKind.admit, admit, { correlation: id, aux: 0 });
        return window;
      },
      onClosed: (link) => this.release(link),
    });
    if (!('link' in admission)) return admission.rejection;
    if (admission.link.phase !== 'closed') this.#links.add(admission.link); // the topic may have ended it at once
    return admission.link;
  }
}

/** A part is one external payload, or a batch: less than what flushes it, then one record with its header and sections. */
export function largestPartBytes(maxMessageBytes: number): number {
  return maxMessageBytes === 0 ? 0 : Math.max(maxMessageBytes, 4 * FLUSH_BYTES) + 2 * FLUSH_BYTES;
}

function listenerFacts(options: ListenOptions): Omit<EndpointFacts, 'endpoint'> {
  return {
    kind: options.kind,
    scope: options.scope,
    rid: options.identity.rid,
    generation: options.identity.generation,
    maxMessageBytes: options.maxMessageBytes,
    descriptor: options.descriptor,
    group: options.group,
    expects: { kind: options.accepts },
  };
}
