/**
 * The bare link: the kernel's transport port over ZeroMQ, without host, dispatcher or calls.
 *
 * Owns one endpoint per process, set up as a host with default options sets up its own: same windows, same permits.
 *
 * 1. A record's permit goes back as soon as the record was looked at: there is no handler that could take longer.
 */
import { createZmqTransport, readMemoryFacts, resolveMessagingMemory } from '@zlink/core-binding';
import { Problems } from '@zlink/kernel/errors';
import { newGeneration, newRid } from '@zlink/kernel/identity';
import { JobPermits } from '@zlink/kernel/internal/execution';
import type { InboundRecord, Intent, Link, LinkSink, Listener, Transport } from '@zlink/kernel/internal/transport';
import {
  type Descriptor,
  DescriptorState,
  EndpointKind,
  NameIndex,
  ObjectRole,
  type OutboundName,
  RecordKind,
} from '@zlink/kernel/internal/wire';
import { stderrLogger } from '@zlink/kernel/observe';
import type { Message } from '../cargo.ts';
import { LinkRecord } from './link-record.ts';
import type { ClientEnd, ServerEnd, Side, Work } from './side.ts';

export const link: Side = {
  async openServer(work, onMessage) {
    const endpoint = createEndpoint();
    const listener = await endpoint.transport.listen({
      kind: EndpointKind.channelServer,
      accepts: EndpointKind.channelClient,
      scope,
      identity: { rid: newRid('bench'), generation: newGeneration() },
      bindAddress: 'tcp://127.0.0.1:0',
      maxMessageBytes: 0,
      descriptor: { ...descriptor, channels: [{ name: scope, weight: 100 }] },
      group: {
        policy: 'every',
        open: () => new ServerSink(work, endpoint, onMessage),
      },
    });
    return new LinkServer(endpoint.transport, listener);
  },

  async openClient(work, address) {
    const endpoint = createEndpoint();
    const intent = await dial(endpoint, address);
    return new LinkClient(endpoint, intent, work);
  },
};

const scope = 'bench';
const lingerMs = 1_000;
const descriptor: Descriptor = {
  revision: 1n,
  state: DescriptorState.serving,
  objectRole: ObjectRole.none,
  channels: [],
};

interface Endpoint {
  readonly transport: Transport;
  readonly permits: JobPermits;
  readonly name: OutboundName;
}

function createEndpoint(): Endpoint {
  const problems = new Problems();
  const memory = resolveMessagingMemory({}, readMemoryFacts(), problems);
  problems.throwIfAny();
  const permits = new JobPermits({ max: 256, pauseThresholdPercent: 80, resumeThresholdPercent: 60 });
  const transport = createZmqTransport({ permits, memory, logger: stderrLogger });
  return { transport, permits, name: new NameIndex().get('', 'application/octet-stream', 'message') };
}

function dial({ transport }: Endpoint, address: string): Promise<Intent> {
  return new Promise((resolve, reject) => {
    transport.dial({
      kind: EndpointKind.channelClient,
      expects: EndpointKind.channelServer,
      scope,
      identity: { rid: newRid('bench'), generation: newGeneration() },
      descriptor,
      address,
      group: { policy: 'firstAdmitted', open: () => new ClientSink() },
      onState: (intent) => {
        if (intent.state === 'admitted') resolve(intent);
        else if (intent.state === 'rejected') reject(new Error(`link was rejected: ${intent.reason}`));
      },
    });
  });
}

class LinkServer implements ServerEnd {
  readonly address: string;
  readonly #transport: Transport;
  readonly #listener: Listener;

  constructor(transport: Transport, listener: Listener) {
    this.#transport = transport;
    this.#listener = listener;
    this.address = listener.endpoint;
  }

  get windowBytes(): number {
    return this.#transport.status.grantedBytes;
  }

  async close(): Promise<void> {
    await this.#listener.close(lingerMs);
    await this.#transport.close();
  }
}

class ServerSink implements LinkSink {
  readonly #work: Work;
  readonly #endpoint: Endpoint;
  readonly #onMessage: () => void;
  #spare: LinkRecord | undefined;

  constructor(work: Work, endpoint: Endpoint, onMessage: () => void) {
    this.#work = work;
    this.#endpoint = endpoint;
    this.#onMessage = onMessage;
  }

  onRecord(record: InboundRecord, on: Link): void {
    if (record.kind === RecordKind.request) this.#answer(record, on);
    else this.#work.cargo.inspect(record.payload, record.payloadStart, record.payloadEnd);
    this.#onMessage();
    this.#endpoint.permits.release(); // 1
  }

  onUnmatched(): void {
    throw new Error('client sent a reply');
  }

  onCancel(): void {
    // Clients of the bench wait for every answer.
  }

  onUpdate(): void {
    // Descriptors do not change here.
  }

  onFinishing(): void {
    // The other end closes first.
  }

  onClosed(): void {
    // The client's end tells what happened.
  }

  #answer(record: InboundRecord, on: Link): void {
    const { cargo } = this.#work;
    const message = cargo.decode(record.payload, record.payloadStart, record.payloadEnd);
    cargo.check(message);
    const reply = this.#spare ?? new LinkRecord(RecordKind.reply, this.#endpoint.name, cargo);
    reply.correlation = record.correlation;
    reply.payload = cargo.encode(message);
    this.#spare = on.submit(reply) ? reply : undefined; // one that waits for credit is the link's until it has left
  }
}

class ClientSink implements LinkSink {
  onRecord(): void {
    throw new Error('server sent a message of its own');
  }

  onUnmatched(): void {
    throw new Error('answer to a request that nobody waits for');
  }

  onCancel(): void {
    // Servers wait for nothing.
  }

  onUpdate(): void {
    // Descriptors do not change here.
  }

  onFinishing(): void {
    // Calls fail by themselves.
  }

  onClosed(): void {
    // Calls fail by themselves.
  }
}

class LinkClient implements ClientEnd {
  readonly #endpoint: Endpoint;
  readonly #intent: Intent;
  readonly #link: Link;
  readonly #work: Work;
  #spare: LinkRecord | undefined;

  constructor(endpoint: Endpoint, intent: Intent, work: Work) {
    this.#endpoint = endpoint;
    this.#intent = intent;
    this.#link = intent.link!; // an admitted intent has one
    this.#work = work;
  }

  send(message: Message): Promise<void> | undefined {
    const { cargo } = this.#work;
    const record = this.#spare ?? new LinkRecord(RecordKind.send, this.#endpoint.name, cargo);
    record.payload = cargo.encode(message);
    if (this.#link.submit(record)) {
      this.#spare = record;
      return undefined;
    }
    this.#spare = undefined; // the link's until it was admitted
    return record.outcome() as Promise<unknown> as Promise<void>; // a send has no reply
  }

  /** One record per request, as a call of the framework is. */
  request(message: Message): Promise<Message> {
    const { cargo } = this.#work;
    const record = new LinkRecord(RecordKind.request, this.#endpoint.name, cargo);
    record.payload = cargo.encode(message);
    const answered = record.outcome() as Promise<Message>; // a request has a reply
    this.#link.submit(record);
    return answered;
  }

  async close(): Promise<void> {
    await this.#intent.close(lingerMs);
    await this.#endpoint.transport.close();
  }
}
