/**
 * The stage of one case of the event transport suite.
 *
 * Owns transports, subscriptions and the check after each case. Leaves what happens to the case.
 *
 * 1. After every case everything closes, and no subscription was told anything against the contract of its sink. A case that only
 *    passes because nobody looked does not pass.
 */
import assert from 'node:assert/strict';
import type { EventPublisher, EventTransport, PublisherOptions } from '@zlink/kernel/internal/transport';
import { loopTurns, until } from '../../loop-turns.ts';
import { EventRecorder } from './event-recorder.ts';
import type { EventHarness, EventHarnessFactory } from './harness.ts';

/** Tells a hang from a success, also on a machine that has no time for the test. */
const GIVE_UP_MS = 30_000;

export interface EventCase {
  readonly title: string;
  act(rig: EventRig): Promise<void>;
}

export class EventRig {
  readonly harness: EventHarness;
  readonly #transports: EventTransport[] = [];
  readonly #recorders: EventRecorder[] = [];

  private constructor(harness: EventHarness) {
    this.harness = harness;
  }

  /** Runs a case on a fresh rig and judges what is left. */
  static async run(factory: EventHarnessFactory, act: (rig: EventRig) => Promise<void>): Promise<void> {
    const rig = new EventRig(await factory());
    try {
      await act(rig);
      await rig.#finish();
    } finally {
      await Promise.all(rig.#transports.map((transport) => transport.close()));
      await rig.harness.close();
    }
  }

  transport(): EventTransport {
    const transport = this.harness.makeTransport();
    this.#transports.push(transport);
    return transport;
  }

  /** On a transport of its own. */
  publisher(options: Partial<PublisherOptions> = {}): Promise<EventPublisher> {
    return this.transport().bind({ bindAddress: this.harness.address(), ...options });
  }

  /** For publishers that start anew at their address. */
  async addressToKeep(): Promise<string> {
    return (await this.harness.addressToKeep?.()) ?? this.harness.address();
  }

  /** On a transport of its own unless one is given, to whichever run it is unless one is named. */
  subscriber(address: string, transport = this.transport(), generation?: bigint): EventRecorder {
    const recorder = new EventRecorder();
    this.#recorders.push(recorder);
    recorder.begin(transport.subscribe({ address, generation }, recorder));
    return recorder;
  }

  /** So many subscribers whose subscriptions the publisher has counted. */
  async subscribers(publisher: EventPublisher, count: number): Promise<EventRecorder[]> {
    const before = publisher.subscriptions;
    const recorders = Array.from({ length: count }, () => this.subscriber(publisher.endpoint));
    await this.counts(publisher, before + count);
    return recorders;
  }

  async counts(publisher: EventPublisher, count: number): Promise<void> {
    await this.until(() => publisher.subscriptions === count, `${count} subscriptions are counted`);
  }

  async receive(recorder: EventRecorder, count: number): Promise<void> {
    await this.until(() => recorder.messages.length >= count, `${count} messages arrive`);
  }

  /** Why the subscription has ended. */
  async end(recorder: EventRecorder): Promise<string> {
    await this.until(() => recorder.closed.length > 0, 'the subscription ends');
    return recorder.closed[0] ?? '';
  }

  until(condition: () => boolean, what: string): Promise<void> {
    return until(condition, what, this.harness.giveUpMs ?? GIVE_UP_MS);
  }

  /** Lets what was sent arrive. */
  async settle(): Promise<void> {
    await loopTurns(this.harness.quietTurns);
  }

  async #finish(): Promise<void> {
    await Promise.all(this.#transports.map((transport) => transport.close()));
    await this.settle();
    for (const { faults, closed } of this.#recorders) {
      assert.deepEqual(faults, [], 'what subscriptions were told against their contract');
      assert.ok(closed.length <= 1, `a subscription has ended ${closed.length} times`);
    }
  }
}
