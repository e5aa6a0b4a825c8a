/**
 * The client role of one channel: a call path whose targets are the channel's ready servers.
 *
 * Owns intents (one per address), and what target set, waiting calls and phase make of each other. Leaves messages and
 * time to the calls, dialling and duplicates to the transport.
 *
 * C1 Selection and submission are one step; the chosen server is shown to nobody (CHAN-004).
 * C2 A call without candidate waits at most min(request timeout, 5 s); waiting dials nothing (CHAN-003).
 * C3 While the host drains only calls of handlers that still run are taken, and nobody waits for servers (CALL-005).
 */
import { type CallPath, type CallTerms, callTerms, OutboundPhase, type RoutableCall } from '@zlink/kernel/call';
import { ZLinkError } from '@zlink/kernel/errors';
import { newGeneration, newRid } from '@zlink/kernel/identity';
import { ReadinessWaiters } from '@zlink/kernel/internal/completion';
import type { HostParts } from '@zlink/kernel/internal/host';
import type { DialOptions, Intent, Link, LinkSink } from '@zlink/kernel/internal/transport';
import {
  type Descriptor,
  DescriptorState,
  EndpointKind,
  ObjectRole,
  type OutboundName,
  RecordKind,
} from '@zlink/kernel/internal/wire';
import type { MessageCounters, Stray } from '@zlink/kernel/observe';
import type { LocalServer } from '../local-server.ts';
import { type ServerStatus, serverStatus } from '../server-status.ts';
import { StrayMessages } from './stray-messages.ts';
import { Target, type TargetOwner } from './target.ts';
import { TargetSet } from './target-set.ts';
import type { ClientOptions } from './client-options.ts';
import { WaitingCalls } from './waiting-calls.ts';
import { whyNoServer } from './why-no-server.ts';

/** Longest wait for a first target, whatever the request timeout is (CHAN-003). */
const TARGET_WAIT_MS = 5_000;

export class ChannelClient implements CallPath, TargetOwner {
  readonly label: string;
  readonly terms: CallTerms;
  readonly #parts: HostParts;
  readonly #phase: OutboundPhase;
  readonly #targets: TargetSet;
  readonly #waiting = new WaitingCalls();
  readonly #readiness = new ReadinessWaiters();
  readonly #strays: StrayMessages;
  /** The same for every address. */
  readonly #dialOptions: Omit<DialOptions, 'address' | 'onState'>;
  readonly #intents = new Map<string, Intent>();
  #localAddress: string | undefined;

  constructor(channelName: string, options: ClientOptions, parts: HostParts) {
    this.label = `channel "${channelName}"`;
    this.terms = callTerms(parts, options);
    this.#parts = parts;
    this.#phase = new OutboundPhase(this.label);
    this.#targets = new TargetSet(parts.clock);
    this.#strays = new StrayMessages(channelName, parts.log);
    this.#dialOptions = {
      kind: EndpointKind.channelClient,
      expects: EndpointKind.channelServer,
      scope: channelName,
      identity: { rid: newRid('client'), generation: newGeneration() },
      descriptor: CLIENT_DESCRIPTOR,
      group: {
        policy: 'firstAdmitted',
        refuse: (peer, descriptor) => this.#targets.objection(peer, descriptor),
        open: (link) => this.#openTarget(link),
      },
    };
  }

  get rebuilds(): number {
    return this.#targets.rebuilds;
  }

  start(endpoints: readonly string[], local: LocalServer | undefined): void {
    if (local !== undefined) {
      this.#localAddress = local.address;
      this.#dial(local.address, local.rid);
    }
    for (const endpoint of endpoints) if (!this.#intents.has(endpoint)) this.#dial(endpoint);
  }

  nameOf(contentType: string, packetName: string): OutboundName {
    return this.#parts.names.get('', contentType, packetName);
  }

  route(call: RoutableCall): void {
    this.#phase.requireTaken(call); // C3
    const link = this.#targets.choose();
    if (link !== undefined) return call.takeLink(link); // C1
    this.#waiting.add(call);
    const isSend = call.kind === RecordKind.send; // has no request timeout of its own
    call.awaitTarget(isSend ? Math.min(TARGET_WAIT_MS, this.terms.requestTimeoutMs) : TARGET_WAIT_MS); // C2
  }

  unroute(call: RoutableCall): void {
    this.#waiting.delete(call);
  }

  noTarget(waitedMs: number): ZLinkError {
    const text = `${this.label} had no ready server for ${waitedMs} ms: ${whyNoServer(this.servers())}`;
    return new ZLinkError('NotFound', text); // also when the request timeout was the limit (CHAN-003)
  }

  servers(): readonly ServerStatus[] {
    return [...this.#intents.values()].map((intent) => {
      const target = intent.link === undefined ? undefined : this.#targets.find(intent.link);
      return serverStatus(intent, target, intent.address === this.#localAddress);
    });
  }

  /** Of messages that matched no waiting request of ours (CS-006). */
  counters(): MessageCounters {
    return this.#strays.counters();
  }

  whenReady(count: number, signal: AbortSignal | undefined): Promise<void> {
    if (!this.#phase.isOpen) return Promise.reject(this.#phase.shuttingDown()); // C3
    return this.#readiness.wait(count, this.#targets.readyCount, signal);
  }

  drain(): void {
    this.#phase.drain();
    this.#waiting.refuseUntaken(this.#phase);
    this.#readiness.fail(this.#phase.shuttingDown()); // C3
  }

  async close(lingerMs: number): Promise<void> {
    this.#phase.close();
    this.#waiting.refuseUntaken(this.#phase);
    this.#readiness.fail(this.#phase.shuttingDown());
    await Promise.all([...this.#intents.values()].map((intent) => intent.close(lingerMs)));
    this.#intents.clear();
  }

  onTargetChanged(): void {
    this.#targets.refresh();
    this.#serveWaiting();
  }

  onTargetClosed(target: Target): void {
    this.#targets.remove(target);
  }

  onStray(what: Stray, link: Link): void {
    this.#strays.note(what, link);
  }

  #openTarget(link: Link): LinkSink {
    const target = new Target(link, this.#parts.permits, this);
    this.#targets.add(target);
    // The transport is still admitting this link: calls that wait for it go once it is done.
    queueMicrotask(() => this.#serveWaiting());
    return target;
  }

  #dial(address: string, expectedRid?: string): void {
    const intent = this.#parts.transport.dial({
      ...this.#dialOptions,
      address,
      ...(expectedRid === undefined ? {} : { expectedRid }),
      onState: () => this.#readiness.settle(this.#targets.readyCount),
    });
    this.#intents.set(address, intent);
  }

  #serveWaiting(): void {
    this.#readiness.settle(this.#targets.readyCount);
    this.#waiting.serve(() => this.#targets.choose());
  }
}

/** Clients publish nothing. */
const CLIENT_DESCRIPTOR: Descriptor = {
  revision: 1n,
  state: DescriptorState.serving,
  objectRole: ObjectRole.none,
  channels: [],
};
