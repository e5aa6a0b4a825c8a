/**
 * A client that sends to a server whatever state that server says it is in.
 *
 * Real clients wait for a server that serves; messages that cross a change of state reach it all the same, and this client
 * makes such messages. It dials over a ZeroMQ transport of its own.
 */
import { createZmqTransport } from '@zlink/core-binding';
import { type CallPath, RequestBuilder, SendBuilder } from '@zlink/kernel/call';
import { CodecRegistry } from '@zlink/kernel/codec';
import { Problems, ZLinkError } from '@zlink/kernel/errors';
import { newGeneration, newRid } from '@zlink/kernel/identity';
import { JobPermits } from '@zlink/kernel/internal/execution';
import { DeadlineWheel, systemClock } from '@zlink/kernel/internal/time';
import type { Intent, Link, LinkSink, Transport } from '@zlink/kernel/internal/transport';
import { DescriptorState, EndpointKind, NameIndex, ObjectRole } from '@zlink/kernel/internal/wire';
import { resolveOutbound, type Sendable } from '@zlink/kernel/message';
import { clientServerPlace, MessageFlow, RateLimitedLog, stderrLogger } from '@zlink/kernel/observe';
import { until } from '@zlink/testing';
import { patientMs } from './hosts.ts';
import { LogRecorder } from './log-recorder.ts';
import { CHANNEL } from './packets.ts';

const clients: UnroutedClient[] = [];
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
});

export async function connectUnrouted(endpoint: string): Promise<UnroutedClient> {
  const client = new UnroutedClient(endpoint);
  clients.push(client);
  await until(() => client.isConnected, `${endpoint} admits the client`);
  return client;
}

export class UnroutedClient {
  readonly #transport: Transport;
  readonly #wheel = new DeadlineWheel({ clock: systemClock, onError: (error) => this.failures.push(error) });
  readonly #intent: Intent;
  readonly #path: CallPath;
  readonly failures: unknown[] = [];

  constructor(endpoint: string) {
    const permits = new JobPermits({ max: 16, pauseThresholdPercent: 80, resumeThresholdPercent: 60 });
    const memory = { budgetBytes: 1_048_576, maxWindowBytes: 1_048_576 };
    this.#transport = createZmqTransport({ permits, memory, logger: new LogRecorder() });
    this.#intent = this.#transport.dial({
      kind: EndpointKind.channelClient,
      expects: EndpointKind.channelServer,
      scope: CHANNEL,
      identity: { rid: newRid('client'), generation: newGeneration() },
      descriptor: { revision: 1n, state: DescriptorState.serving, objectRole: ObjectRole.none, channels: [] },
      address: endpoint,
      group: { policy: 'firstAdmitted', open: () => silentSink },
      onState: () => undefined,
    });
    const names = new NameIndex();
    const log = new RateLimitedLog(stderrLogger, systemClock);
    this.#path = {
      label: 'the unrouted client',
      place: clientServerPlace('source', CHANNEL, 'unrouted'),
      meter: undefined,
      terms: {
        clock: systemClock,
        wheel: this.#wheel,
        codecs: new CodecRegistry().freeze(new Problems()),
        flow: new MessageFlow({ clock: systemClock, logger: stderrLogger, log }),
        sendTimeoutMs: patientMs,
        requestTimeoutMs: patientMs,
      },
      nameOf: (contentType, packetName) => names.get('', contentType, packetName),
      route: (call) => call.takeLink(this.#link),
      unroute: () => undefined,
      noTarget: () => new ZLinkError('NotFound', 'the unrouted client has no server'),
    };
  }

  get isConnected(): boolean {
    return this.#intent.link !== undefined;
  }

  /** What the server says of itself. */
  get serverState(): DescriptorState {
    return this.#link.descriptor.state;
  }

  send(message: Sendable): Promise<void> {
    return new SendBuilder(this.#path, resolveOutbound(message)).submit();
  }

  request<R>(request: Sendable<R>): Promise<R> {
    return new RequestBuilder<R>(this.#path, resolveOutbound(request)).submit();
  }

  async close(): Promise<void> {
    await this.#intent.close(1_000);
    await this.#transport.close();
    this.#wheel.close();
    expect(this.failures).toEqual([]);
  }

  get #link(): Link {
    const { link } = this.#intent;
    if (link === undefined) throw new Error('the client is not connected');
    return link;
  }
}

/** Nothing but replies is expected, and those go to their requests. */
const silentSink: LinkSink = {
  onRecord: () => {
    throw new Error('a server has started a call');
  },
  onUnmatched: () => undefined,
  onCancel: () => undefined,
  onUpdate: () => undefined,
  onFinishing: () => undefined,
  onClosed: () => undefined,
};
