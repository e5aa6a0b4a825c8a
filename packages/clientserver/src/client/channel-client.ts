/**
 * The client role of one channel: a call path whose targets are the channel's ready servers.
 *
 * Owns the intents of configured addresses, and what target set, discovered servers, waiting calls and phase make of each
 * other. Leaves messages and time to the calls, dialling and duplicates to the transport.
 *
 * C1 Selection and submission are one step; the chosen server is shown to nobody (CHAN-004).
 * C2 A call without candidate waits at most min(request timeout, 5 s); waiting dials nothing (CHAN-003).
 * C3 While the host drains only calls of handlers that still run are taken, and nobody waits for servers (CALL-005).
 * C4 All intents are of one link group: whoever names a server, configuration, discovery or this process, it has one link
 *    and is one candidate (CS-002). One that was configured is not left out for what the store says.
 */
import { type CallPath, type CallTerms, callTerms, OutboundPhase, type RoutableCall } from '@zlink/kernel/call';
import { ZLinkError } from '@zlink/kernel/errors';
import { newGeneration, newRid, type NodeIdentity } from '@zlink/kernel/identity';
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
import type { ServerStatus } from '../server-status.ts';
import { DiscoveredServers } from './discovered-servers.ts';
import { serverRows } from './server-rows.ts';
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
  /** By address, the one of the local server included. */
  readonly #configured = new Map<string, Intent>();
  #local: LocalServer | undefined;
  /** Undefined without a Location Store. */
  #discovered: DiscoveredServers | undefined;

  constructor(channelName: string, options: ClientOptions, parts: HostParts) {
    this.label = `channel "${channelName}"`;
    this.terms = callTerms(parts, options);
    this.#parts = parts;
    this.#phase = new OutboundPhase(this.label);
    this.#targets = new TargetSet(parts.clock, (server) => this.#isLeftOut(server));
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
    this.#local = local;
    if (local !== undefined) {
      const { rid: expectedRid, generation: expectedGeneration } = local;
      this.#configure({ address: local.address, expectedRid, expectedGeneration });
    }
    for (const address of endpoints) if (!this.#configured.has(address)) this.#configure({ address });
  }

  /** Begins to look for servers that others publish; without a Location Store there are none. */
  discover(): void {
    const { discovery } = this.#parts;
    if (discovery === undefined) return;
    this.#discovered = new DiscoveredServers(discovery, {
      channelName: this.#dialOptions.scope,
      local: this.#local,
      dial: ({ endpoint, rid, generation }, onState) =>
        this.#dial({ address: endpoint, expectedRid: rid, expectedGeneration: generation }, onState),
      onView: () => this.onTargetChanged(),
    });
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
    const why = whyNoServer(this.#dialOptions.scope, this.servers(), this.#discovered);
    const text = `${this.label} had no ready server for ${waitedMs} ms: ${why}`;
    return new ZLinkError('NotFound', text); // also when the request timeout was the limit (CHAN-003)
  }

  servers(): readonly ServerStatus[] {
    return serverRows([...this.#configured.values()], this.#discovered, this.#targets, this.#local?.address);
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
    const intents = [...this.#configured.values()];
    await Promise.all([this.#discovered?.close(lingerMs), ...intents.map((intent) => intent.close(lingerMs))]);
    this.#configured.clear();
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

  #configure(to: DialTo): void {
    const intent = this.#dial(to, ({ state }) => {
      // The server that is connected already is one that was configured (C4): perhaps it is not left out any more.
      if (state === 'resting') queueMicrotask(() => this.onTargetChanged());
    });
    this.#configured.set(to.address, intent);
  }

  #dial(to: DialTo, onState: (intent: Intent) => void): Intent {
    return this.#parts.transport.dial({
      ...this.#dialOptions,
      ...to,
      onState: (intent) => {
        onState(intent);
        this.#readiness.settle(this.#targets.readyCount);
      },
    });
  }

  #isLeftOut(server: NodeIdentity): boolean {
    if (this.#discovered?.isLeftOut(server) !== true) return false;
    for (const { rid } of this.#configured.values()) if (rid === server.rid) return false; // C4
    return true;
  }

  #serveWaiting(): void {
    this.#readiness.settle(this.#targets.readyCount);
    this.#waiting.serve(() => this.#targets.choose());
  }
}

type DialTo = Pick<DialOptions, 'address' | 'expectedRid' | 'expectedGeneration'>;

/** Clients publish nothing. */
const CLIENT_DESCRIPTOR: Descriptor = {
  revision: 1n,
  state: DescriptorState.serving,
  objectRole: ObjectRole.none,
  channels: [],
};
