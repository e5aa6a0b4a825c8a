/**
 * Makes links out of greeted pipes: the one place where admission, duplicates and windows meet.
 *
 * Owns the peer indexes of groups, link ids, which links are open, and the traffic of those that have ended. Listener and dialer
 * call it with a decoded greeting.
 */
import type { Pipe, PipeSecurity } from '../transport/engine.ts';
import type { Link, LinkGroup, PeerFacts } from '../transport/transport.ts';
import {
  type DecodedHello,
  type Descriptor,
  EndpointKind,
  type Hello,
  RejectReason,
  type Rejection,
  encodeHello,
  ownHello,
} from '../wire/hello.ts';
import type { PeerDigest } from '../wire/peer-digest.ts';
import { type Expectation, examineHello } from './admission.ts';
import { correlationScope } from './correlation-scope.ts';
import type { LinkServices } from './link-parts.ts';
import { PeerIndex } from './peer-index.ts';
import { PhysicalLink } from './physical-link.ts';
import { TrafficSum } from './traffic-sum.ts';
import type { WindowShare } from './window-budget.ts';

/** What links share, and what making them takes beside. */
export interface FactorySettings extends LinkServices {
  readonly security: PipeSecurity | undefined;
  /** Received sends and requests whose link ended before their turn. */
  readonly onDropped: (count: number, link: Link, reason: string) => void;
}

/** What one endpoint of ours (a listener or a dial) says about itself and expects of others. */
export interface EndpointFacts {
  readonly kind: EndpointKind;
  readonly scope: string;
  readonly rid: string;
  readonly generation: bigint;
  readonly endpoint: string;
  readonly maxMessageBytes: number;
  descriptor: Descriptor;
  readonly group: LinkGroup;
  readonly expects: Pick<Expectation, 'kind' | 'rid' | 'generation'>;
}

/** A greeted pipe on its way to become a link. */
export interface Greeting {
  readonly decoded: DecodedHello;
  readonly pipe: Pipe;
  readonly dialed: boolean;
  /** Whom a hello expects here. */
  readonly asked?: PeerDigest;
  readonly endpoint: EndpointFacts;
  /** What an admit calls the link; 0: it has no name for it, or this side is the one to give it. */
  readonly linkNumber: number;
  /** Called for an admitted peer before its link can send: opens the receive window, answers the hello. */
  readonly prepare: (peer: PeerFacts, id: number, link: () => PhysicalLink | undefined) => WindowShare;
  readonly onClosed: (link: PhysicalLink, reason: string) => void;
}

export type Admission =
  | { readonly kind: 'link'; readonly link: PhysicalLink }
  /** Made only to end in order; `of` stays. */
  | { readonly kind: 'brief'; readonly link: PhysicalLink; readonly of: PhysicalLink }
  | { readonly kind: 'duplicate'; readonly of: PhysicalLink; readonly rejection: Rejection }
  | { readonly kind: 'refused'; readonly rejection: Rejection };

export class LinkFactory {
  readonly settings: FactorySettings;
  readonly links = new Set<PhysicalLink>();
  /** What links have left that are not in `links` any more. */
  readonly ended = new TrafficSum();
  /** Who wants to hear of the end of a link that is not theirs. */
  readonly #waiting = new Map<PhysicalLink, Set<(reason: string) => void>>();
  readonly #indexes = new WeakMap<LinkGroup, PeerIndex>();
  #lastId = 0;

  constructor(settings: FactorySettings) {
    this.settings = settings;
  }

  /** A hello or admit with `window`, proven to the owner of `peerPublicKey` where pipes are secured. */
  greeting(endpoint: EndpointFacts, window: WindowShare, peerPublicKey: string | undefined): Uint8Array {
    const security = this.settings.security;
    const hello: Hello = ownHello({
      kind: endpoint.kind,
      generation: endpoint.generation,
      windowBytes: window.grantedBytes,
      maxMessageBytes: endpoint.maxMessageBytes,
      rid: endpoint.rid,
      scope: endpoint.scope,
      endpoint: endpoint.endpoint,
      publicKey: security?.publicKey ?? '',
      descriptor: endpoint.descriptor,
    });
    if (security === undefined || peerPublicKey === undefined) return encodeHello(hello);
    return encodeHello(hello, (message) => security.sign(message, peerPublicKey));
  }

  openWindow(link: () => PhysicalLink | undefined): WindowShare {
    return this.settings.budget.open(() => link()?.announceWindow());
  }

  /** A living link of the endpoint's group that leads to this RID or to this advertised address. */
  findLink(endpoint: EndpointFacts, rid: string | undefined, address: string): PhysicalLink | undefined {
    return this.#indexOf(endpoint).find(rid, address);
  }

  /**
   * Calls back once this open link takes no new work any more, or has ended.
   * @returns how to take that back
   */
  onceClosed(link: PhysicalLink, callback: (reason: string) => void): () => void {
    let callbacks = this.#waiting.get(link);
    if (callbacks === undefined) this.#waiting.set(link, (callbacks = new Set()));
    callbacks.add(callback);
    return () => void callbacks.delete(callback);
  }

  admit(greeting: Greeting): Admission {
    const { endpoint, dialed } = greeting;
    const examined = examineHello(greeting.decoded, {
      ...endpoint.expects,
      scope: endpoint.scope,
      ownKind: endpoint.kind,
      ownRid: endpoint.rid,
      ownGeneration: endpoint.generation,
      ownDescriptor: endpoint.descriptor,
      security: this.settings.security,
      dialed,
      asked: greeting.asked,
    });
    if (!examined.ok) {
      if (examined.rejection.reason === RejectReason.ridConflict) this.tellConflict(endpoint.group);
      return { kind: 'refused', rejection: examined.rejection };
    }
    const { hello, facts } = examined;
    const refusal = this.#ask(endpoint.group, facts, hello.descriptor);
    if (refusal !== undefined) {
      return { kind: 'refused', rejection: { reason: RejectReason.refused, text: refusal } };
    }
    const verdict = this.#indexOf(endpoint).judge(facts, dialed);
    if (verdict.kind === 'refuse') return { kind: 'refused', rejection: verdict.rejection };
    if (verdict.kind === 'duplicate') {
      const text = `"${facts.rid}" is already connected`;
      return {
        kind: 'duplicate',
        of: verdict.of,
        rejection: { reason: RejectReason.duplicate, text, rid: endpoint.rid },
      };
    }
    if (verdict.kind === 'admitBriefly') {
      const link = this.#make(greeting, hello, facts, undefined);
      if (verdict.ender === 'self') link.finish();
      return { kind: 'brief', link, of: verdict.besides };
    }
    const link = this.#make(greeting, hello, facts, verdict.replaces);
    for (const other of verdict.ends) other.finish();
    return { kind: 'link', link };
  }

  /** Somebody else has the RID of this side, found here or there. */
  tellConflict(group: LinkGroup): void {
    try {
      group.onRidConflict?.();
    } catch (error) {
      this.settings.onFault(error);
    }
  }

  /** The topic's own check; one that throws has refused. */
  #ask(group: LinkGroup, facts: PeerFacts, descriptor: Descriptor): string | undefined {
    try {
      return group.refuse?.(facts, descriptor);
    } catch (error) {
      this.settings.onFault(error);
      return 'admission check failed';
    }
  }

  #make(greeting: Greeting, hello: Hello, peer: PeerFacts, replaces: PhysicalLink | undefined): PhysicalLink {
    const { endpoint, pipe, dialed } = greeting;
    const index = this.#indexOf(endpoint);
    const made: { link?: PhysicalLink } = {}; // the window may grow before the link exists
    const id = ++this.#lastId;
    const receiveWindow = greeting.prepare(peer, id, () => made.link);
    const acceptor = dialed ? peer : endpoint;
    made.link = new PhysicalLink(
      {
        id,
        pipe,
        dialed,
        peer,
        correlationScope: correlationScope(acceptor.generation, greeting.linkNumber || id, dialed),
        descriptor: hello.descriptor,
        sendWindowBytes: hello.windowBytes,
        receiveWindow,
        completionLane: endpoint.kind === EndpointKind.meshNode,
        openSink: (link) => {
          this.links.add(link);
          index.add(link, replaces);
          return endpoint.group.open(link);
        },
        onFinishing: (link) => this.#tellWaiting(link, 'the other link takes no new work'),
        onClosed: (link, reason, droppedCount) => {
          this.links.delete(link);
          this.ended.keep(link);
          if (droppedCount > 0) this.settings.onDropped(droppedCount, link, reason);
          index.remove(link);
          greeting.onClosed(link, reason);
          this.#tellWaiting(link, reason);
        },
      },
      this.settings,
    );
    return made.link;
  }

  #tellWaiting(link: PhysicalLink, reason: string): void {
    const callbacks = this.#waiting.get(link);
    this.#waiting.delete(link);
    for (const callback of callbacks ?? []) callback(reason);
  }

  #indexOf(endpoint: EndpointFacts): PeerIndex {
    let index = this.#indexes.get(endpoint.group);
    if (index === undefined) {
      index = new PeerIndex(endpoint.group.policy, endpoint.rid);
      this.#indexes.set(endpoint.group, index);
    }
    return index;
  }
}
