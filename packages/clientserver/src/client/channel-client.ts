/**
 * The client role of one channel: a call path whose targets are the channel's ready servers.
 *
 * Owns intents (one per address), the target set and the calls that wait for a first target. Leaves messages and time to
 * the calls, dialling and duplicates to the transport.
 *
 * C1 Selection and submission are one step; the chosen server is shown to nobody (CHAN-004).
 * C2 A call without candidate waits at most min(request timeout, 5 s); waiting dials nothing (CHAN-003).
 * C3 While the host drains only calls of handlers that still run are taken (CALL-005).
 */
import type { CallPath, RoutableCall } from '@zlink/kernel/call';
import type { CodecTable } from '@zlink/kernel/codec';
import { ZLinkError } from '@zlink/kernel/errors';
import { type NodeIdentity, newGeneration, newRid } from '@zlink/kernel/identity';
import { ReadinessWaiters } from '@zlink/kernel/internal/completion';
import type { HostParts } from '@zlink/kernel/internal/host';
import type { Clock, DeadlineWheel } from '@zlink/kernel/internal/time';
import type { Intent, Link, LinkGroup, LinkSink } from '@zlink/kernel/internal/transport';
import {
  type Descriptor,
  DescriptorState,
  EndpointKind,
  ObjectRole,
  type OutboundName,
  RecordKind,
} from '@zlink/kernel/internal/wire';
import { type MessageCounters, RateLimitedLog, type Stray, StrayCounters } from '@zlink/kernel/observe';
import type { LocalServer } from '../local-server.ts';
import { type ServerStatus, serverStatus } from '../server-status.ts';
import { Target, type TargetOwner } from './target.ts';
import { TargetSet } from './target-set.ts';
import type { ClientOptions } from './client-options.ts';
import { whyNoServer } from './why-no-server.ts';

/** Longest wait for a first target, whatever the request timeout is (CHAN-003). */
const TARGET_WAIT_MS = 5_000;

export class ChannelClient implements CallPath, TargetOwner {
  readonly label: string;
  readonly clock: Clock;
  readonly wheel: DeadlineWheel;
  readonly codecs: CodecTable;
  readonly sendTimeoutMs: number;
  readonly requestTimeoutMs: number;

  readonly #channelName: string;
  readonly #parts: HostParts;
  readonly #targets: TargetSet;
  readonly #intents = new Map<string, Intent>();
  readonly #awaitingTarget = new Set<RoutableCall>();
  readonly #readiness = new ReadinessWaiters();
  readonly #strays = new StrayCounters();
  readonly #strayLog: RateLimitedLog;
  readonly #identity: NodeIdentity = { rid: newRid('client'), generation: newGeneration() };
  readonly #group: LinkGroup;
  #localAddress: string | undefined;
  #phase: 'open' | 'draining' | 'closed' = 'open';

  constructor(channelName: string, options: ClientOptions, parts: HostParts) {
    this.#channelName = channelName;
    this.#parts = parts;
    this.label = `channel "${channelName}"`;
    this.clock = parts.clock;
    this.wheel = parts.wheel;
    this.codecs = parts.codecs;
    this.sendTimeoutMs = options.sendTimeoutMs ?? parts.sendTimeoutMs;
    this.requestTimeoutMs = options.requestTimeoutMs ?? parts.requestTimeoutMs;
    this.#targets = new TargetSet(parts.clock);
    this.#strayLog = new RateLimitedLog(parts.logger, parts.clock);
    this.#group = {
      policy: 'firstAdmitted',
      refuse: (peer, descriptor) => this.#targets.objection(peer, descriptor),
      open: (link) => this.#openTarget(link),
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
    if (this.#phase !== 'open' && (this.#phase === 'closed' || !call.belongsToHandler)) throw this.#shuttingDown(); // C3
    const link = this.#targets.choose();
    if (link !== undefined) return call.takeLink(link); // C1
    this.#awaitingTarget.add(call);
    const isSend = call.kind === RecordKind.send; // has no request timeout of its own
    call.awaitTarget(isSend ? Math.min(TARGET_WAIT_MS, this.requestTimeoutMs) : TARGET_WAIT_MS); // C2
  }

  unroute(call: RoutableCall): void {
    this.#awaitingTarget.delete(call);
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
    return this.#strays.snapshot(this.#channelName);
  }

  whenReady(count: number, signal: AbortSignal | undefined): Promise<void> {
    if (this.#phase === 'closed') return Promise.reject(this.#shuttingDown());
    return this.#readiness.wait(count, this.#targets.readyCount, signal);
  }

  drain(): void {
    if (this.#phase !== 'open') return;
    this.#phase = 'draining';
    for (const call of [...this.#awaitingTarget]) {
      if (!call.belongsToHandler) this.#refuse(call);
    }
  }

  async close(lingerMs: number): Promise<void> {
    if (this.#phase === 'closed') return;
    this.#phase = 'closed';
    for (const call of [...this.#awaitingTarget]) this.#refuse(call);
    this.#readiness.fail(this.#shuttingDown());
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
    this.#strays.count(what);
    const server = link.peer.rid;
    this.#strayLog.warn(server, {
      eventId: 'zlink.client_server.stray_message',
      kind: 'ProtocolError',
      channel: this.#channelName,
      server,
      what,
    });
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
      kind: EndpointKind.channelClient,
      expects: EndpointKind.channelServer,
      scope: this.#channelName,
      identity: this.#identity,
      descriptor: CLIENT_DESCRIPTOR,
      address,
      ...(expectedRid === undefined ? {} : { expectedRid }),
      group: this.#group,
      onState: () => this.#readiness.settle(this.#targets.readyCount),
    });
    this.#intents.set(address, intent);
  }

  #serveWaiting(): void {
    this.#readiness.settle(this.#targets.readyCount);
    if (!this.#targets.hasCandidate) return;
    for (const call of this.#awaitingTarget) {
      const link = this.#targets.choose();
      if (link === undefined) return;
      this.#awaitingTarget.delete(call);
      call.takeLink(link);
    }
  }

  #refuse(call: RoutableCall): void {
    this.#awaitingTarget.delete(call);
    call.onRefused(this.#shuttingDown());
  }

  #shuttingDown(): ZLinkError {
    return new ZLinkError('ShuttingDown', `${this.label} takes no new calls: the host is shutting down`);
  }
}

/** Clients publish nothing. */
const CLIENT_DESCRIPTOR: Descriptor = {
  revision: 1n,
  state: DescriptorState.serving,
  objectRole: ObjectRole.none,
  channels: [],
};
