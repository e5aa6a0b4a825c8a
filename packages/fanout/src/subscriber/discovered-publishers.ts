/**
 * The publishers that a subscriber has found through a Location Store.
 *
 * Owns the watch. Leaves which of them are subscribed to and kept to the kernel: those whose owner is present and that do not
 * drain, and any other as long as it is heard (FAN-005).
 *
 * 1. Nothing is subscribed to before the host serves: what came earlier would find no handler.
 */
import {
  type DiscoveredEndpoint,
  DiscoveredEndpoints,
  type Discovery,
  type NotUsed,
  type View,
} from '@zlink/kernel/internal/discovery';
import type { PublisherStatus } from '../publisher-status.ts';
import type { PublisherIntent } from './publisher-intent.ts';
import { type PublisherSource, publisherStatus, type Subscribe } from './publisher-source.ts';

export class DiscoveredPublishers implements PublisherSource {
  readonly #endpoints: DiscoveredEndpoints<'fanout', PublisherIntent>;
  readonly #unwatch: () => void;
  #view: View<'fanout'> | undefined;
  #isServing = false;

  /** @param onView - what is known of them may have changed */
  constructor(discovery: Discovery, channelName: string, subscribe: Subscribe, onView: () => void) {
    this.#endpoints = new DiscoveredEndpoints<'fanout', PublisherIntent>({
      dials: () => true,
      dial: subscribe,
      hasLink: () => false, // nobody else subscribes for this one
      onChanged: () => undefined,
    });
    this.#unwatch = discovery.watch({ kind: 'fanout', name: channelName }, (view) => {
      this.#view = view;
      this.#apply();
      onView();
    });
  }

  serve(): void {
    this.#isServing = true;
    this.#apply();
  }

  rows(): readonly PublisherStatus[] {
    return this.#endpoints.all().map((found) => {
      const { endpoint, rid, intent } = found;
      return publisherStatus(endpoint, rid, intent, this.#whyNotUsed(found) ?? intent?.reason);
    });
  }

  close(): Promise<void> {
    this.#unwatch();
    return this.#endpoints.close(0); // nothing is sent to a publisher that could linger
  }

  #apply(): void {
    if (this.#isServing && this.#view !== undefined) this.#endpoints.apply(this.#view); // 1
  }

  /** As far as the store says so. */
  #whyNotUsed(found: DiscoveredEndpoint<PublisherIntent>): string | undefined {
    const reason = this.#endpoints.whyNotUsed(found);
    return reason === undefined ? undefined : TEXTS[reason];
  }
}

const TEXTS: Readonly<Record<NotUsed, string>> = {
  ownerAbsent: 'owner lease absent',
  superseded: 'another run follows',
  gone: 'descriptor gone',
  draining: 'draining',
  undialled: 'not subscribed to while the location store is away', // publishers dial nobody
};
