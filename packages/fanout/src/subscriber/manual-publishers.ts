/**
 * The publishers that a subscriber was told of: endpoints from the configuration, and from the run-time handle.
 *
 * Owns which endpoints there are, in the order of `connect`. Leaves subscribing to the intents.
 */
import type { PublisherStatus } from '../publisher-status.ts';
import type { PublisherIntent } from './publisher-intent.ts';
import { type PublisherSource, publisherStatus, type Subscribe } from './publisher-source.ts';

export class ManualPublishers implements PublisherSource {
  readonly #subscribe: Subscribe;
  /** Undefined until the host serves. */
  readonly #intents = new Map<string, PublisherIntent | undefined>();
  /** Of endpoints that were disconnected. */
  readonly #closing = new Set<Promise<void>>();
  #isServing = false;

  constructor(endpoints: readonly string[], subscribe: Subscribe) {
    this.#subscribe = subscribe;
    for (const endpoint of endpoints) this.#intents.set(endpoint, undefined);
  }

  get endpoints(): readonly string[] {
    return [...this.#intents.keys()];
  }

  serve(): void {
    this.#isServing = true;
    for (const endpoint of this.#intents.keys()) this.#dial(endpoint);
  }

  connect(endpoint: string): void {
    if (this.#intents.has(endpoint)) return;
    this.#intents.set(endpoint, undefined);
    if (this.#isServing) this.#dial(endpoint);
  }

  disconnect(endpoint: string): void {
    const intent = this.#intents.get(endpoint);
    this.#intents.delete(endpoint);
    if (intent === undefined) return;
    const closing = intent.close().finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }

  rows(): readonly PublisherStatus[] {
    return [...this.#intents].map(([endpoint, intent]) => publisherStatus(endpoint, undefined, intent));
  }

  async close(): Promise<void> {
    const intents = [...this.#intents.values()];
    await Promise.all([...intents.map((intent) => intent?.close()), ...this.#closing]);
  }

  #dial(endpoint: string): void {
    this.#intents.set(
      endpoint,
      this.#subscribe({ endpoint }, () => undefined),
    );
  }
}
