/**
 * The publisher of one channel: one socket, one run, one numbering of events.
 *
 * Owns when what was published leaves, the beacon, and who may still publish. Leaves bytes and numbers to the batch, how
 * often messages may leave to the pace, and subscribers, with their marks, to the engine. It is itself
 * the path of its events and the wheel's entry of its next beacon: hence the many fields.
 *
 * P1 An event is encoded once, whoever subscribes; events of one turn of the event loop leave together (FAN-006), and those of
 *    several turns while the pace of messages says so.
 * P2 It is accepted or refused at once: no subscriber is waited for, and none counts (FAN-002, FAN-004).
 * P3 A beacon leaves every 5 s, events or not, and soon after somebody has subscribed (LIVE-003).
 * P4 How many subscribe is told to nobody but who waits for a number of them (MON-007).
 */
import { encodePacket, OutboundPhase, validatePacket } from '@zlink/kernel/call';
import { ZLinkError } from '@zlink/kernel/errors';
import { formatEndpoint, newGeneration, newRid } from '@zlink/kernel/identity';
import { ReadinessWaiters } from '@zlink/kernel/internal/completion';
import { boundFor, type HostParts, type ListenerStatus, OwnEndpoint } from '@zlink/kernel/internal/host';
import type { DeadlineEntry, TimerHandle } from '@zlink/kernel/internal/time';
import type { EventPublisher } from '@zlink/kernel/internal/transport';
import { beaconParts, DescriptorState, EventBatch } from '@zlink/kernel/internal/wire';
import { fanoutPlace, type FlowPlace } from '@zlink/kernel/observe';
import type { EventPath, OutgoingEvent } from '../event-path.ts';
import { MessagePace } from './message-pace.ts';
import type { CheckedPublisher } from './publisher-options.ts';

const BEACON_INTERVAL_MS = 5_000;

/** From a new subscription to its beacon: many that come at once share one. */
const GREETING_MS = 50;

export class ChannelPublisher implements EventPath, DeadlineEntry {
  // Of the next beacon.
  deadlineAtMs = 0;
  wheelSlot = -1;
  wheelNext: DeadlineEntry | undefined = undefined;
  wheelPrevious: DeadlineEntry | undefined = undefined;

  readonly label: string;
  readonly place: FlowPlace;
  readonly terms: EventPath['terms'];
  readonly #channelName: string;
  readonly #where: string;
  readonly #parts: HostParts;
  readonly #since: Date;
  readonly #phase: OutboundPhase;
  readonly #readiness = new ReadinessWaiters();
  readonly #batch: EventBatch;
  readonly #pace: MessagePace;
  readonly #own: OwnEndpoint<'fanout'>;
  readonly #generation = newGeneration();
  /** Set by `open`, the only way to get a publisher. */
  #socket!: EventPublisher;
  #subscriptions = 0;
  #isFlushDue = false;
  #paceTimer: TimerHandle | undefined;
  #isEncoding = false;

  private constructor(channelName: string, options: CheckedPublisher, parts: HostParts) {
    this.#channelName = channelName;
    this.#where = this.label = `fanout channel "${channelName}"`;
    this.place = fanoutPlace(channelName);
    this.terms = { flow: parts.flow };
    this.#parts = parts;
    this.#since = new Date();
    this.#phase = new OutboundPhase(this.#where);
    const identity = { rid: options.routingId ?? newRid(options.ridPrefix), generation: this.#generation };
    this.#batch = new EventBatch(channelName, this.#generation);
    this.#pace = new MessagePace(parts.clock);
    this.#own = new OwnEndpoint({
      kind: 'fanout',
      name: channelName,
      identity,
      weights: new Map(),
      listener: () => ({ endpoint: this.endpoint, update: () => undefined }), // subscribers hear of no descriptor
      describe: () => ({}),
    });
  }

  static async open(channelName: string, options: CheckedPublisher, parts: HostParts): Promise<ChannelPublisher> {
    const publisher = new ChannelPublisher(channelName, options, parts);
    const { bind, advertiseHost = parts.advertiseHost } = options;
    publisher.#socket = await boundFor(
      `${publisher.#where} publisher`,
      parts.events.bind({
        bindAddress: formatEndpoint(bind.host ?? parts.bindHost, bind.port),
        advertiseHost,
        generation: publisher.#generation,
        onRefused: (reason) => publisher.#logRefused(reason),
      }),
    );
    publisher.#socket.onSubscriptions(() => publisher.#onSubscriptions());
    publisher.#beaconIn(BEACON_INTERVAL_MS);
    return publisher;
  }

  get endpoint(): string {
    return this.#socket.endpoint;
  }

  publish(event: OutgoingEvent): void {
    this.#phase.requireTaken(event);
    const { packet } = event;
    validatePacket(packet);
    const codec = this.#parts.codecs.select(packet.declaredType);
    if (this.#isEncoding) throw this.#nested(packet.packetName);
    const batch = this.#batch;
    batch.begin(event.topic, codec.contentType, packet.packetName, event.trace);
    this.#isEncoding = true;
    try {
      encodePacket(codec, packet, batch); // P1
    } catch (error) {
      batch.rewind();
      throw error;
    } finally {
      this.#isEncoding = false;
    }
    batch.commit();
    if (batch.hasFull) this.#send(batch.takeFull()); // a full frame waits for nothing
    this.#flushAfterTurn();
  }

  whenSubscribed(count: number, signal: AbortSignal | undefined): Promise<void> {
    if (!this.#phase.isOpen) return Promise.reject(this.#phase.shuttingDown());
    return this.#readiness.wait(count, this.#socket.subscriptions, signal);
  }

  /** Publishes where it is, in whatever state it is; without a Location Store subscribers are told by hand. */
  async announce(signal: AbortSignal): Promise<void> {
    const { discovery } = this.#parts;
    if (discovery !== undefined) await this.#own.publish(discovery, signal);
  }

  serve(): void {
    this.#own.become(DescriptorState.serving);
  }

  /** Nobody finds it any more; who has subscribed still gets what running handlers publish. */
  drain(): void {
    this.#phase.drain();
    this.#readiness.fail(this.#phase.shuttingDown());
    this.#own.become(DescriptorState.draining);
  }

  async close(lingerMs: number): Promise<void> {
    this.#phase.close();
    this.#readiness.fail(this.#phase.shuttingDown());
    this.#socket.onSubscriptions(() => undefined); // who comes now is greeted no more
    this.#parts.wheel.remove(this);
    if (this.#paceTimer !== undefined) this.#parts.clock.clearTimer(this.#paceTimer);
    this.#flush();
    await this.#socket.close(lingerMs);
  }

  listenerStatus(): ListenerStatus {
    return { kind: 'FANOUT', name: this.#channelName, endpoint: this.endpoint, since: this.#since };
  }

  onDeadline(): void {
    this.#socket.send(beaconParts());
    this.#beaconIn(BEACON_INTERVAL_MS); // P3
  }

  #onSubscriptions(): void {
    const before = this.#subscriptions;
    this.#subscriptions = this.#socket.subscriptions;
    this.#readiness.settle(this.#subscriptions); // P4
    if (this.#subscriptions <= before) return;
    if (this.deadlineAtMs - this.#parts.clock.nowMs() > GREETING_MS) this.#beaconIn(GREETING_MS);
  }

  #beaconIn(delayMs: number): void {
    this.deadlineAtMs = this.#parts.clock.nowMs() + delayMs;
    this.#parts.wheel.add(this);
  }

  #flushAfterTurn(): void {
    if (this.#isFlushDue) return;
    this.#isFlushDue = true;
    const flush = (): void => {
      this.#isFlushDue = false;
      this.#flush();
    };
    setImmediate(() => {
      const waitMs = this.#batch.pendingBytes === 0 ? 0 : this.#pace.waitMs;
      if (waitMs === 0) flush();
      else this.#paceTimer = this.#parts.clock.setTimer(flush, waitMs);
    });
  }

  #flush(): void {
    if (this.#isEncoding || this.#batch.pendingBytes === 0) return; // while encoding: a codec has closed us
    this.#send(this.#batch.take());
    this.#pace.spend();
  }

  #send(frames: readonly Uint8Array[]): void {
    for (const frame of frames) this.#socket.send([frame]);
  }

  #nested(packetName: string): ZLinkError {
    const text = `"${packetName}" was published to ${this.#where} while another event was being encoded`;
    return new ZLinkError('InvalidOperation', text);
  }

  #logRefused(reason: string): void {
    this.#parts.log.warn(`fanout refused ${this.#channelName} ${reason}`, {
      eventId: 'zlink.transport.connection_refused',
      reason,
      address: this.endpoint,
    });
  }
}
