/**
 * Records what one subscription is told, and whether it should have been.
 *
 * Owns the contract of `SubscriptionSink`: every breach is a fault, found or not.
 */
import type { Subscription, SubscriptionSink } from '@zlink/kernel/internal/transport';
import { numberOf } from './numbered.ts';

export class EventRecorder implements SubscriptionSink {
  readonly messages: (readonly Uint8Array[])[] = [];
  readonly closed: string[] = [];
  openCount = 0;
  /** What the sink was told against its contract. */
  readonly faults: string[] = [];
  onEach: ((parts: readonly Uint8Array[]) => void) | undefined;
  #subscription: Subscription | undefined;
  #hearing: 'nothing yet' | 'all' | 'nothing any more' = 'nothing yet';
  #isPaused = false;

  /** `subscribe` has returned: from now on it may be told. */
  begin(subscription: Subscription): void {
    this.#subscription = subscription;
    this.#hearing = 'all';
  }

  get subscription(): Subscription {
    if (this.#subscription === undefined) throw new Error('there is no subscription yet');
    return this.#subscription;
  }

  /** Numbers of the messages, each of which is whole. */
  get numbers(): number[] {
    return this.messages.map((parts) => numberOf(parts));
  }

  pause(): void {
    this.#isPaused = true;
    this.subscription.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.subscription.resume();
  }

  async close(): Promise<void> {
    this.#hearing = 'nothing any more';
    await this.subscription.close();
  }

  onOpen(): void {
    this.#note('opened');
    if (++this.openCount > 1) this.faults.push('opened twice');
  }

  onMessage(parts: readonly Uint8Array[]): void {
    this.#note('a message');
    if (this.openCount === 0) this.faults.push('a message before it was opened');
    if (this.#isPaused) this.faults.push('a message while it is paused');
    this.messages.push(parts);
    this.onEach?.(parts);
  }

  onClosed(reason: string): void {
    this.#note('closed');
    this.closed.push(reason);
    this.#hearing = 'nothing any more';
  }

  #note(what: string): void {
    if (this.#hearing !== 'all') this.faults.push(`${what}, while it may hear ${this.#hearing}`);
  }
}
