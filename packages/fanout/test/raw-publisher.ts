/** A publisher without any rules: it sends whatever a test wants, frame by frame. */
import { EventBatch, beaconParts } from '@zlink/kernel/internal/wire';
import type { EventPublisher, EventTransport } from '@zlink/kernel/internal/transport';
import { createMemoryEventTransport, until } from '@zlink/testing';
import type { Closable } from '@zlink/testing/internal';
import { CHANNEL } from './arrange.ts';
import type { Cluster } from './cluster.ts';

const GENERATION = 7n;

export class RawPublisher implements Closable {
  readonly #transport: EventTransport;
  readonly #publisher: EventPublisher;

  private constructor(transport: EventTransport, publisher: EventPublisher) {
    this.#transport = transport;
    this.#publisher = publisher;
  }

  /** Knows of the run that `frameOf` names by itself. */
  static async bind(cluster: Cluster, port = 0, generation = GENERATION): Promise<RawPublisher> {
    const transport = createMemoryEventTransport(cluster.network, { name: 'raw publisher' });
    const publisher = await transport.bind({ bindAddress: `tcp://127.0.0.1:${port}`, generation });
    return cluster.add(new RawPublisher(transport, publisher));
  }

  get endpoint(): string {
    return this.#publisher.endpoint;
  }

  get subscriptions(): number {
    return this.#publisher.subscriptions;
  }

  async subscribed(count = 1): Promise<void> {
    await until(() => this.subscriptions === count, `${count} subscriptions stand`);
  }

  send(...parts: Uint8Array[]): void {
    this.#publisher.send(parts);
  }

  beacon(): void {
    this.send(...beaconParts());
  }

  async close(): Promise<void> {
    await this.#transport.close();
  }
}

export interface BatchFacts {
  readonly channel?: string;
  readonly generation?: bigint;
  readonly packetName?: string;
  readonly contentType?: string;
}

/** One frame with these payloads; its first event has number `first`. */
export function frameOf(first: number, payloads: readonly string[], facts: BatchFacts = {}): Uint8Array {
  const batch = new EventBatch(facts.channel ?? CHANNEL, facts.generation ?? GENERATION);
  for (const payload of payloads) {
    batch.begin('topic', facts.contentType ?? 'application/json', facts.packetName ?? 'news.item');
    batch.writeText(payload);
    batch.commit();
  }
  const [frame] = batch.take();
  if (frame === undefined) throw new Error('there are no payloads');
  const renumbered = Uint8Array.from(frame);
  new DataView(renumbered.buffer).setBigUint64(16, BigInt(first), true);
  return renumbered;
}
