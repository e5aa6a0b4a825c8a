/**
 * An intent: the wish to be connected to one address, until withdrawn (CORE-009).
 *
 * Owns attempts, backoff and the visible state. Leaves the handshake to `handshake` and admission to `link-factory`.
 *
 * D1 One attempt at a time; its pipe, handshake and window belong to the `dialing` state and end with it.
 * D2 Every attempt is a new pipe: nothing sent to one attempt can reach a later one (CORE-014).
 * D3 While another link to the same peer lives, the intent rests and does not dial (CORE-010). It hears of that link's end,
 *    or, where only the peer knows the link, asks again after the backoff.
 * D4 At most one thing brings the next attempt: one timer, or the end of one link. Nothing is looked at time and again.
 * D5 `notRequired` is final for this intent: roles never change in a lifecycle (MESH-003).
 */
import { assertNever, type ErrorKindName } from '../../errors/index.ts';
import { Backoff, type RandomSource, settleWithin } from '../time/index.ts';
import type { Pipe, PipeEngine, PipeSink } from '../transport/engine.ts';
import type { DialOptions, Intent, IntentState, Link } from '../transport/transport.ts';
import { type DecodedHello, RejectReason, type Rejection } from '../wire/hello.ts';
import { peerDigest } from '../wire/peer-digest.ts';
import { Handshake } from './handshake.ts';
import type { EndpointFacts, LinkFactory } from './link-factory.ts';
import { type LinkListener, largestPartBytes } from './link-listener.ts';
import type { PhysicalLink } from './physical-link.ts';
import { refusalKind } from './refusal-kind.ts';
import type { WindowShare } from './window-budget.ts';

type DialerState =
  | { readonly kind: 'dialing'; readonly attempt: Attempt }
  | { readonly kind: 'linked'; readonly link: PhysicalLink }
  /** `forget` calls off what would bring the next attempt. */
  | { readonly kind: 'resting'; readonly forget: () => void }
  | { readonly kind: 'backoff'; readonly forget: () => void; readonly refusal: ErrorKindName | undefined }
  | { readonly kind: 'notRequired' }
  | { readonly kind: 'closed' };

interface Attempt {
  readonly handshake: Handshake;
  /** The peer has answered: the handshake ends by itself, as a link or with a rejection. */
  answered: boolean;
  window: WindowShare | undefined;
  announcedBytes: number;
}

export class Dialer implements Intent {
  readonly address: string;
  readonly #options: DialOptions;
  readonly #facts: EndpointFacts;
  readonly #factory: LinkFactory;
  readonly #connect: (sink: PipeSink) => Pipe;
  readonly #through: LinkListener | undefined;
  readonly #onEnded: (dialer: Dialer) => void;
  readonly #backoff: Backoff;
  #state: DialerState = { kind: 'closed' };
  #everLinked = false;
  #reason: string | undefined;
  #rid: string | undefined;
  #onLinkClosed: ((ended: PhysicalLink) => void) | undefined;

  constructor(
    options: DialOptions,
    engine: PipeEngine,
    factory: LinkFactory,
    through: LinkListener | undefined,
    random: RandomSource,
    onEnded: (dialer: Dialer) => void,
  ) {
    this.address = options.address;
    this.#options = options;
    this.#facts = dialFacts(options, through);
    this.#factory = factory;
    this.#through = through;
    const connection = { address: options.address, maxPartBytes: largestPartBytes(this.#facts.maxMessageBytes) };
    this.#connect = (sink) => engine.connect(connection, sink);
    this.#onEnded = onEnded;
    this.#backoff = new Backoff(random);
    this.#dial();
  }

  get state(): IntentState {
    switch (this.#state.kind) {
      case 'dialing':
        return this.#everLinked ? 'reconnecting' : 'connecting';
      case 'linked':
        return 'admitted';
      case 'backoff':
        return this.refusal !== undefined ? 'rejected' : this.#everLinked ? 'reconnecting' : 'connecting';
      case 'resting':
      case 'notRequired':
      case 'closed':
        return this.#state.kind;
      default:
        return assertNever(this.#state);
    }
  }

  get reason(): string | undefined {
    return this.#reason;
  }

  get refusal(): ErrorKindName | undefined {
    return this.#state.kind === 'backoff' ? this.#state.refusal : undefined;
  }

  get rid(): string | undefined {
    return this.#rid;
  }

  get link(): Link | undefined {
    return this.#state.kind === 'linked' ? this.#state.link : undefined;
  }

  async close(lingerMs: number): Promise<void> {
    const state = this.#state;
    if (state.kind === 'closed') return;
    const { clock } = this.#factory.settings;
    if (state.kind === 'linked') {
      const { link } = state;
      const closed = new Promise<void>((resolve) => {
        this.#onLinkClosed = (ended) => {
          if (ended === link) resolve(); // and not one that this intent had before
        };
      });
      this.#become({ kind: 'closed' });
      link.finish('ShuttingDown');
      if (link.phase !== 'closed') await settleWithin(closed, lingerMs, clock);
      link.giveUp();
    } else {
      this.#become({ kind: 'closed' });
    }
    this.#onEnded(this);
  }

  #dial(): void {
    const { wheel, clock } = this.#factory.settings;
    const asked = peerDigest(this.#options.expectedRid, this.#options.expectedGeneration);
    const attempt: Attempt = {
      handshake: new Handshake(
        {
          onGreeting: (decoded, pipe, { correlation }) => this.#admit(attempt, decoded, pipe, correlation),
          onFailed: (rejection, byPeer) => this.#onFailed(rejection, byPeer),
        },
        () => this.#hello(attempt),
        wheel,
        clock,
        { correlation: asked.rid, aux: asked.generation },
      ),
      answered: false,
      window: undefined,
      announcedBytes: 0,
    };
    this.#become({ kind: 'dialing', attempt });
    if (this.#state.kind !== 'dialing') return; // told so, the owner has withdrawn the intent
    attempt.handshake.attach(this.#connect(attempt.handshake));
  }

  #hello(attempt: Attempt): Uint8Array {
    const window = this.#factory.openWindow(() => (this.#state.kind === 'linked' ? this.#state.link : undefined));
    attempt.window = window;
    attempt.announcedBytes = window.grantedBytes;
    if (this.#through !== undefined) this.#facts.descriptor = this.#through.facts.descriptor;
    return this.#factory.greeting(this.#facts, window, this.#factory.settings.security?.serverPublicKey);
  }

  #admit(attempt: Attempt, decoded: DecodedHello, pipe: Pipe, linkNumber: number): PipeSink | Rejection {
    attempt.answered = true;
    if (decoded.kind === 'hello') this.#rid = decoded.hello.rid;
    const window = attempt.window!; // opened with our hello, which the peer has just answered
    const admission = this.#factory.admit({
      decoded,
      pipe,
      dialed: true,
      linkNumber,
      endpoint: this.#facts,
      prepare: () => {
        attempt.window = undefined; // D1: belongs to the link from here on
        return window;
      },
      onClosed: (link, reason) => this.#onClosed(link, reason),
    });
    if (admission.kind === 'refused') return admission.rejection;
    if (admission.kind === 'duplicate') {
      this.#rest(admission.of);
      return admission.rejection;
    }
    const { link } = admission;
    if (window.grantedBytes !== attempt.announcedBytes) link.announceWindow();
    this.#through?.adopt(link, this.#facts.descriptor);
    if (this.#state.kind === 'closed')
      link.finish(); // withdrawn by the topic while it was given the link
    else if (admission.kind === 'brief') this.#rest(admission.of);
    else if (link.phase === 'closed') this.#retry('link was ended at once');
    else this.#linked(link);
    return link;
  }

  #linked(link: PhysicalLink): void {
    this.#reason = undefined;
    this.#everLinked = true;
    this.#backoff.reset();
    this.#become({ kind: 'linked', link });
  }

  #onFailed(rejection: Rejection, byPeer: boolean): void {
    if (this.#state.kind !== 'dialing') return; // D3: resting already; the duplicate's rejection is only its echo
    if (byPeer && rejection.reason === RejectReason.ridConflict) this.#factory.tellConflict(this.#options.group);
    if (rejection.reason === RejectReason.notRequired) {
      this.#reason = rejection.text;
      return this.#become({ kind: 'notRequired' }); // D5
    }
    if (byPeer && rejection.reason === RejectReason.duplicate) return this.#onDuplicate(rejection.rid);
    if (byPeer && this.#isOther(rejection)) return;
    const isConnectionFailure = rejection.reason === RejectReason.malformed && !byPeer;
    const refusal = isConnectionFailure ? undefined : refusalKind(rejection.reason);
    this.#retry(byPeer ? `peer: ${rejection.text}` : rejection.text, refusal);
  }

  /** @returns whether the peer refuses because it is another one than expected, and says who: what it says is completed here */
  #isOther({ reason, text, rid }: Rejection): boolean {
    const { expectedRid, expectedGeneration } = this.#options;
    const isWrongRid = reason === RejectReason.wrongRid && expectedRid !== undefined;
    const isWrongGeneration = reason === RejectReason.wrongGeneration && expectedGeneration !== undefined;
    if (rid === undefined || !(isWrongRid || isWrongGeneration)) return false;
    this.#rid = rid;
    this.#retry(`${text}, expected ${isWrongRid ? `"${expectedRid}"` : expectedGeneration}`, refusalKind(reason));
    return true;
  }

  /**
   * @param claimedRid - who refuses, if it says so: what peers advertise need not be where they were dialled. No more than
   *   the choice of a link follows from it, as it is not proven.
   */
  #onDuplicate(claimedRid: string | undefined): void {
    const { expectedRid } = this.#options;
    if (claimedRid !== undefined && expectedRid !== undefined && claimedRid !== expectedRid) {
      return this.#retry(`endpoint is "${claimedRid}", expected "${expectedRid}"`, 'Rejected');
    }
    this.#rest(this.#keptLink(claimedRid), claimedRid);
  }

  /** The peer has refused us because it has a link to us: its other end is here. */
  #keptLink(claimedRid?: string): PhysicalLink | undefined {
    const rid = claimedRid ?? this.#options.expectedRid ?? this.#rid;
    return this.#factory.findLink(this.#facts, rid, this.address);
  }

  #onClosed(link: PhysicalLink, reason: string): void {
    this.#through?.release(link);
    this.#onLinkClosed?.(link);
    if (this.#state.kind !== 'linked' || this.#state.link !== link) return;
    const other = this.#keptLink();
    if (other?.peer.generation === link.peer.generation)
      this.#rest(other); // both sides had dialled, and the peer's link is the one that stays
    else this.#retry(reason);
  }

  /** D3. `kept`: the link that stays, where it is known here; otherwise the peer knows. */
  #rest(kept: PhysicalLink | undefined, claimedRid?: string): void {
    if (kept === undefined) {
      this.#reason = 'peer: already connected';
      return this.#become({ kind: 'resting', forget: this.#later(() => this.#askAgain(claimedRid)) });
    }
    if (kept.phase !== 'open') return this.#retry('the other link has ended'); // in a callback since
    this.#rid = kept.peer.rid; // it is that peer who has refused this connection
    this.#reason = `"${kept.peer.rid}" is already connected`;
    this.#backoff.reset(); // the peer has answered, and shall be dialled soon when that link has ended
    const forget = this.#factory.onceClosed(kept, (reason) => this.#retry(reason));
    this.#become({ kind: 'resting', forget });
  }

  /** @param refusal - undefined: nobody has refused, the connection failed or ended */
  #retry(reason: string, refusal?: ErrorKindName): void {
    this.#reason = reason;
    this.#become({ kind: 'backoff', forget: this.#later(() => this.#dial()), refusal });
  }

  /** The link that only the peer knew may have reached this side, too. */
  #askAgain(claimedRid: string | undefined): void {
    const kept = this.#keptLink(claimedRid);
    if (kept === undefined) this.#dial();
    else this.#rest(kept);
  }

  /** @returns how to call it off */
  #later(act: () => void): () => void {
    const { clock } = this.#factory.settings;
    const timer = clock.setTimer(act, this.#backoff.next());
    return () => clock.clearTimer(timer);
  }

  #become(next: DialerState): void {
    const previous = this.#state;
    this.#state = next;
    if (previous.kind === 'dialing' && next.kind !== 'linked') {
      if (!previous.attempt.answered) previous.attempt.handshake.cancel();
      previous.attempt.window?.close();
    }
    if (previous.kind === 'resting' || previous.kind === 'backoff') previous.forget();
    this.#tell();
  }

  /** An owner that throws must not break an attempt off in the middle. */
  #tell(): void {
    try {
      this.#options.onState(this);
    } catch (error) {
      this.#factory.settings.onFault(error);
    }
  }
}

function dialFacts(options: DialOptions, through: LinkListener | undefined): EndpointFacts {
  return {
    kind: options.kind,
    scope: options.scope,
    rid: options.identity.rid,
    generation: options.identity.generation,
    endpoint: through?.endpoint ?? '',
    maxMessageBytes: through?.facts.maxMessageBytes ?? 0,
    descriptor: options.descriptor,
    group: options.group,
    expects: { kind: options.expects, rid: options.expectedRid, generation: options.expectedGeneration },
  };
}
