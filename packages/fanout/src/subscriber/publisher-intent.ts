/**
 * The wish to be subscribed to the publisher at one address, until withdrawn.
 *
 * Owns attempts, backoff, whether the publisher lives, and when its messages are read. Leaves sockets to the engine, events
 * to the inbox, and numbers to the sequence.
 *
 * I1 One subscription at a time. It ends with its connection, with a fault, or with silence, and is then dialled anew with
 *    backoff; what happens to one publisher touches no other (FAN-005).
 * I2 Messages are read only while nothing waits for a permit and the flow is RUNNING; otherwise they stay where they are, up
 *    to the publisher's mark (CORE-016).
 * I3 A beacon proves that somebody publishes there, the first batch who it is: messages of another channel end the
 *    subscription. Of a discovered publisher only that run is subscribed to; another one at its address refuses, which ends it,
 *    too, and counts nobody who would hear nothing ([C08]).
 * I4 The backoff starts small again once a message was taken, or a second sign of life: who beacons as a stranger is not
 *    dialled faster and faster.
 */
import type { JobPermits } from '@zlink/kernel/internal/execution';
import {
  Backoff,
  type Clock,
  type DeadlineWheel,
  type RandomSource,
  type TimerHandle,
} from '@zlink/kernel/internal/time';
import type {
  EventTransport,
  Intent,
  IntentState,
  Subscription,
  SubscriptionSink,
} from '@zlink/kernel/internal/transport';
import { checkBeacon, type EventReader, refusedRun } from '@zlink/kernel/internal/wire';
import type { LinkState, RateLimitedLog } from '@zlink/kernel/observe';
import type { EventDispatch } from './event-dispatch.ts';
import { EventInbox, type InboxOwner } from './event-inbox.ts';
import { EventSequence } from './event-sequence.ts';
import { PublisherLife, SILENCE_LIMIT_MS } from './publisher-life.ts';

export interface IntentParts {
  readonly events: EventTransport;
  readonly clock: Clock;
  readonly wheel: DeadlineWheel;
  readonly permits: JobPermits;
  readonly random: RandomSource;
  readonly log: RateLimitedLog;
}

/** Where a publisher is, and as far as discovery knows it, who. */
export interface PublisherTarget {
  readonly endpoint: string;
  readonly rid?: string;
  readonly generation?: bigint;
}

export interface IntentOptions {
  readonly channelName: string;
  readonly target: PublisherTarget;
  readonly dispatch: EventDispatch;
  readonly onState: (intent: PublisherIntent) => void;
}

type IntentPhase =
  | { readonly kind: 'dialing' | 'open' | 'ready'; readonly subscription: Subscription }
  | { readonly kind: 'backoff'; readonly timer: TimerHandle; readonly isRefusal: boolean }
  | { readonly kind: 'closed' };

const CLOSED: IntentPhase = { kind: 'closed' };

export class PublisherIntent implements Intent, SubscriptionSink, InboxOwner {
  readonly address: string;
  readonly rid: string | undefined;
  /** There is none to a publisher. */
  readonly link = undefined;
  readonly #parts: IntentParts;
  readonly #options: IntentOptions;
  readonly #backoff: Backoff;
  readonly #inbox: EventInbox;
  readonly #sequence = new EventSequence();
  readonly #life: PublisherLife;
  #phase: IntentPhase = CLOSED;
  #wasReady = false;
  #reason: string | undefined;
  /** I2 */
  #isReading = true;
  /** Ends of subscriptions that are closing. */
  #closing: Promise<unknown> = Promise.resolve();

  constructor(options: IntentOptions, parts: IntentParts) {
    this.address = options.target.endpoint;
    this.rid = options.target.rid;
    this.#options = options;
    this.#parts = parts;
    this.#backoff = new Backoff(parts.random);
    this.#inbox = new EventInbox(parts.permits, options.dispatch, this);
    this.#life = new PublisherLife(parts.clock, parts.wheel, () => this.#onSilence());
    this.#dial();
  }

  /** `admitted` as long as there is a connection: what was published for it may still be under way. */
  get state(): IntentState {
    const shown = this.linkState;
    return shown === 'ready' ? 'admitted' : shown;
  }

  get linkState(): LinkState {
    const phase = this.#phase;
    if (phase.kind === 'ready' || phase.kind === 'closed') return phase.kind;
    if (phase.kind === 'open') return 'admitted';
    if (phase.kind === 'backoff' && phase.isRefusal) return 'rejected';
    return this.#wasReady ? 'reconnecting' : 'connecting';
  }

  get reason(): string | undefined {
    return this.#reason;
  }

  get missedEvents(): number {
    return this.#sequence.missedEvents;
  }

  get firstEvent(): number | undefined {
    return this.#sequence.firstEvent;
  }

  /** The flow of the host, or what waits here, has changed. */
  settleReading(): void {
    const phase = this.#phase;
    if (!('subscription' in phase)) return;
    const mayRead = this.#mayRead();
    if (mayRead === this.#isReading) return;
    this.#isReading = mayRead;
    if (mayRead) {
      this.#life.resume();
      phase.subscription.resume();
    } else {
      this.#life.pause();
      phase.subscription.pause();
    }
  }

  async close(): Promise<void> {
    if (this.#phase.kind !== 'closed') {
      this.#inbox.drop();
      this.#become(CLOSED);
    }
    await this.#closing;
  }

  onOpen(): void {
    const phase = this.#phase;
    if (phase.kind === 'dialing') this.#become({ kind: 'open', subscription: phase.subscription });
  }

  onMessage(parts: readonly Uint8Array[]): void {
    switch (checkBeacon(parts)) {
      case 'beacon':
        return this.#heard();
      case 'malformed':
        return this.onFault('malformed beacon');
      case 'none':
        return this.#onFrame(parts);
    }
  }

  onClosed(reason: string): void {
    this.#dialLater(reason, false);
  }

  objection({ channelName }: EventReader): string | undefined {
    if (channelName !== this.#options.channelName) return 'publisher of another fanout channel'; // I3
    this.#backoff.reset(); // I4
    this.#heard();
    return undefined;
  }

  count({ generation, sequence }: EventReader): string | undefined {
    return this.#sequence.take(generation, sequence) ? undefined : 'numbers of events do not rise';
  }

  onFault(fault: string): void {
    const { channelName } = this.#options;
    this.#parts.log.warn(`fanout ${channelName} ${this.address}`, {
      eventId: 'zlink.fanout.publisher_refused',
      kind: 'ProtocolError',
      channel: channelName,
      address: this.address,
      reason: fault,
    });
    this.#dialLater(fault, true);
  }

  onIdle(): void {
    this.settleReading();
  }

  #onFrame(parts: readonly Uint8Array[]): void {
    const refused = refusedRun(parts);
    if (refused === undefined) {
      this.#inbox.read(parts);
      this.settleReading();
    } else if (refused === this.#options.target.generation) {
      this.onFault('another run of the publisher'); // I3
    } // else others were refused, who ask for less than everything
  }

  #heard(): void {
    const phase = this.#phase;
    this.#life.heard();
    if (phase.kind === 'ready') return this.#backoff.reset(); // I4
    if (!('subscription' in phase)) return;
    this.#wasReady = true;
    this.#reason = undefined;
    this.#become({ kind: 'ready', subscription: phase.subscription });
  }

  #onSilence(): void {
    this.#dialLater(`nothing was heard for ${SILENCE_LIMIT_MS} ms`, false);
  }

  #mayRead(): boolean {
    return this.#inbox.isIdle && this.#parts.permits.flow === 'RUNNING';
  }

  #dial(): void {
    const { generation } = this.#options.target;
    const subscription = this.#parts.events.subscribe({ address: this.address, generation }, this);
    this.#isReading = true;
    this.#life.start();
    this.#become({ kind: 'dialing', subscription });
    this.settleReading();
  }

  #dialLater(reason: string, isRefusal: boolean): void {
    if (!('subscription' in this.#phase)) return;
    this.#reason = reason;
    const timer = this.#parts.clock.setTimer(() => this.#dial(), this.#backoff.next());
    this.#become({ kind: 'backoff', timer, isRefusal });
  }

  /** Whoever hears of it may close the intent. */
  #become(next: IntentPhase): void {
    this.#leave(this.#phase, next);
    this.#phase = next;
    this.#options.onState(this);
  }

  #leave(phase: IntentPhase, next: IntentPhase): void {
    if (phase.kind === 'backoff') return this.#parts.clock.clearTimer(phase.timer);
    if (!('subscription' in phase) || 'subscription' in next) return;
    this.#life.stop();
    this.#closing = Promise.all([this.#closing, phase.subscription.close()]); // I1
  }
}
