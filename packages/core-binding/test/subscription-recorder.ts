/** Records what the owner of a subscription is told. */
import type { EventPublisher, EventTransport, Subscription, SubscriptionSink } from '@zlink/kernel/internal/transport';
import { until } from '@zlink/testing';

class SubscriptionRecorder implements SubscriptionSink {
  readonly messages: (readonly Uint8Array[])[] = [];
  readonly closed: string[] = [];
  opened = 0;

  onOpen(): void {
    this.opened++;
  }

  onMessage(parts: readonly Uint8Array[]): void {
    this.messages.push(parts);
  }

  onClosed(reason: string): void {
    this.closed.push(reason);
  }

  get texts(): string[] {
    return this.messages.map((parts) => parts.map((part) => Buffer.from(part).toString()).join('|'));
  }

  async received(count: number): Promise<void> {
    await until(() => this.messages.length >= count, `${count} messages, got ${this.messages.length}`);
  }

  /** Why the subscription has ended. */
  async end(giveUpMs?: number): Promise<string> {
    await until(() => this.closed.length > 0, 'end of the subscription', giveUpMs);
    return this.closed[0]!; // has one by now
  }
}

export interface RecordedSubscription {
  readonly subscription: Subscription;
  readonly recorder: SubscriptionRecorder;
}

export function subscribe(transport: EventTransport, address: string): RecordedSubscription {
  const recorder = new SubscriptionRecorder();
  return { subscription: transport.subscribe({ address }, recorder), recorder };
}

/** Waits until the publisher has counted it. */
export async function subscribeTo(transport: EventTransport, publisher: EventPublisher): Promise<RecordedSubscription> {
  const before = publisher.subscriptions;
  const subscribed = subscribe(transport, publisher.endpoint);
  await until(() => publisher.subscriptions === before + 1, 'the subscription is counted');
  return subscribed;
}
